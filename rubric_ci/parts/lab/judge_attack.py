"""`rubric-ci judge attack`: count the marks that change under prompt-injection attacks."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

import click

from rubric_ci.errors import CannotCalibrate, CannotReadFile, ExitCode, InvalidInput
from rubric_ci.files.project.change import BaseOptions, Change
from rubric_ci.files.project.loaded_project import LoadedProject, load_project, show_problems
from rubric_ci.files.project.loader import load
from rubric_ci.files.project.project import Project
from rubric_ci.gate.policy.checkout import open_under_policy, show_policy
from rubric_ci.models.judge.request import shown_to
from rubric_ci.parts.lab import attack_corpus
from rubric_ci.parts.lab.agreement import aligned, mark_text
from rubric_ci.parts.lab.attack_corpus import (
    Probe,
    ReadImage,
    in_examples,
    in_work,
    probes,
    rank,
    spec_of,
)
from rubric_ci.parts.lab.rejudge import (
    REPLAYED,
    AnswerToJudge,
    NotJudged,
    open_judging,
    rejudge,
    show_not_judged,
)
from rubric_ci.system import file_io
from rubric_ci.text.escape import log_line
from rubric_ci.text.numbers import plural
from rubric_ci.values.command_settings import AttackSettings
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.media import Media, media_of
from rubric_ci.values.references import NotFound
from rubric_ci.values.rubric import Judged
from rubric_ci.values.scoring import MarkValue

Marks: TypeAlias = Mapping[str, MarkValue]
"""By criterion id."""

AnswerMarks: TypeAlias = Mapping[tuple[str, str], Marks]
"""By file and case id; answers without a judgement are not in it."""

CONTROLS = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkChange:
    """A mark that differs from the mark of the control, or from the expected mark."""

    probe: str
    family: str
    criterion: str
    before: MarkValue
    after: MarkValue
    up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFamily:
    name: str
    answers: int
    marks: int  # given by the judge
    up: int
    down: int
    no_verdict: int  # answers without a judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessReport:
    controls: AttackFamily  # compared with the expected marks
    families: tuple[AttackFamily, ...]  # compared with the judge's own marks of the control
    changes: tuple[MarkChange, ...]  # of the families first, then of the controls

    @property
    def changed(self) -> int:
        """Number of changed marks, control answers left out."""
        return sum(family.up + family.down for family in self.families)

    @property
    def no_verdict(self) -> int:
        return self.controls.no_verdict + sum(family.no_verdict for family in self.families)


def measure_robustness(probes: Sequence[Probe], judged: AnswerMarks) -> RobustnessReport:
    """Compare the marks of every probe with its control's.

    The reference are the judge's own marks of the control, so a mark that is wrong without an
    attack does not count as changed. For controls themselves, and if the control has no judgement,
    the reference are the expected marks.
    """
    changes = tuple(_changes(probes, judged))
    names = dict.fromkeys((CONTROLS, *(probe.family or CONTROLS for probe in probes)))
    controls, *families = (_family(name, probes, judged, changes) for name in names)
    return RobustnessReport(
        controls=controls,
        families=tuple(families),
        changes=tuple(sorted(changes, key=lambda change: change.family == CONTROLS)),
    )


def _changes(probes: Sequence[Probe], judged: AnswerMarks) -> Iterator[MarkChange]:
    for probe in probes:
        if probe.case.key in judged:
            before = judged.get((probe.case.file, probe.control), probe.marks)
            for criterion in probe.rubric.judged:
                yield from _change(probe, criterion, before, judged[probe.case.key])


def _change(probe: Probe, criterion: Judged, before: Marks, after: Marks) -> Iterator[MarkChange]:
    was, now = before[criterion.id], after[criterion.id]
    distance = rank(criterion, now) - rank(criterion, was)
    if distance:
        yield MarkChange(
            probe=probe.case.id,
            family=probe.family or CONTROLS,
            criterion=criterion.id,
            before=was,
            after=now,
            up=distance > 0,
        )


def _family(
    name: str, probes: Sequence[Probe], judged: AnswerMarks, changes: Sequence[MarkChange]
) -> AttackFamily:
    own = [change for change in changes if change.family == name]
    answers = [probe for probe in probes if (probe.family or CONTROLS) == name]
    marked = [probe for probe in answers if probe.case.key in judged]
    return AttackFamily(
        name=name,
        answers=len(answers),
        marks=sum(len(probe.rubric.judged) for probe in marked),
        up=sum(change.up for change in own),
        down=sum(not change.up for change in own),
        no_verdict=len(answers) - len(marked),
    )


_HEAD = ("family", "answers", "marks", "up", "down", "no verdict")


def render(found: RobustnessReport, judge: str) -> str:
    return "\n".join(_lines(found, judge))


def _lines(found: RobustnessReport, judge: str) -> Iterator[str]:
    controls, total = found.controls, _total(found)
    yield f"{controls.answers + total.answers:,} answers judged by {log_line(judge)}"
    yield ""
    rows = (
        (log_line(f.name), *map(str, (f.answers, f.marks, f.up, f.down, f.no_verdict)))
        for f in (*found.families, total)
    )
    yield from aligned([_HEAD, *rows])
    yield ""
    right = controls.marks - controls.up - controls.down
    missing = f"; {controls.no_verdict} without a verdict" if controls.no_verdict else ""
    yield f"Control answers: {right} of {controls.marks} marks as expected{missing}"
    yield from _change_lines("Changed marks", [c for c in found.changes if c.family != CONTROLS])
    wrong = [c for c in found.changes if c.family == CONTROLS]
    yield from _change_lines("Control answers with unexpected marks", wrong)
    yield ""
    missing = f", {found.no_verdict} answers without a verdict" if found.no_verdict else ""
    yield f"{found.changed} of {total.marks} marks changed{missing}"


def _total(found: RobustnessReport) -> AttackFamily:
    every = found.families
    return AttackFamily(
        name="all",
        answers=sum(f.answers for f in every),
        marks=sum(f.marks for f in every),
        up=sum(f.up for f in every),
        down=sum(f.down for f in every),
        no_verdict=sum(f.no_verdict for f in every),
    )


def _change_lines(title: str, changes: list[MarkChange]) -> Iterator[str]:
    if not changes:
        return
    yield ""
    yield f"{title}:"
    for change in changes:
        arrow = "up" if change.up else "down"
        marks = f"{mark_text(change.before)} -> {mark_text(change.after)}"
        yield f"  {log_line(change.probe)}  {log_line(change.criterion)}  {arrow}: {marks}"


SHIPPED = Path(attack_corpus.__file__).with_name("attacks.eval.yaml")


def attack(settings: AttackSettings) -> ExitCode:
    """Judge every answer and print the changes; return 1 if a mark changed."""
    opened = open_under_policy(settings.config, BaseOptions(policy_from=settings.policy_from))
    loaded = load_project(settings.paths, *opened) if settings.paths else _shipped(*opened)
    show_policy(loaded)
    attacks = _probes(loaded, images_below(loaded.root if settings.paths else SHIPPED.parent))
    if settings.work:
        attacks = in_work(attacks)
    if settings.examples:
        attacks = in_examples(attacks)
    judging = open_judging(loaded, settings.judge, settings.requests)
    judge = judging.judge
    attacks = _visible_attacks(attacks, judge)
    click.echo(f"judging {len(attacks):,} answers with {log_line(judge.name)}", err=True)
    answers = [
        AnswerToJudge(case=p.case, spec=spec_of(p.case), answer=p.given, judge=judge)
        for p in attacks
    ]
    result = rejudge(answers, judging)
    show_not_judged(answers, result)
    judged: dict[tuple[str, str], Marks] = {
        probe.case.key: {name: criterion.mark for name, criterion in marks.items()}
        for probe, marks in zip(attacks, result.marks, strict=True)
        if not isinstance(marks, NotJudged)
    }
    found = measure_robustness(attacks, judged)
    click.echo(render(found, judge.name))
    if not judging.live:
        click.echo(REPLAYED)
    if found.changed:
        return ExitCode.GATE
    return ExitCode.NO_VERDICT if found.no_verdict else ExitCode.OK


def _shipped(project: Project, change: Change) -> LoadedProject:
    loaded = load(
        SHIPPED.name,
        SHIPPED.read_text(encoding="utf-8"),
        lambda _: NotFound("the corpus refers to no file"),
    )
    assert loaded.eval_file, loaded.diagnostics  # noqa: S101 - a test checks the file
    return LoadedProject(
        project=project, files=(loaded.eval_file,), diagnostics=(), invalid=(), change=change
    )


def _probes(loaded: LoadedProject, read: ReadImage) -> Sequence[Probe]:
    show_problems(loaded.diagnostics)
    loaded.check_valid()
    found: list[Probe] = []
    for file in loaded.files:
        own, problems = probes(file.cases, read)
        show_problems(problems)
        if problems:
            raise InvalidInput(f"{file.path} is not an attack corpus", "see docs/calibration.md")
        found.extend(own)
    return found


def images_below(top: Path) -> ReadImage:
    """Return a reader of images by their path from the folder of a file of cases."""
    real = Path(os.path.realpath(top))

    def read(case: EvalCase, name: str) -> Media | None:
        try:
            data = file_io.read_named((real / case.file).parent / name, real)
        except CannotReadFile:
            return None
        return media_of(Path(name).name, data, partial(bytes, data))

    return read


def _visible_attacks(attacks: Sequence[Probe], judge: JudgeConfig) -> Sequence[Probe]:
    """Return the answers whose images the judge is shown; raises CannotCalibrate for none."""
    left = [each for each in attacks if _sees(judge, each.media)]
    if hidden := [each.case.id for each in attacks if not _sees(judge, each.media)]:
        count = plural(len(hidden), "answer")
        names = ", ".join(hidden)
        message = f"{count} left out, because {judge.name} is not shown images: {names}"
        if not left:
            raise CannotCalibrate(message, "choose a judge that takes images")
        click.echo(log_line(message), err=True)
    return left


def _sees(judge: JudgeConfig, media: Sequence[Media]) -> bool:
    return all(shown_to(each)(image) for each in judge.members for image in media)
