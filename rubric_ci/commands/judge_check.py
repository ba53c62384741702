"""Put a corpus of attacks to the judge and say how many of its marks move."""

from collections.abc import Sequence
from pathlib import Path

import click

from rubric_ci.calibration import attack_corpus
from rubric_ci.calibration.attack_corpus import Probe, probes
from rubric_ci.calibration.rejudge import (
    REPLAYED,
    AnswerToJudge,
    NotJudged,
    build_context,
    judge_of,
    rejudge,
    show_not_judged,
)
from rubric_ci.calibration.robustness import Marks, RobustnessReport, key, measure_robustness
from rubric_ci.calibration.robustness_text import render
from rubric_ci.errors import ExitCode, InvalidInput
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.options import JudgeCheckSettings
from rubric_ci.model.references import NotFound
from rubric_ci.project import discovery
from rubric_ci.project.loaded_project import (
    LoadedProject,
    load_project,
    open_project,
    show_problems,
)
from rubric_ci.project.loader import load
from rubric_ci.text.escape import log_line

SHIPPED = Path(attack_corpus.__file__).with_name("attacks.eval.yaml")


def judge_check(settings: JudgeCheckSettings) -> ExitCode:
    """Ask about every answer, compare, print; the exit code says whether too many marks moved."""
    opened = load_project(settings.paths, settings.config) if settings.paths else _shipped(settings)
    posed = _probes(opened)
    judge = judge_of(opened, settings.judge, replayed=settings.replay is not None)
    context = build_context(opened, settings)
    click.echo(f"asking {log_line(judge.endpoint.model)} about {len(posed)} answers", err=True)
    answers = [
        AnswerToJudge(case=p.case, spec=_spec(p.case), answer=p.answer, judge=judge) for p in posed
    ]
    live = settings.replay is None
    heard = rejudge(answers, context, concurrency=settings.concurrency, live=live)
    show_not_judged(answers, heard)
    judged: dict[tuple[str, str], Marks] = {
        key(probe): {name: criterion.mark for name, criterion in marks.items()}
        for probe, marks in zip(posed, heard.marks, strict=True)
        if not isinstance(marks, NotJudged)
    }
    found = measure_robustness(posed, judged)
    click.echo(render(found, judge.endpoint.model))
    if settings.replay:
        click.echo(REPLAYED)
    return _exit_code(found, settings.max_moved)


def _exit_code(found: RobustnessReport, max_moved: int) -> ExitCode:
    if found.moved > max_moved:
        return ExitCode.GATE
    return ExitCode.NO_VERDICT if found.silent else ExitCode.OK


def _shipped(settings: JudgeCheckSettings) -> LoadedProject:
    """Open the corpus that comes with the package, and the repository's configuration."""
    loaded = load(SHIPPED.name, discovery.read_text(SHIPPED), lambda _: NotFound("ships alone"))
    assert loaded.eval_file, loaded.diagnostics  # noqa: S101 - a test holds the shipped file to it
    return LoadedProject(
        project=open_project(settings.config),
        files=(loaded.eval_file,),
        diagnostics=(),
        invalid=(),
    )


def _probes(opened: LoadedProject) -> Sequence[Probe]:
    show_problems(opened.diagnostics)
    if opened.invalid:
        raise InvalidInput(
            f"{', '.join(opened.invalid)}: problems", "`rubric-ci validate` says more"
        )
    found: list[Probe] = []
    for file in opened.files:
        own, problems = probes(file.cases)
        show_problems(problems)
        if problems:
            raise InvalidInput(f"{file.path} is no corpus", "docs/attacks.md says what one needs")
        found.extend(own)
    return found


def _spec(case: EvalCase) -> RubricSpec:
    return next(spec for spec in case.evaluators if isinstance(spec, RubricSpec))
