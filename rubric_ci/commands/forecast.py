"""Say before a run about how much asking its judges will take."""

from collections.abc import Iterator, Sequence

from rubric_ci.engine import Task
from rubric_ci.judging.estimate import Estimate, estimate
from rubric_ci.llm.models import prices_of
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.evals import EvalCase


def forecast(tasks: Sequence[Task], trials: int = 1) -> tuple[str, ...]:
    """Return one line per judge that will be asked; what is remembered is not known yet."""
    lines = []
    for judge, cases in _by_judge(tasks):
        wanted = estimate(cases * trials, judge)
        if wanted.requests:
            lines.append(_line(judge, wanted))
    return tuple(lines)


def _by_judge(tasks: Sequence[Task]) -> Iterator[tuple[JudgeConfig, list[EvalCase]]]:
    judges: list[JudgeConfig] = []
    for task in tasks:
        if task.judge is not None and task.judge not in judges:
            judges.append(task.judge)
    for judge in judges:
        yield judge, [task.case for task in tasks if task.judge == judge]


def _line(judge: JudgeConfig, wanted: Estimate) -> str:
    noun = "request" if wanted.requests == 1 else "requests"
    more = "; more where votes are needed" if judge.votes == "auto" else ""
    return (
        f"about {wanted.requests} {noun} to {judge.endpoint.model}, {wanted.input_tokens:,} + "
        f"{wanted.output_tokens:,} tokens, {_cost(judge, wanted)}, "
        f"less what is remembered{more}"
    )


def _cost(judge: JudgeConfig, wanted: Estimate) -> str:
    prices = prices_of(judge.endpoint)
    if prices is None:
        return "price unknown"
    cost = wanted.input_tokens * prices.input + wanted.output_tokens * prices.output
    return f"${cost:.4f}" if cost else "$0"
