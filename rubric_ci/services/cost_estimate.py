"""The expected requests of some work: answers, judgements and their total, in figures and lines.

The cost of an answer is the mean of the last run of the same target. Without one it is a maximum,
by the price of a start or `max_tokens`, or else the price of answers of a usual length.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add
from typing import Final

import click

from rubric_ci.errors import CannotAnswer
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.targets import command, llm
from rubric_ci.models.llm.budget import priced
from rubric_ci.models.llm.model_info import Prices, batch_prices_of, prices_of
from rubric_ci.services.expected_requests import (
    ANSWER_TOKENS,
    CHARACTERS,
    ExpectedWork,
    JudgeEstimate,
    check_targets,
    estimate_cost,
    estimate_lines,
    picture_tokens,
)
from rubric_ci.services.last_run import LastRun
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.report import CostEstimate
from rubric_ci.values.targets import Endpoint, Target
from rubric_ci.values.usage import Usage, UsedBy
from rubric_ci.values.workspace_settings import PromptTemplate

UNKNOWN: Final = "cost unknown before the answers"
LAST_RUN: Final = "as in the last run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    dollars: float | None  # None: not known
    words: str
    at_most: bool = False
    tokens: tuple[int, int] = (0, 0)  # read and written


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEstimate:
    line: str
    estimate: CostEstimate | None = None  # None: nothing is sent, and no start counts as a call
    at_most: bool = False  # the cost is a maximum


def estimate_answers(
    work: ExpectedWork, last: LastRun, *, batched: bool = False
) -> Iterator[AnswerEstimate]:
    """Yield an estimate per target of one side, less the answers in the cache."""
    every = [task for task in work.tasks if task.case.evaluators]
    targets = {task.target.name: task.target for task in every}
    graded = [task for task in work.startable if task.case.evaluators]
    targets |= {task.target.name: task.target for task in graded}
    for target in targets.values():
        own = [task for task in graded if task.target.name == target.name]
        asked = _asked(target, own, work)
        yield _estimated(asked, last, f"{work.name}target {target.name}: ", batched=batched)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The answers of one target that are not at hand."""

    target: Target
    cases: Sequence[EvalCase]  # one for each answer
    cached: int

    @property
    def turns(self) -> int:
        """The requests or starts: a conversation has one per turn."""
        return sum(map(_turns, self.cases))

    @property
    def of_users(self) -> int:
        """The requests for the messages of simulated users, at most."""
        users = [case for case in self.cases if case.simulated_user]
        return sum(case.most_turns - len(case.turns) for case in users)

    @property
    def more(self) -> str:
        """The requests of users and the answers in the cache, as words."""
        users = numbers.plural(self.of_users, "request")
        said = f"; up to {users} for simulated users" if self.of_users else ""
        cached = numbers.plural(self.cached, "more answer")
        return said + (f"; {cached} in the cache" if self.cached else "")


def _asked(target: Target, tasks: Sequence[Task], work: ExpectedWork) -> _Asked:
    every = [(task, trial) for task in tasks for trial in range(task.trials(work.trials))]
    cases = [task.case for task, trial in every if work.answer(task, trial) is None]
    return _Asked(target=target, cases=cases, cached=len(every) - len(cases))


def _estimated(asked: _Asked, last: LastRun, said: str, *, batched: bool) -> AnswerEstimate:
    target = asked.target
    upto = "up to " * bool(asked.of_users)
    if target.endpoint:
        what = f"{upto}{numbers.plural(asked.turns, 'request')} to {target.endpoint.model}"
    elif target.starts_program:
        starts = numbers.plural(asked.turns, "start of its command", "starts of its command")
        what = f"{upto}{starts}"
    else:
        return _unpaid(asked, said)
    counts = target.endpoint is not None or command.price_of(target) is not None
    if not counts and not asked.of_users:
        return AnswerEstimate(line=f"{said}{what}{asked.more}")
    cost = _cost(asked, last, batched=batched)
    read, written = cost.tokens
    return AnswerEstimate(
        line=f"{said}{what}, {cost.words}{asked.more}",
        estimate=CostEstimate(
            requests=asked.turns * counts + asked.of_users,
            input_tokens=read,
            output_tokens=written,
            cost_usd=cost.dollars,
        ),
        at_most=cost.at_most,
    )


def _unpaid(asked: _Asked, said: str) -> AnswerEstimate:
    """Return the estimate of answers that cost nothing but the messages of a simulated user."""
    target = asked.target
    if not target.is_at_hand:
        return AnswerEstimate(line=f"{said}no answers: {target.why_no_answers}")
    if target.answers:
        lost = numbers.plural(len(asked.cases), "answer")
        less = f"; {lost} not recorded" if asked.cases else ""
        recorded = numbers.plural(asked.cached, "recorded answer")
        return AnswerEstimate(line=f"{said}{recorded}, no requests{less}")
    fixed = numbers.plural(len(asked.cases) + asked.cached, "fixed answer")
    if not asked.of_users:
        return AnswerEstimate(line=f"{said}{fixed}, no requests")
    users = CostEstimate(requests=asked.of_users, input_tokens=0, output_tokens=0, cost_usd=None)
    return AnswerEstimate(line=f"{said}{fixed}{asked.more}", estimate=users)


def _cost(asked: _Asked, last: LastRun, *, batched: bool) -> Cost:
    target = asked.target
    if not asked.cases:
        return Cost(dollars=0.0, words="$0")
    prices = (batch_prices_of if batched else prices_of)(target.model) if target.model else None
    known = last.get(("target", target.name, command.model_of(target)))
    if known and (found := _as_before(asked, known, prices, batched=batched)):
        return found
    price = command.price_of(target)
    if price and price.most is not None and not asked.of_users:
        most = asked.turns * price.most
        return Cost(dollars=most, words=numbers.bounded("at most ", most), at_most=True)
    if prices is None or target.model is None or asked.of_users:
        return Cost(dollars=None, words=UNKNOWN)
    return _of_length(asked, target.model, prices)


def _as_before(
    asked: _Asked, known: UsedBy, prices: Prices | None, *, batched: bool
) -> Cost | None:
    """Return the cost of these answers if each costs the mean of the last run; None: unknown."""
    share = len(asked.cases) / known.answers
    read, written = known.usage.input_tokens * share, known.usage.output_tokens * share
    dollars = None if known.usage.unpriced_calls or batched else known.usage.cost_usd * share
    if dollars is None and prices and read:
        dollars = read * prices.input + written * prices.output
    if dollars is None:
        return None
    words = f"{numbers.bounded('about ', dollars)} {LAST_RUN}"
    return Cost(dollars=dollars, words=words, tokens=(round(read), round(written)))


def _of_length(asked: _Asked, model: Endpoint, prices: Prices) -> Cost:
    """Return the cost of answers as long as `max_tokens` allows, else of a usual length."""
    options = model.options
    most = options.get("max_tokens") or options.get("max_completion_tokens")
    each = int(most or ANSWER_TOKENS)
    before = sum(each * turns * (turns - 1) // 2 for turns in map(_turns, asked.cases))
    read = sum(_prompt(case, asked.target.prompt) for case in asked.cases) // CHARACTERS + before
    # Every turn sends them again.
    read += sum(picture_tokens(case.media, model) * _turns(case) for case in asked.cases)
    written = asked.turns * each
    dollars = read * prices.input + written * prices.output
    shown = numbers.bounded("at most " if most else "about ", dollars)
    words = shown if most else f"{shown} at {each} tokens an answer"
    return Cost(dollars=dollars, words=words, at_most=bool(most), tokens=(read, written))


def _turns(case: EvalCase) -> int:
    return case.most_turns or 1


def _prompt(case: EvalCase, prompt: PromptTemplate | None) -> int:
    """Return the characters of the messages of all turns, without the answers before them."""
    try:
        first = sum(len(message.content) for message in llm.chat_messages(case, prompt))
    except CannotAnswer:  # the case is errored, and nothing is sent
        return 0
    turns = [len(turn.text) for turn in case.turns]
    return first * max(1, len(turns)) + sum(sum(turns[: n + 1]) for n in range(len(turns)))


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
