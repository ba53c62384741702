"""`rubric-ci judge calibrate`: measure the judge against people, write calibration.json."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from rubric_ci.errors import CannotCalibrate, CannotFindEvals, ExitCode, InvalidInput
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.change import BaseOptions
from rubric_ci.files.project.loaded_project import LoadedProject, load_project, show_problems
from rubric_ci.gate.policy.checkout import open_under_policy, show_policy
from rubric_ci.gate.policy.required_agreement import NAME, below_minimum
from rubric_ci.gate.report.report_file import check_ours_if_any
from rubric_ci.parts.lab import labels
from rubric_ci.parts.lab.agreement import Agreement, aligned
from rubric_ci.parts.lab.calibration import Calibration, CriterionAgreement, to_json
from rubric_ci.parts.lab.labels import Label, LabelledAnswer, copies_of, read_labels
from rubric_ci.parts.lab.rejudge import (
    REPLAYED,
    AnswerToJudge,
    Judging,
    RejudgeResult,
    measure_agreement,
    open_judging,
    rejudge,
    show_not_judged,
)
from rubric_ci.services.publish_files import copies_in, shown_again
from rubric_ci.text.escape import log_line
from rubric_ci.text.numbers import listed, plural
from rubric_ci.text.p_values_and_intervals import PERCENT
from rubric_ci.values.answers import answer_of
from rubric_ci.values.command_settings import CalibrateSettings
from rubric_ci.values.formats_and_defaults import OUTPUT_DIR, REPORT
from rubric_ci.values.media import COPIES


def calibrate_judge(settings: CalibrateSettings) -> ExitCode:
    given = _read_labels(settings.labels)
    loaded = _open(given, settings)
    labelled = _match(settings.labels, given, loaded)
    judging = open_judging(loaded, settings.judge, settings.requests)
    result = _judged(labelled, judging, settings.labels)
    found = measure_agreement(labelled, result.marks, judging.judge)
    if found is None:
        raise CannotCalibrate("no labelled answer has a verdict", "see the reasons above")
    click.echo(render(found))
    if not judging.live:
        click.echo(REPLAYED)
    if result.over_budget:
        why = "some labelled answers have no verdict"
        click.echo(f"{NAME} was not written because {why}", err=True)
        return ExitCode.NO_VERDICT
    path = loaded.root / NAME
    text = json.dumps(to_json(found), ensure_ascii=False, indent=2)
    working_tree.write_text(path, f"{text}\n", "the calibration", "check the folder")
    click.echo(f"wrote {log_line(str(path))}", err=True)
    return _exit_code(found, loaded.config.gate.min_kappa)


def _judged(
    labelled: Sequence[LabelledAnswer], judging: Judging, labels_file: Path
) -> RejudgeResult:
    """Return the marks of each labelled answer; those without marks are listed."""
    read = copies_in(copies_of(labels_file), Path(OUTPUT_DIR) / COPIES)
    answers = [
        AnswerToJudge(
            case=one.case,
            spec=one.spec,
            answer=answer_of(one.label, shown_again(one.label.media, read)),
            judge=judging.judge,
        )
        for one in labelled
    ]
    name = log_line(judging.judge.name)
    click.echo(f"judging {plural(len(answers), 'answer')} with {name}", err=True)
    result = rejudge(answers, judging)
    show_not_judged(answers, result)
    return result


def _read_labels(path: Path) -> tuple[Label, ...]:
    if not path.exists():
        check_ours_if_any(Path(REPORT))
    marked = tuple(label for label in read_labels(path) if label.marks)
    if not marked:
        raise CannotFindEvals(f"{path} contains no marks", "run `rubric-ci judge label` first")
    return marked


def _open(given: Sequence[Label], settings: CalibrateSettings) -> LoadedProject:
    root = working_tree.find_root(Path.cwd())
    named = dict.fromkeys(str(root / label.file) for label in given)
    opened = open_under_policy(settings.config, BaseOptions(policy_from=settings.policy_from))
    loaded = load_project(settings.paths or tuple(named), *opened)
    show_policy(loaded)
    show_problems(loaded.diagnostics)
    return loaded


def _match(path: Path, given: Sequence[Label], loaded: LoadedProject) -> Sequence[LabelledAnswer]:
    labelled, problems = labels.match(str(path), given, loaded.cases)
    if problems:
        show_problems(problems)
        raise InvalidInput(
            f"{path} does not match the eval files", "fix those labels and run again"
        )
    return labelled


def _exit_code(found: Calibration, min_kappa: float | None) -> ExitCode:
    for measured, about in ((found.overall, ""), (found.work, "about work: ")):
        if measured and (below := below_minimum(measured.kappa, measured.interval, min_kappa)):
            click.echo(f"{about}{below}", err=True)
            return ExitCode.GATE
    return ExitCode.NO_VERDICT if found.no_verdict else ExitCode.OK


_HEAD = ("criterion", "marks", "same", "kappa", PERCENT, "sens", "spec", "leniency")
_MAX_DIFFERENCES = 20


def render(found: Calibration) -> str:
    return "\n\n".join("\n".join(lines) for lines in _sections(found) if lines)


def _sections(found: Calibration) -> Iterator[Sequence[str]]:
    judge = found.judge
    votes = "1 vote" if judge.votes == 1 else f"{judge.votes} votes"
    yield [f"{log_line(judge.model)}, prompt {judge.prompt_version}, {judge.mode}, {votes}"]
    rows = zip(_names(found.criteria), (c.agreement for c in found.criteria), strict=True)
    every = (*rows, ("all", found.overall))
    yield [*aligned([_HEAD, *(_row(name, agreement) for name, agreement in every)])]
    if found.work and found.work != found.overall:
        _, marks, _, kappa, interval, *_ = _row("", found.work)
        yield [f"Criteria about the work of an agent: kappa {kappa} ({interval}) in {marks} marks"]
    if lone := found.overall.lone_criteria:
        counted = plural(lone, "criterion has", "criteria have")
        yield [f"{counted} marks of one answer only and cannot raise kappa: label more answers"]
    yield [*_differences(found)]
    if found.no_verdict:
        yield [f"{found.no_verdict:,} labelled answers have no verdict and are not counted above"]


def _names(criteria: Sequence[CriterionAgreement]) -> Iterator[str]:
    """Yield the shortest name of each criterion that no other one has."""
    forms = [_forms(criterion) for criterion in criteria]
    counts = [Counter(names) for names in zip(*forms, strict=True)]
    for names in forms:
        alone = (name for name, count in zip(names, counts, strict=True) if count[name] == 1)
        yield next(alone, names[-1])


def _forms(criterion: CriterionAgreement) -> tuple[str, str, str]:
    cases = listed(criterion.cases, 1)
    places = ((), (cases,), (cases, criterion.evaluator))
    one, two, three = (": ".join((criterion.file, *place, criterion.id)) for place in places)
    return log_line(one), log_line(two), log_line(three)


def _row(name: str, found: Agreement) -> tuple[str, ...]:
    interval = f"{found.interval[0]:.2f} to {found.interval[1]:.2f}" if found.interval else "-"
    return (
        name,
        f"{found.n:,}",
        f"{found.accuracy:.2f}",
        _number(found.kappa),
        interval,
        _number(found.sensitivity),
        _number(found.specificity),
        f"{found.leniency:+.2f}",
    )


def _differences(found: Calibration) -> Iterator[str]:
    if found.differences:
        yield "Differing marks:"
    for each in found.differences[:_MAX_DIFFERENCES]:
        place = f"{each.file}: {each.case}: {each.criterion}"
        reason = f": {each.reason}" if each.reason else ""
        yield "  " + log_line(f"{place}: person {each.person}, judge {each.judge}{reason}")
    if hidden := len(found.differences[_MAX_DIFFERENCES:]):
        yield f"  and {hidden} more, listed in the file that is written"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
