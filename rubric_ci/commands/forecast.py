"""Say before a run about how much asking its judges will take."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rubric_ci.commands.judges import judges_of
from rubric_ci.engine import Task
from rubric_ci.judging.estimate import Estimate, estimate
from rubric_ci.llm.models import batch_prices_of, prices_of
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.evals import EvalCase


def forecast(
    tasks: Sequence[Task], trials: int = 1, *, batched: bool = False, remembers: bool = True
) -> tuple[str, ...]:
    """Return one line per judge that will be asked; what is remembered is not known yet."""
    lines = []
    for judge, cases in _by_judge(tasks):
        wanted = estimate(cases * trials, judge)
        if wanted.requests:
            lines.append(_line(judge, wanted, batched=batched, remembers=remembers))
    return tuple(lines)


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


def _line(judge: JudgeConfig, wanted: Estimate, *, batched: bool, remembers: bool) -> str:
    noun = "request" if wanted.requests == 1 else "requests"
    less = ", less what is remembered" if remembers else ""
    more = "; more where votes are needed" if judge.votes == "auto" else ""
    return (
        f"about {wanted.requests} {noun} to {judge.endpoint.model}, {wanted.input_tokens:,} + "
        f"{wanted.output_tokens:,} tokens, {_cost(judge, wanted, batched=batched)}"
        f"{less}{more}"
    )


def _cost(judge: JudgeConfig, wanted: Estimate, *, batched: bool) -> str:
    prices = (batch_prices_of if batched else prices_of)(judge.endpoint)
    if prices is None:
        return "price unknown"
    cost = wanted.input_tokens * prices.input + wanted.output_tokens * prices.output
    return f"${cost:.4f}" if cost else "$0"
