"""Judge answers that are recorded already, without calling a target."""

import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import click

from rubric_ci.errors import CannotJudge, NoJudge, OverBudget
from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.gate.policy.checkout import allowed_hosts
from rubric_ci.grading.engine import grade
from rubric_ci.grading.resolve import (
    Task,
    choose_judge,
    given,
    judge_info,
    name_judge,
    resolve_judge,
)
from rubric_ci.grading.setup import build_context
from rubric_ci.parts.lab.calibration import Calibration, JudgedLabel, calibrate
from rubric_ci.parts.lab.labels import LabelledAnswer
from rubric_ci.services.cost_estimate import announce_work, show_spent
from rubric_ci.services.expected_requests import ExpectedWork
from rubric_ci.system import coroutines
from rubric_ci.text.escape import log_line
from rubric_ci.values.command_settings import CacheOptions, RequestOptions
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.llm_calls import ModelCall, ModelCaller, ModelReply
from rubric_ci.values.results import Answer, Assessed, CaseResult, CriterionResult
from rubric_ci.values.rubric import Assertion, Rubric
from rubric_ci.values.usage import NOTHING_USED

REPLAYED = "The judge's replies are from a recording: no model was asked"

_PLACE = Span(line=1, column=1, end_line=1, end_column=1)
_ALWAYS = Assertion(id="", key="min_words", value=0, required=False, span=_PLACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerToJudge:
    """An answer to mark by a rubric of its case, and the judge that marks it."""

    case: EvalCase
    spec: RubricSpec
    answer: Answer  # with the work that the judge sees
    judge: JudgeConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class NotJudged:
    reason: str


Marks = Mapping[str, CriterionResult]
"""By criterion id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgeResult:
    """Marks per answer, and the reason if the budget ran out."""

    marks: tuple[Marks | NotJudged, ...]
    over_budget: str  # "": every judge request was sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    judge: JudgeConfig
    context: RunContext
    concurrency: int
    live: bool  # False: the replies are from a recording


def open_judging(
    loaded: LoadedProject,
    override: str,
    requests: RequestOptions,
    cache: CacheOptions | None = None,
) -> Judging:
    """Return the judge of the command line or the configuration, with its API key resolved."""
    judge = choose_judge(loaded.config_naming(override), given(Answer(text="")), override)
    if judge is None:
        raise NoJudge
    live = requests.replay is None
    hosts = allowed_hosts(loaded, requests.allowed_hosts, os.environ)
    return Judging(
        judge=(resolve_judge if live else name_judge)(judge, loaded.variables(os.environ)),
        context=build_context(
            loaded.root, loaded.config, requests, os.environ, cache=cache, hosts=hosts
        ),
        concurrency=requests.concurrency,
        live=live,
    )


def rejudge(answers: Sequence[AnswerToJudge], judging: Judging) -> RejudgeResult:
    """Judge every answer; show the estimate before and the cost after."""
    tasks, context = [_task(each) for each in answers], judging.context
    if judging.live:
        announce_work([ExpectedWork(tasks=tasks, context=context)])
    refused: list[str] = []
    before = context.allowance.spent()
    watched = replace(context, call_model=_watched(context.call_model, refused))
    results = coroutines.run(grade(tasks, watched, concurrency=judging.concurrency))
    for note in context.found.notes:
        click.echo(log_line(note), err=True)
    if len(results) < len(tasks):
        raise KeyboardInterrupt
    used = sum((r.usage for r in results), NOTHING_USED)
    sent = context.allowance.spent().beyond(before)
    show_spent(replace(sent, cache_hits=used.cache_hits, repairs=used.repairs))
    return RejudgeResult(
        marks=tuple(_marks(result) for result in results), over_budget=refused[0] if refused else ""
    )


def always_marking(case: EvalCase) -> RubricSpec:
    """Return the rubric of a case so that it gives its marks also where no criterion applies."""
    nothing = RubricSpec(name="rubric", rubric=Rubric(()), span=_PLACE)
    spec = next(iter(case.rubrics), nothing)  # tags and variables may leave out every criterion
    if any(criterion.weight and not criterion.applies_if for criterion in spec.rubric):
        return spec
    return replace(spec, rubric=Rubric((*spec.rubric, _ALWAYS)))


def show_not_judged(answers: Sequence[AnswerToJudge], result: RejudgeResult) -> None:
    """Show why answers have no marks; an exhausted budget is shown once."""
    pairs = zip(answers, result.marks, strict=True)
    unmarked = [(each, marks) for each, marks in pairs if isinstance(marks, NotJudged)]
    for each, marks in unmarked:
        if not result.over_budget or result.over_budget not in marks.reason:
            click.echo(log_line(f"{each.case.id}: no verdict: {marks.reason}"), err=True)
    if result.over_budget:
        few = f"{len(unmarked):,} of {len(answers):,} answers have no verdict"
        click.echo(log_line(f"{result.over_budget}: {few}"), err=True)


def _watched(ask: ModelCaller, refused: list[str]) -> ModelCaller:
    """Add the reason to `refused` when the budget refuses a request.

    Replies of another model are refused: their marks say nothing of the judge.
    """

    async def asked(call: ModelCall) -> ModelReply:
        try:
            reply = await ask(call)
        except OverBudget as error:
            refused.append(error.cap)
            raise
        if reply.fallback:
            model = f"`{reply.model}`" if reply.model else "another model"
            message = f"{model} replied in place of `{call.endpoint.model}`"
            raise CannotJudge(f"{message}, which does not count for a calibration", reply.usage)
        return reply

    return asked


def _task(answer: AnswerToJudge) -> Task:
    # As the only evaluator it needs a weight above 0; its own model must not replace this judge.
    spec = replace(answer.spec, weight=1.0, model="")
    return Task(
        case=replace(answer.case, evaluators=(spec,)),
        target=given(answer.answer),
        judge=answer.judge,
    )


def _marks(result: CaseResult) -> Marks | NotJudged:
    if result.status == "skipped":
        return NotJudged(reason=result.reason)
    for each in result.evaluators:
        if isinstance(each, Assessed):
            return {criterion.id: criterion for criterion in each.criteria}
        return NotJudged(reason=each.reason)
    return NotJudged(reason=result.reason)


def measure_agreement(
    labelled: Sequence[LabelledAnswer], judged: Sequence[Marks | NotJudged], judge: JudgeConfig
) -> Calibration | None:
    """Return the agreement on the answers that have marks; None if there are none."""
    with_marks = [
        _marked(each, marks)
        for each, marks in zip(labelled, judged, strict=True)
        if not isinstance(marks, NotJudged)
    ]
    if not with_marks:
        return None
    silent = len(labelled) - len(with_marks)
    generator = random.Random(0)  # noqa: S311 - reproducible draws
    draw = partial(generator.gammavariate, beta=1.0)
    return calibrate(with_marks, judge_info(judge), draw, silent)


def _marked(labelled: LabelledAnswer, marks: Marks) -> JudgedLabel:
    given = {name: criterion.mark for name, criterion in marks.items()}
    reasons = {name: criterion.reasoning for name, criterion in marks.items()}
    return JudgedLabel(labelled=labelled, marks=given, reasons=reasons)
