"""`rubric-ci judge attack`: count the marks that change under prompt-injection attacks."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from rubric_ci.errors import CannotCalibrate, CannotReadFile, ExitCode, InvalidInput
from rubric_ci.files.project.change import open_change
from rubric_ci.files.project.loaded_project import (
    LoadedProject,
    load_project,
    show_problems,
)
from rubric_ci.files.project.loader import load
from rubric_ci.files.project.project import Project
from rubric_ci.gate.policy.checkout import allowed_hosts, open_under_policy, show_policy
from rubric_ci.grading.setup import build_context
from rubric_ci.models.judge.shown_media import shown_to
from rubric_ci.parts.lab.calibration import attack_corpus
from rubric_ci.parts.lab.calibration.attack_corpus import (
    Probe,
    ReadImage,
    in_examples,
    in_work,
    probes,
    spec_of,
)
from rubric_ci.parts.lab.calibration.rejudge import (
    REPLAYED,
    AnswerToJudge,
    NotJudged,
    configured_judge,
    rejudge,
    show_not_judged,
)
from rubric_ci.parts.lab.calibration.robustness import (
    Marks,
    RobustnessReport,
    measure_robustness,
    render,
)
from rubric_ci.system import file_io
from rubric_ci.text.escape import log_line
from rubric_ci.text.numbers import plural
from rubric_ci.values.command_settings import AttackSettings
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.media import Media
from rubric_ci.values.media_headers import media_of
from rubric_ci.values.references import NotFound

SHIPPED = Path(attack_corpus.__file__).with_name("attacks.eval.yaml")


def attack(settings: AttackSettings) -> ExitCode:
    """Judge every answer and print the changes; return 1 if too many marks changed."""
    project = open_under_policy(settings.config, settings.policy_from)
    loaded = load_project(settings.paths, project) if settings.paths else _shipped(project)
    show_policy(loaded)
    attacks = _probes(loaded, images_below(loaded.root if settings.paths else SHIPPED.parent))
    if settings.work:
        attacks = in_work(attacks)
    if settings.examples:
        attacks = in_examples(attacks)
    judge = configured_judge(loaded, settings.judge, replayed=settings.requests.replay is not None)
    attacks = _shown(attacks, judge)
    hosts = allowed_hosts(loaded, settings.requests.allowed_hosts, os.environ)
    context = build_context(loaded.root, loaded.config, settings.requests, os.environ, hosts=hosts)
    click.echo(f"judging {len(attacks):,} answers with {log_line(judge.name)}", err=True)
    answers = [
        AnswerToJudge(case=p.case, spec=spec_of(p.case), answer=p.given, judge=judge)
        for p in attacks
    ]
    live = settings.requests.replay is None
    result = rejudge(answers, context, concurrency=settings.requests.concurrency, live=live)
    show_not_judged(answers, result)
    judged: dict[tuple[str, str], Marks] = {
        probe.case.key: {name: criterion.mark for name, criterion in marks.items()}
        for probe, marks in zip(attacks, result.marks, strict=True)
        if not isinstance(marks, NotJudged)
    }
    found = measure_robustness(attacks, judged)
    click.echo(render(found, judge.name))
    if settings.requests.replay:
        click.echo(REPLAYED)
    return _exit_code(found, settings.max_moved)


def _exit_code(found: RobustnessReport, max_moved: int) -> ExitCode:
    if found.changed > max_moved:
        return ExitCode.GATE
    return ExitCode.NO_VERDICT if found.no_verdict else ExitCode.OK


def _shipped(project: Project) -> LoadedProject:
    """Load the built-in corpus and the repository's configuration."""
    loaded = load(
        SHIPPED.name,
        SHIPPED.read_text(encoding="utf-8"),
        lambda _: NotFound("the corpus refers to no file"),
    )
    assert loaded.eval_file, loaded.diagnostics  # noqa: S101 - a test checks the file
    return LoadedProject(
        project=project,
        files=(loaded.eval_file,),
        diagnostics=(),
        invalid=(),
        change=open_change(project.root),
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


def _shown(attacks: Sequence[Probe], judge: JudgeConfig) -> Sequence[Probe]:
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
