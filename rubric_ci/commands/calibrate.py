"""Compare the judge's marks with a person's, and keep what was found beside the configuration."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from rubric_ci.calibration import labels
from rubric_ci.calibration.agreement import Resample
from rubric_ci.calibration.agreement_text import render
from rubric_ci.calibration.calibration import Calibration, Marked, calibrate, to_json
from rubric_ci.calibration.gate import NAME
from rubric_ci.calibration.labels import Label, Labelled
from rubric_ci.calibration.rejudge import (
    REPLAYED,
    AnswerToJudge,
    Marks,
    NotJudged,
    build_context,
    judge_of,
    rejudge,
    show_not_judged,
)
from rubric_ci.errors import (
    CannotCalibrate,
    CannotFindEvals,
    CannotWriteFile,
    ExitCode,
    InvalidInput,
)
from rubric_ci.grading.resolve import judge_info
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.evals import JSON
from rubric_ci.model.options import CalibrateSettings
from rubric_ci.project import discovery
from rubric_ci.project.loaded_project import LoadedProject, load_project, show_problems
from rubric_ci.text.escape import log_line


def calibrate_judge(settings: CalibrateSettings) -> ExitCode:
    """Ask the judge about every labelled answer, measure, write, print."""
    given = _read_labels(settings.labels)
    opened = _open(given, settings)
    labelled = _match(settings.labels, given, opened)
    judge = judge_of(opened, settings.judge, replayed=settings.replay is not None)
    context = build_context(opened, settings)
    judges = (judge, _other_mode(judge)) if settings.both_modes else (judge,)
    # Both at once: a recording is one file, and a window of calls belongs to one event loop.
    posed = [
        AnswerToJudge(case=each.case, spec=each.spec, answer=each.label.answer, judge=one)
        for one in judges
        for each in labelled
    ]
    click.echo(f"asking {log_line(judge.endpoint.model)} about {len(posed)} answers", err=True)
    live = settings.replay is None
    heard = rejudge(posed, context, concurrency=settings.concurrency, live=live)
    show_not_judged(posed, heard)
    n = len(labelled)
    found, *others = (
        _compare(labelled, heard.marks[i * n : (i + 1) * n], one, settings.seed)
        for i, one in enumerate(judges)
    )
    if found is None:
        raise CannotCalibrate("the judge gave no verdict on any labelled answer", "see above why")
    other = others[0] if others else None
    click.echo(render(found, other))
    if settings.replay:
        click.echo(REPLAYED)
    path = settings.output or opened.root / NAME
    if heard.over_budget:
        click.echo(
            f"{log_line(path.name)} is not written: these are not all labelled answers", err=True
        )
        return ExitCode.NO_VERDICT
    _write(path, to_json(found, other))
    return _exit_code(found, opened.config.gate.min_kappa)


def _compare(
    labelled: Sequence[Labelled],
    heard: Sequence[Marks | NotJudged],
    judge: JudgeConfig,
    seed: int,
) -> Calibration | None:
    """Measure by the answers that have marks; None: there are none."""
    marked: list[Marked] = []
    for each, marks in zip(labelled, heard, strict=True):
        if isinstance(marks, NotJudged):
            continue
        given = {name: criterion.mark for name, criterion in marks.items()}
        votes = {name: criterion.votes for name, criterion in marks.items() if criterion.votes}
        marked.append(Marked(labelled=each, marks=given, votes=votes))
    if not marked:
        return None
    return calibrate(marked, judge_info(judge), _resample(seed), len(labelled) - len(marked))


def _resample(seed: int) -> Resample:
    generator = random.Random(seed)  # noqa: S311 - a bootstrap that can be repeated
    return lambda n: generator.choices(range(n), k=n)


def _other_mode(judge: JudgeConfig) -> JudgeConfig:
    return replace(judge, mode="isolated" if judge.mode == "batched" else "batched")


def _read_labels(path: Path) -> tuple[Label, ...]:
    found, problems = labels.parse(str(path), discovery.read_text(path))
    if problems:
        show_problems(problems)
        raise InvalidInput(f"{path} has problems", "mend or remove those lines")
    marked = tuple(label for label in found if label.marks)
    if not marked:
        raise CannotFindEvals(f"{path} holds no marks", "`rubric-ci label` makes them")
    return marked


def _open(given: Sequence[Label], settings: CalibrateSettings) -> LoadedProject:
    root = discovery.find_root(Path.cwd())
    named = dict.fromkeys(str(root / label.file) for label in given)
    opened = load_project(settings.paths or tuple(named), settings.config)
    show_problems(opened.diagnostics)
    return opened


def _match(path: Path, given: Sequence[Label], opened: LoadedProject) -> Sequence[Labelled]:
    cases = [case for file in opened.files for case in file.cases]
    labelled, problems = labels.match(str(path), given, cases)
    if problems:
        show_problems(problems)
        raise InvalidInput(f"{path} does not fit the eval files", "nothing was asked")
    return labelled


def _write(path: Path, value: JSON) -> None:
    try:
        discovery.write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise CannotWriteFile(
            f"{path}: cannot write the calibration: {error.strerror}", "use --output"
        ) from error


def _exit_code(found: Calibration, min_kappa: float | None) -> ExitCode:
    kappa = found.overall.kappa
    if min_kappa is not None and (kappa is None or kappa < min_kappa):
        shown = "undefined" if kappa is None else f"{kappa:.2f}"
        click.echo(f"kappa is {shown}; gate.min_kappa wants {min_kappa:g}", err=True)
        return ExitCode.GATE
    return ExitCode.NO_VERDICT if found.silent else ExitCode.OK
