"""Put answers that are there already to the judge, whatever target they came from."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import click

from rubric_ci.errors import CannotConfigure, OverBudget
from rubric_ci.grading.cost_estimate import estimate_cost, show_estimate
from rubric_ci.grading.engine import Task, grade
from rubric_ci.grading.resolve import choose_judge, resolve_judge
from rubric_ci.model.config import JudgeConfig, MockTarget
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.llm_calls import NOTHING_USED, Ask, ModelCall, ModelReply
from rubric_ci.model.results import Assessed, CaseResult, CriterionResult, Skipped
from rubric_ci.project.loaded_project import LoadedProject
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line

REPLAYED = "The judge's replies are from a recording: no model was asked"
RECORDED_ANSWER_TARGET = MockTarget(name="given", response="")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerToJudge:
    """An answer to mark by a rubric of its case, and who is to mark it."""

    case: EvalCase
    spec: RubricSpec
    answer: str
    judge: JudgeConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class NotJudged:
    """Why there is no judgement."""

    reason: str


Marks = Mapping[str, CriterionResult]
"""By criterion id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgeResult:
    """What the judge said to each question, and why it was not asked any more."""

    marks: tuple[Marks | NotJudged, ...]
    over_budget: str  # empty: everything was asked


def judge_of(opened: LoadedProject, override: str, *, replayed: bool) -> JudgeConfig:
    """Return the judge of the command line or the configuration, ready to be asked."""
    judge = choose_judge(opened.config_naming(override), RECORDED_ANSWER_TARGET, override)
    if judge is None:
        raise CannotConfigure(
            "no judge is configured", "set `judge: {model: ...}` in rubric-ci.yaml, or use --judge"
        )
    return judge if replayed else resolve_judge(judge, os.environ)


def rejudge(
    posed: Sequence[AnswerToJudge], context: RunContext, *, concurrency: int, live: bool
) -> RejudgeResult:
    """Ask about every answer, say before what it will take and after what it took."""
    tasks = [_task(each) for each in posed]
    if live:
        show_estimate(estimate_cost(tasks), remembers=False)
    refused: list[str] = []
    watched = replace(context, call_model=_telling(context.call_model, refused))
    results = asyncio.run(grade(tasks, watched, concurrency=concurrency))
    if len(results) < len(tasks):
        raise KeyboardInterrupt
    used = sum((r.usage for r in results if not isinstance(r, Skipped)), NOTHING_USED)
    if used.calls:
        click.echo(", ".join(filter(None, (numbers.cost(used), numbers.usage(used)))), err=True)
    return RejudgeResult(
        marks=tuple(_marks(result) for result in results),
        over_budget=refused[0].partition("; before that: ")[0] if refused else "",
    )


def show_not_judged(posed: Sequence[AnswerToJudge], hearing: RejudgeResult) -> None:
    """Say which answers have no marks; of a budget that is used up, once."""
    pairs = zip(posed, hearing.marks, strict=True)
    unmarked = [(each, marks) for each, marks in pairs if isinstance(marks, NotJudged)]
    for each, marks in unmarked:
        if not hearing.over_budget or hearing.over_budget not in marks.reason:
            click.echo(log_line(f"{each.case.id}: no verdict: {marks.reason}"), err=True)
    if hearing.over_budget:
        few = f"{len(unmarked)} of {len(posed)} answers have no verdict"
        click.echo(log_line(f"{hearing.over_budget}: {few}"), err=True)


def _telling(ask: Ask, refused: list[str]) -> Ask:
    """Note why the budget lets nothing through any more."""

    async def asked(call: ModelCall) -> ModelReply:
        try:
            return await ask(call)
        except OverBudget as error:
            refused.append(str(error))
            raise

    return asked


def _task(posed: AnswerToJudge) -> Task:
    # Alone and with a weight, or it would not count; and it is this judge that is measured.
    spec = replace(posed.spec, weight=1.0, model="")
    return Task(
        case=replace(posed.case, evaluators=(spec,)),
        target=replace(RECORDED_ANSWER_TARGET, response=posed.answer),
        judge=posed.judge,
    )


def _marks(result: CaseResult) -> Marks | NotJudged:
    if isinstance(result, Skipped):
        return NotJudged(reason=result.reason)
    for each in result.evaluators:
        if isinstance(each, Assessed):
            return {criterion.id: criterion for criterion in each.criteria}
        return NotJudged(reason=each.reason)
    return NotJudged(reason=result.reason)
