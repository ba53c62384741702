"""Say before a run about how much asking its judges will take."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import click

from rubric_ci.grading.engine import Task
from rubric_ci.grading.resolve import judges_of
from rubric_ci.judge.estimate import TokenEstimate, estimate
from rubric_ci.llm.model_info import batch_prices_of, prices_of
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.report import CostEstimate
from rubric_ci.text import numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEstimate:
    """What one judge will be asked."""

    judge: JudgeConfig
    estimate: CostEstimate


def estimate_cost(
    tasks: Sequence[Task], trials: int = 1, *, batched: bool = False
) -> tuple[JudgeEstimate, ...]:
    """Reckon for each judge what asking it will take; what is remembered is not known yet."""
    wanted = [(judge, estimate(cases * trials, judge)) for judge, cases in _by_judge(tasks)]
    return tuple(
        JudgeEstimate(judge=judge, estimate=_priced(judge, each, batched=batched))
        for judge, each in wanted
        if each.requests
    )


def show_estimate(expected: Sequence[JudgeEstimate], *, remembers: bool = True) -> None:
    """Print a line for each judge, on standard error."""
    for each in expected:
        click.echo(_line(each, remembers=remembers), err=True)


def total(expected: Sequence[JudgeEstimate]) -> CostEstimate | None:
    """Return what all judges together will take; None: none is asked."""
    every = [each.estimate for each in expected]
    return reduce(add, every) if every else None


def _by_judge(tasks: Sequence[Task]) -> Iterator[tuple[JudgeConfig, list[EvalCase]]]:
    """Yield each judge with the cases that it marks, reduced to the evaluators that ask it."""
    found: list[tuple[JudgeConfig, list[EvalCase]]] = []
    for task in tasks:
        for judge, spec in judges_of(task.case, task.judge):
            cases = next((cases for one, cases in found if one == judge), None)
            if cases is None:
                found.append((judge, cases := []))
            cases.append(replace(task.case, evaluators=(spec,)))
    yield from found


def _priced(judge: JudgeConfig, wanted: TokenEstimate, *, batched: bool) -> CostEstimate:
    prices = (batch_prices_of if batched else prices_of)(judge.endpoint)
    cost = None
    if prices:
        cost = wanted.input_tokens * prices.input + wanted.output_tokens * prices.output
    return CostEstimate(
        requests=wanted.requests,
        input_tokens=wanted.input_tokens,
        output_tokens=wanted.output_tokens,
        cost_usd=None if cost is None else round(cost, 6),
    )


def _line(expected: JudgeEstimate, *, remembers: bool) -> str:
    judge, wanted = expected.judge, expected.estimate
    less = ", less what is remembered" if remembers else ""
    more = "; more where votes are needed" if judge.votes == "auto" else ""
    return (
        f"about {numbers.plural(wanted.requests, 'request')} to {judge.endpoint.model}, "
        f"{wanted.input_tokens:,} + {wanted.output_tokens:,} tokens, "
        f"{_cost(wanted)}{less}{more}"
    )


def _cost(wanted: CostEstimate) -> str:
    if wanted.cost_usd is None:
        return "price unknown"
    return f"${wanted.cost_usd:.4f}" if wanted.cost_usd else "$0"
