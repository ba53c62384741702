"""Say before a run about how much asking its judges will take."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import click

from rubric_ci.grading.engine import Task
from rubric_ci.grading.resolve import judges_of
from rubric_ci.judge.estimate import Estimate, estimate
from rubric_ci.llm.model_info import batch_prices_of, prices_of
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.report import Forecast
from rubric_ci.text import escape, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """What one judge will be asked."""

    judge: JudgeConfig
    forecast: Forecast


def estimate_cost(
    tasks: Sequence[Task], trials: int = 1, *, batched: bool = False
) -> tuple[CostEstimate, ...]:
    """Reckon for each judge what asking it will take; what is remembered is not known yet."""
    wanted = [(judge, estimate(cases * trials, judge)) for judge, cases in _by_judge(tasks)]
    return tuple(
        CostEstimate(judge=judge, forecast=_forecast(judge, each, batched=batched))
        for judge, each in wanted
        if each.requests
    )


def show_estimate(expected: Sequence[CostEstimate], *, remembers: bool = True) -> None:
    """Print a line for each judge, on standard error."""
    for each in expected:
        click.echo(escape.log_line(_line(each, remembers=remembers)), err=True)


def total(expected: Sequence[CostEstimate]) -> Forecast | None:
    """Return what all judges together will take; None: none is asked."""
    every = [each.forecast for each in expected]
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


def _forecast(judge: JudgeConfig, wanted: Estimate, *, batched: bool) -> Forecast:
    prices = (batch_prices_of if batched else prices_of)(judge.endpoint)
    cost = None
    if prices:
        cost = wanted.input_tokens * prices.input + wanted.output_tokens * prices.output
    return Forecast(
        requests=wanted.requests,
        input_tokens=wanted.input_tokens,
        output_tokens=wanted.output_tokens,
        cost_usd=None if cost is None else round(cost, 6),
    )


def _line(expected: CostEstimate, *, remembers: bool) -> str:
    judge, wanted = expected.judge, expected.forecast
    less = ", less what is remembered" if remembers else ""
    more = "; more where votes are needed" if judge.votes == "auto" else ""
    return (
        f"about {numbers.plural(wanted.requests, 'request')} to {judge.endpoint.model}, "
        f"{wanted.input_tokens:,} + {wanted.output_tokens:,} tokens, "
        f"{_cost(wanted)}{less}{more}"
    )


def _cost(wanted: Forecast) -> str:
    if wanted.cost_usd is None:
        return "price unknown"
    return f"${wanted.cost_usd:.4f}" if wanted.cost_usd else "$0"
