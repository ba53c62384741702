"""The expected requests of some work: answers, judgements and their total, in figures and lines."""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add

import click

from rubric_ci.models.llm.budget import priced
from rubric_ci.models.llm.model_info import prices_of
from rubric_ci.services.cost.expected_requests import ExpectedWork, check_targets
from rubric_ci.services.cost.judge_cost import JudgeEstimate, estimate_cost, estimate_lines
from rubric_ci.services.cost.last_run import LastRun
from rubric_ci.services.cost.target_cost import AnswerEstimate, estimate_answers
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import CostEstimate
from rubric_ci.values.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    answers: Sequence[AnswerEstimate] = ()
    judgements: Sequence[JudgeEstimate] = ()

    @property
    def lines(self) -> Iterator[str]:
        """A line per target and judge that costs something, and the total."""
        yield from (each.line for each in self.answers if each.estimate)
        yield from self.lines_after_targets

    @property
    def lines_after_targets(self) -> Iterator[str]:
        """A line per judge, and the total of several lines."""
        yield from estimate_lines(self.judgements)
        if len(self._every) > 1 and any(each.requests for each in self._every):
            yield self._total_line()

    @property
    def total(self) -> CostEstimate | None:
        """The sum; None: nothing is sent."""
        return reduce(add, self._every) if self._every else None

    @property
    def most(self) -> int:
        """The requests if every verdict takes all votes of `auto`."""
        further = sum(max(0, each.asked.most - each.estimate.requests) for each in self.judgements)
        return sum(each.requests for each in self._every) + further

    @property
    def cost(self) -> str:
        return cost_words(self.total.cost_usd) if self.total else "$0"

    @property
    def _every(self) -> list[CostEstimate]:
        judged = [each.estimate for each in self.judgements]
        return [*(each.estimate for each in self.answers if each.estimate), *judged]

    def _total_line(self) -> str:
        found = reduce(add, self._every)
        bound = "up to about " if any(each.at_most for each in self.answers) else "about "
        cost = cost_words(found.cost_usd, bound)
        if found.cost_usd is None and (known := sum(each.cost_usd or 0 for each in self._every)):
            cost = f"{numbers.dollars(known)} without requests of unknown cost"
        return f"in all about {numbers.plural(found.requests, 'request')}, {cost}"


def estimate_work(
    work: Sequence[ExpectedWork],
    last: LastRun | None = None,
    *,
    batched: bool = False,
    preflight: bool = True,
) -> Estimate:
    """Return the estimate of all work, less what the caches hold."""
    known = last or {}
    return Estimate(
        answers=[a for side in work for a in estimate_answers(side, known, batched=batched)],
        judgements=estimate_cost(work, batched=batched, preflight=preflight, last=known),
    )


def check_prices(work: Sequence[ExpectedWork], found: Estimate) -> None:
    """Raise CannotConfigure for a target or judge of the estimate that fits no cap in dollars."""
    if not any(side.context.allowance.needs_prices for side in work):
        return
    check_targets(work)
    for each in found.judgements:
        if each.estimate.requests:
            priced(each.judge.endpoint, prices_of, f"the judge {each.judge.endpoint.model}")


def announce_work(work: Sequence[ExpectedWork]) -> None:
    """Print the estimate of some work on stderr; raises CannotConfigure as `check_prices` does."""
    found = estimate_work(work)
    for line in found.lines:
        click.echo(log_line(line), err=True)
    check_prices(work, found)


def show_spent(used: Usage) -> None:
    """Print on stderr what was sent; nothing if nothing was."""
    if used.calls or used.cost_usd:
        facts = filter(None, (numbers.cost(used), numbers.usage(used)))
        click.echo(", ".join(facts), err=True)


def cost_words(dollars: float | None, bound: str = "") -> str:
    """Return a cost, as words; None: it is unknown."""
    if dollars is None:
        return "cost unknown"
    return numbers.bounded(bound, dollars) if dollars else "$0"
