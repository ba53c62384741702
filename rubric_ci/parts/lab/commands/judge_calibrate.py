"""`rubric-ci judge calibrate`: measure the judge against people, write calibration.json."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from rubric_ci.errors import (
    CannotCalibrate,
    CannotFindEvals,
    CannotWriteFile,
    ExitCode,
    InvalidInput,
)
from rubric_ci.files.project import discovery
from rubric_ci.files.project.loaded_project import LoadedProject, load_project, show_problems
from rubric_ci.gate.policy.checkout import allowed_hosts, open_under_policy, show_policy
from rubric_ci.gate.policy.required_agreement import NAME, below_minimum
from rubric_ci.gate.report.report_file import check_ours_if_any
from rubric_ci.grading.setup import build_context
from rubric_ci.parts.lab.calibration import labels
from rubric_ci.parts.lab.calibration.calibration import Calibration, by_mode, to_json
from rubric_ci.parts.lab.calibration.calibration_text import render
from rubric_ci.parts.lab.calibration.label_file import copies_of, read_labels
from rubric_ci.parts.lab.calibration.labels import TEST, Label, LabelledAnswer, Split
from rubric_ci.parts.lab.calibration.rejudge import (
    REPLAYED,
    AnswerToJudge,
    Marks,
    NotJudged,
    configured_judge,
    measure_agreement,
    rejudge,
    show_not_judged,
)
from rubric_ci.services.publish.copies import copies_in, shown_again
from rubric_ci.text.escape import log_line
from rubric_ci.values.answers import answer_of, identity
from rubric_ci.values.command_settings import CalibrateSettings
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import COPIES, ReadCopy
from rubric_ci.values.option_values import OUTPUT_DIR, REPORT
from rubric_ci.values.results import Answer

_INCOMPLETE: Final = "some labelled answers have no verdict"


def calibrate_judge(settings: CalibrateSettings) -> ExitCode:
    """Judge every labelled answer, measure the agreement, print and write it."""
    given = _read_labels(settings.labels, settings.split)
    loaded = _open(given, settings)
    labelled = _match(settings.labels, given, loaded)
    judge = configured_judge(loaded, settings.judge, replayed=settings.requests.replay is not None)
    judges = _in_modes(judge) if loaded.config.auto_mode else (judge,)
    marks, over_budget = _marks(labelled, judges, loaded, settings)
    found = _measured(labelled, marks, judges, settings.seed)
    click.echo(render(found))
    if settings.requests.replay:
        click.echo(REPLAYED)
    path = settings.output or loaded.root / NAME
    if over_budget:
        click.echo(f"{log_line(path.name)} was not written because {_INCOMPLETE}", err=True)
        return ExitCode.NO_VERDICT
    if settings.split == TEST or settings.output:
        _write(path, to_json(found))
        click.echo(f"wrote {log_line(str(path))}", err=True)
    return _exit_code(found, loaded.config.gate.min_kappa)


def _in_modes(judge: JudgeConfig) -> tuple[JudgeConfig, JudgeConfig]:
    return replace(judge, mode="batched"), replace(judge, mode="isolated")


def _measured(
    labelled: Sequence[LabelledAnswer],
    marks: Sequence[Sequence[Marks | NotJudged]],
    judges: Sequence[JudgeConfig],
    seed: int,
) -> Calibration:
    """Return the agreement of the judge; in two modes, of the answers that have marks in both."""
    lost = [
        next((one for one in each if isinstance(one, NotJudged)), None)
        for each in zip(*marks, strict=True)
    ]
    found = [
        measure_agreement(
            labelled, [gone or one for one, gone in zip(given, lost, strict=True)], judge, seed
        )
        for judge, given in zip(judges, marks, strict=True)
    ]
    measured = [each for each in found if each]
    if not measured:
        raise CannotCalibrate("no labelled answer has a verdict", "see the reasons above")
    return measured[0] if len(measured) == 1 else by_mode(*measured)


def _marks(
    labelled: Sequence[LabelledAnswer],
    judges: Sequence[JudgeConfig],
    loaded: LoadedProject,
    settings: CalibrateSettings,
) -> tuple[list[list[Marks | NotJudged]], bool]:
    """Return the marks of each judge, and True if the budget ended.

    Each answer is judged once, even if several people labelled it. Those without marks are listed.
    """
    hosts = allowed_hosts(loaded, settings.requests.allowed_hosts, os.environ)
    context = build_context(loaded.root, loaded.config, settings.requests, os.environ, hosts=hosts)
    each = {_answer_key(answer): answer for answer in labelled}
    read = copies_in(copies_of(settings.labels), Path(OUTPUT_DIR) / COPIES)
    answers = [
        AnswerToJudge(case=one.case, spec=one.spec, answer=_answer(one, read), judge=judge)
        for judge in judges
        for one in each.values()
    ]
    for judge in judges:
        how = f", {judge.mode}" if loaded.config.auto_mode else ""
        name = log_line(judge.name)
        click.echo(f"judging {len(each):,} answers with {name}{how}", err=True)
    live = settings.requests.replay is None
    result = rejudge(answers, context, concurrency=settings.requests.concurrency, live=live)
    show_not_judged(answers, result)
    starts = range(0, len(answers), len(each))
    found = [dict(zip(each, result.marks[n : n + len(each)], strict=True)) for n in starts]
    by_label = [[marks[_answer_key(answer)] for answer in labelled] for marks in found]
    return by_label, bool(result.over_budget)


def _answer(each: LabelledAnswer, read: ReadCopy) -> Answer:
    return answer_of(each.label, shown_again(each.label.media, read))


def _answer_key(each: LabelledAnswer) -> tuple[str, str, str, str]:
    label = each.label
    return label.file, label.id, label.evaluator, identity(label)


def _read_labels(path: Path, split: Split) -> tuple[Label, ...]:
    if not path.exists():
        check_ours_if_any(Path(REPORT))
    marked = tuple(label for label in read_labels(path) if label.marks)
    if not marked:
        raise CannotFindEvals(f"{path} contains no marks", "run `rubric-ci judge label` first")
    found = labels.of_split(marked, split)
    if not found:
        raise CannotFindEvals(
            f"{path} contains no marks of split {split}", "check `split` in its lines, or --split"
        )
    if len(found) < len(marked):
        others = f"{len(marked) - len(found)} of {len(marked)} labelled answers"
        click.echo(f"{others} are of the other split and are not counted", err=True)
    return found


def _open(given: Sequence[Label], settings: CalibrateSettings) -> LoadedProject:
    root = discovery.find_root(Path.cwd())
    named = dict.fromkeys(str(root / label.file) for label in given)
    project = open_under_policy(settings.config, settings.policy_from)
    loaded = load_project(settings.paths or tuple(named), project)
    show_policy(loaded)
    show_problems(loaded.diagnostics)
    return loaded


def _match(path: Path, given: Sequence[Label], loaded: LoadedProject) -> Sequence[LabelledAnswer]:
    cases = [case for file in loaded.files for case in file.cases]
    labelled, problems = labels.match(str(path), given, cases)
    if problems:
        show_problems(problems)
        raise InvalidInput(
            f"{path} does not match the eval files", "fix those labels and run again"
        )
    return labelled


def _write(path: Path, value: JSON) -> None:
    try:
        discovery.write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise CannotWriteFile(
            f"{path}: cannot write the calibration: {error.strerror}", "use --output"
        ) from error


def _exit_code(found: Calibration, min_kappa: float | None) -> ExitCode:
    for measured, about in ((found.overall, ""), (found.work, "about work: ")):
        if measured and (below := below_minimum(measured.kappa, measured.interval, min_kappa)):
            click.echo(f"{about}{below}", err=True)
            return ExitCode.GATE
    return ExitCode.NO_VERDICT if found.no_verdict else ExitCode.OK
