"""Estimate of requests, tokens and cost per judge, shown before a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import click

from rubric_ci.grading.resolve import judges_of
from rubric_ci.grading.task import Task
from rubric_ci.judge.estimate import TokenEstimate, estimate
from rubric_ci.llm.model_info import batch_prices_of, prices_of
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.report import CostEstimate
from rubric_ci.text import escape, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEstimate:
    """The estimate for one judge."""

    judge: JudgeConfig
    estimate: CostEstimate


def estimate_cost(
    tasks: Sequence[Task], trials: int = 1, *, batched: bool = False
) -> tuple[JudgeEstimate, ...]:
    """Return an estimate per judge; cached judgements are not subtracted."""
    judged = _by_judge(tasks, trials)
    estimates = [(judge, estimate(cases, judge)) for judge, cases in judged]
    return tuple(
        JudgeEstimate(judge=judge, estimate=_priced(judge, tokens, batched=batched))
        for judge, tokens in estimates
        if tokens.requests
    )


def show_estimate(estimates: Sequence[JudgeEstimate], *, cached: bool = True) -> None:
    """Print a line per judge on stderr; `cached`: judgements may come from the cache."""
    for line in estimate_lines(estimates, cached=cached):
        click.echo(escape.log_line(line), err=True)


def estimate_lines(estimates: Sequence[JudgeEstimate], *, cached: bool = True) -> list[str]:
    """Return a line per judge: requests, tokens and cost."""
    return [_line(each, cached=cached) for each in estimates]


def total(estimates: Sequence[JudgeEstimate]) -> CostEstimate | None:
    """Return the sum over all judges; None if there is no judge request."""
    every = [each.estimate for each in estimates]
    return reduce(add, every) if every else None


def _by_judge(tasks: Sequence[Task], trials: int) -> Iterator[tuple[JudgeConfig, list[EvalCase]]]:
    """Yield each judge with the cases that it marks, reduced to the evaluators that use it."""
    found: list[tuple[JudgeConfig, list[EvalCase]]] = []
    for task in tasks:
        for judge, spec in judges_of(task.case, task.judge):
            cases = next((cases for one, cases in found if one == judge), None)
            if cases is None:
                found.append((judge, cases := []))
            cases.extend([replace(task.case, evaluators=(spec,))] * task.trials(trials))
    yield from found


def _priced(judge: JudgeConfig, tokens: TokenEstimate, *, batched: bool) -> CostEstimate:
    prices = (batch_prices_of if batched else prices_of)(judge.endpoint)
    cost = None
    if prices:
        cost = tokens.input_tokens * prices.input + tokens.output_tokens * prices.output
    return CostEstimate(
        requests=tokens.requests,
        input_tokens=tokens.input_tokens,
        output_tokens=tokens.output_tokens,
        cost_usd=None if cost is None else round(cost, 6),
    )


def _line(expected: JudgeEstimate, *, cached: bool) -> str:
    judge, estimate = expected.judge, expected.estimate
    less = ", minus cached judgements" if cached else ""
    more = "; more if further votes are needed" if judge.votes == "auto" else ""
    return (
        f"about {numbers.plural(estimate.requests, 'request')} to {judge.endpoint.model}, "
        f"{estimate.input_tokens:,} + {estimate.output_tokens:,} tokens, "
        f"{_cost(estimate)}{less}{more}"
    )


def _cost(estimate: CostEstimate) -> str:
    if estimate.cost_usd is None:
        return "price unknown"
    return f"${estimate.cost_usd:.4f}" if estimate.cost_usd else "$0"
