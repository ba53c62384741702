"""Expected requests of one side of a run, their tokens and cost per judge, and its preflight.

The work is the tasks of a side without cached results. The preflight asks judges and model targets
once, before a target costs anything. A model that cannot be used then errors its cases with one
reason. A run whose answers are all at hand has no target to save: its first judge request, which is
sent alone, finds out the same.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import Final

from rubric_ci.errors import CannotConfigure, NoVerdict, OverBudget
from rubric_ci.evaluators.judge_choice import with_model
from rubric_ci.evaluators.kind import ExpectedRequest
from rubric_ci.evaluators.table import KINDS
from rubric_ci.grading.limits import Deadline
from rubric_ci.grading.resolve import Task, judges_of
from rubric_ci.grading.targets import answer_cache, command
from rubric_ci.grading.targets.kinds import at_hand
from rubric_ci.models.llm.budget import check_start, priced
from rubric_ci.models.llm.client import identity
from rubric_ci.models.llm.direct import provider_with_entry
from rubric_ci.models.llm.model_info import batch_prices_of, estimated, prices_of
from rubric_ci.models.llm.responders import MOST_TOKENS, PROMPT_TOKENS
from rubric_ci.services.last_run import LastRun
from rubric_ci.system import coroutines
from rubric_ci.text import numbers
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import Allowance, RunContext, by_judge
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, EvaluatorSpec
from rubric_ci.values.llm_calls import Unsent
from rubric_ci.values.media import Media
from rubric_ci.values.report import CostEstimate
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import UsedBy

CHARACTERS = 4  # per token, in English
ANSWER_TOKENS = 300  # of an answer that does not exist yet


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedWork:
    """The tasks of one side of a run, and the context that they will be graded in."""

    tasks: Sequence[Task]
    context: RunContext
    trials: int = 1
    name: str = ""  # "base "; empty: the head

    @property
    def startable(self) -> Sequence[Task]:
        """The tasks whose target can answer; the others get no mark either."""
        return [task for task in self.tasks if task.target.can_answer]

    def without_empty_cache(self) -> "ExpectedWork":
        """Return the work without a cache in which there is nothing to look up."""
        cache = self.context.cache
        if cache is None or not cache.is_empty():
            return self
        return replace(self, context=replace(self.context, cache=None))

    def answer(self, task: Task, trial: int) -> Answer | None:
        """Return an answer that is at hand: recorded, fixed or in the cache."""
        target, own = task.target, self.context.for_trial(trial)
        with suppress(NoVerdict):
            if target.is_at_hand:
                return at_hand(task.case, target, own)
            if found := answer_cache.replayed(task.answered, target, own):
                return found
        return answer_cache.find(task.answered, target, own)

    async def uncached(
        self, task: Task, spec: EvaluatorSpec, own: RunContext
    ) -> Sequence[Endpoint] | None:
        """Return the model of each judge request that the cache leaves; None: of all of them.

        What the cache answers is kept for the run. The context sends nothing.
        """
        if self.context.cache is None or self.context.fresh_judgements:
            return None
        assess, answer = KINDS[spec.type].assess, self.answer(task, own.trial)
        if answer is None or assess is None:
            return None
        with suppress(NoVerdict):  # the run says why
            found = await assess(task.case, answer, spec, own)
            if isinstance(found, Unsent):
                return found.models
            own.prepared.keep(task.case, spec, own.trial, answer, found)
        return ()


def check_targets(sides: Sequence[ExpectedWork]) -> None:
    """Raise CannotConfigure for a target or user that has to answer and fits no cap in dollars."""
    for side in sides:
        for task in side.tasks:
            try:
                _check(task)
            except CannotConfigure:
                if _lacks_answer(side, task):
                    raise


def _check(task: Task) -> None:
    target, user = task.target, task.case.simulated_user
    if not task.case.evaluators:
        return
    if target.endpoint:
        priced(target.endpoint, prices_of, f"{target.endpoint.model} of the target `{target.name}`")
    elif price := command.price_of(target):
        check_start(price)
    if user and (player := with_model(task.judge, user.model)):
        priced(player.endpoint, prices_of, f"{player.endpoint.model}, the simulated user,")


def models_to_ask(sides: Sequence[ExpectedWork]) -> tuple[Endpoint, ...]:
    """Return the judges and model targets of the cases that a target has to answer."""
    found: dict[str, Endpoint] = {}
    for side in sides:
        for task in side.tasks:
            new = {name: each for each in _models(task) if (name := identity(each)) not in found}
            if new and _lacks_answer(side, task):
                found |= new
    return tuple(found.values())


async def ask_models(models: Sequence[Endpoint], allowance: Allowance) -> bool:
    """Find out which models are unreachable; return False on cancellation (Ctrl-C, SIGTERM)."""
    if allowance.preflight is None:
        return True
    try:
        asking = coroutines.gather_all(map(allowance.preflight, models))
        await Deadline(allowance.max_seconds, allowance.started).enforce(asking)
    except OverBudget:
        return True  # each case has the reason
    except asyncio.CancelledError:
        return False
    return True


def _models(task: Task) -> Iterator[Endpoint]:
    """Yield the judges that count and the model that answers, if the target may cost something."""
    if not task.case.evaluators:
        return
    if task.target.endpoint:
        yield task.target.endpoint
    if task.target.is_asked:
        judges = judges_of(task.case, task.judge)
        yield from (one for judge, spec in judges if spec.weight > 0 for one in judge.endpoints)


def _lacks_answer(side: ExpectedWork, task: Task) -> bool:
    start = side.context.trial
    numbers = range(start, start + task.trials(side.trials))
    return any(side.answer(task, number) is None for number in numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequests:
    """Requests to a judge with their tokens, without those that the cache answers."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    picture_tokens: int = 0  # of the input: for images and documents, by the provider's formula
    briefing: Counter[str] = field(default_factory=Counter)
    """Input tokens of guidelines and examples, by the file that has them."""
    cached: int = 0  # further requests, which the cache answers
    most: int = 0  # requests if every verdict takes all votes of `auto`

    def __add__(self, other: "JudgeRequests") -> "JudgeRequests":
        return JudgeRequests(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            picture_tokens=self.picture_tokens + other.picture_tokens,
            briefing=self.briefing + other.briefing if other.briefing else self.briefing,
            cached=self.cached + other.cached,
            most=self.most + other.most,
        )


NO_REQUESTS: Final = JudgeRequests()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEstimate:
    judge: JudgeConfig
    estimate: CostEstimate  # by the figures of the last run, if it asked the judge
    asked: JudgeRequests


def estimate_cost(
    sides: Sequence[ExpectedWork],
    *,
    batched: bool = False,
    preflight: bool = True,
    last: LastRun | None = None,
) -> tuple[JudgeEstimate, ...]:
    """Return an estimate per judge for all sides, less the judgements in the cache.

    A judgement of an answer that is not known yet counts as a request, and so does the preflight
    of a judge whose server has no entries of models, unless `preflight` is False. A request to a
    judge that the last run asked takes as many tokens as there.
    """
    judged = coroutines.run(_by_judge(sides))
    if preflight and not batched:
        judged = _with_preflight(judged, sides)
    return tuple(
        JudgeEstimate(
            judge=judge,
            estimate=_priced(judge, each, last or {}, batched=batched),
            asked=replace(each, picture_tokens=0) if _of_last(judge, last or {}) else each,
        )
        for judge, each in judged
        if each.requests or each.cached
    )


def estimate_lines(estimates: Sequence[JudgeEstimate]) -> list[str]:
    """Return a line per judge: requests, tokens and cost; then the tokens of each rubric file."""
    briefing = sum((each.asked.briefing for each in estimates), Counter[str]())
    (most, *others) = briefing.most_common() or [("", 0)]
    rest = "".join(f", {tokens:,} of {file}" for file, tokens in others)
    told = f"about {most[1]:,} of these tokens are guidelines and examples of {most[0]}{rest}"
    return [*map(_line, estimates), *([told] if briefing else [])]


_PREFLIGHT: Final = JudgeRequests(
    requests=1, input_tokens=PROMPT_TOKENS, output_tokens=MOST_TOKENS, most=1
)


async def _by_judge(sides: Sequence[ExpectedWork]) -> list[tuple[JudgeConfig, JudgeRequests]]:
    """Return each judge once, with all its requests."""
    found: list[tuple[JudgeConfig, list[JudgeRequests]]] = []
    works = (side.without_empty_cache() for side in sides)
    pairs = [(work, task) for work in works for task in work.startable]
    own = by_judge(sends=False)
    for side, task in pairs:
        trials = range(side.context.trial, side.context.trial + task.trials(side.trials))
        for judge, spec in judges_of(task.case, task.judge):
            context = own(side.context, judge)
            uncached = [await side.uncached(task, spec, context.for_trial(n)) for n in trials]
            for member in judge.members:
                parts = next(
                    (parts for one, parts in found if one is member or one == member), None
                )
                if parts is None:
                    found.append((member, parts := []))
                parts.append(requests_of(member, task.case, spec, uncached))
    return [(judge, sum(parts, NO_REQUESTS)) for judge, parts in found]


def _with_preflight(
    judged: Sequence[tuple[JudgeConfig, JudgeRequests]], sides: Sequence[ExpectedWork]
) -> list[tuple[JudgeConfig, JudgeRequests]]:
    """Return the judges with the preflight's request, which is one per model."""
    sent = {identity(model) for model in models_to_ask(sides) if not provider_with_entry(model)}
    found = []
    for judge, requests in judged:
        name = identity(judge.endpoint)
        asked = name in sent
        sent.discard(name)
        found.append((judge, requests + _PREFLIGHT if asked else requests))
    return found


def requests_of(
    judge: JudgeConfig,
    case: EvalCase,
    spec: EvaluatorSpec,
    uncached: Sequence[Sequence[Endpoint] | None] = (None,),
) -> JudgeRequests:
    """Return the requests of one evaluator to a judge; `uncached` has those of each trial.

    None: none of them is in the cache.
    """
    expected = KINDS[spec.type].expected
    every = expected(case, spec, judge) if expected else ()
    count = len(every)
    asked = [count if each is None else each.count(judge.endpoint) for each in uncached]
    cached = sum(max(0, count - each) for each in asked)
    if not any(asked):  # the tokens of prompts that the cache answers are of no interest
        return JudgeRequests(cached=cached)
    read, written, pictures = map(sum, zip(*(_tokens(judge, each) for each in every), strict=True))
    most = sum(each.most for each in every)
    briefing = Counter[str]()
    for each in every:
        briefing += Counter({f: n // CHARACTERS for f, n in each.briefing().items()})
    return JudgeRequests(
        requests=sum(asked),
        input_tokens=sum(read * each // count for each in asked),
        output_tokens=sum(written * each // count for each in asked),
        picture_tokens=sum(pictures * each // count for each in asked),
        briefing=Counter(
            {f: sum(n * each // count for each in asked) for f, n in briefing.items()}
        ),
        cached=cached,
        most=sum(most for each in asked if each),
    )


def _tokens(judge: JudgeConfig, request: ExpectedRequest) -> tuple[int, int, int]:
    """Return the tokens that a request reads, that it writes, and that its images have."""
    messages = request.write()
    characters = sum(len(message.content) for message in messages)
    shown = [each for message in messages for each in message.media]
    pictures = picture_tokens(shown, judge.endpoint)
    read = characters // CHARACTERS + request.answers * ANSWER_TOKENS + pictures
    return read, request.output_tokens, pictures


def _priced(
    judge: JudgeConfig, tokens: JudgeRequests, last: LastRun, *, batched: bool
) -> CostEstimate:
    prices = (batch_prices_of if batched else prices_of)(judge.endpoint)
    known = _of_last(judge, last)
    cost = None
    if known:
        share = tokens.requests / known.usage.calls
        if known.usage.input_tokens:  # a command often reports none
            tokens = replace(
                tokens,
                input_tokens=round(known.usage.input_tokens * share),
                output_tokens=round(known.usage.output_tokens * share),
            )
        if not (known.usage.unpriced_calls or batched):
            cost = known.usage.cost_usd * share
    if prices and cost is None:
        cost = tokens.input_tokens * prices.input + tokens.output_tokens * prices.output
    return CostEstimate(
        requests=tokens.requests,
        input_tokens=tokens.input_tokens,
        output_tokens=tokens.output_tokens,
        cost_usd=None if cost is None else round(cost, 6),
    )


def _of_last(judge: JudgeConfig, last: LastRun) -> UsedBy | None:
    """Return the requests of the last run to a judge; None: there were none."""
    known = last.get(("judge", judge.name, ""))
    return known if known and known.usage.calls else None


def _line(expected: JudgeEstimate) -> str:
    judge, estimate, asked = expected.judge, expected.estimate, expected.asked
    cached = f"; {asked.cached:,} more in the cache" if asked.cached else ""
    most = f"; at most {asked.most:,} where verdicts are close"
    more = most if asked.most > estimate.requests else ""
    count, cost = asked.picture_tokens, "price unknown"
    images = f"{count:,} of them for images by the provider's formula, " if count else ""
    if estimate.cost_usd is not None:
        cost = numbers.dollars(estimate.cost_usd) if estimate.cost_usd else "$0"
    return (
        f"about {numbers.plural(estimate.requests, 'request')} to {judge.endpoint.model}, "
        f"{estimate.input_tokens:,} + {estimate.output_tokens:,} tokens, "
        f"{images}{cost}{cached}{more}"
    )


def picture_tokens(shown: Sequence[Media], model: Endpoint) -> int:
    """Return the tokens of images and documents."""
    return estimated(shown, model.model) if shown else 0
