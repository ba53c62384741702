"""Estimate of requests, tokens and cost per judge, shown before a run."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Final

from rubric_ci.grading.resolve import Task, judges_of
from rubric_ci.models.judge.freeform import freeform_messages
from rubric_ci.models.judge.prompt import Briefing, rubric_messages
from rubric_ci.models.judge.shown_media import shown_to
from rubric_ci.models.judge.voting import PANEL, grouped, most_per_request
from rubric_ci.models.llm.client import identity
from rubric_ci.models.llm.direct import provider_with_entry
from rubric_ci.models.llm.model_info import batch_prices_of, prices_of
from rubric_ci.models.llm.preflight import MOST_TOKENS, PROMPT_TOKENS
from rubric_ci.services.cost.expected_requests import ExpectedWork, models_to_ask
from rubric_ci.services.cost.last_run import LastRun
from rubric_ci.system import coroutines
from rubric_ci.text import numbers
from rubric_ci.values.config import Endpoint, JudgeConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, LlmJudgeSpec, RubricSpec
from rubric_ci.values.llm_calls import ChatMessage
from rubric_ci.values.media import Media
from rubric_ci.values.report import CostEstimate
from rubric_ci.values.results import Answer
from rubric_ci.values.rubric import Judged
from rubric_ci.values.used_by import UsedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEstimate:
    """The estimate for one judge."""

    judge: JudgeConfig
    estimate: CostEstimate
    cached: int = 0  # requests that the cache answers, which the estimate leaves out
    most: int = 0  # requests if every verdict takes all votes of `auto`
    picture_tokens: int = 0  # of the input, by the provider's formula; 0 by the last run's figures
    briefing: Counter[str] = field(default_factory=Counter)
    """Input tokens of guidelines and examples, by the file that has them."""


CHARACTERS = 4  # per token, in English
ANSWER_TOKENS = 300  # of an answer that does not exist yet
MARK_TOKENS = 80  # quote, reason and mark of one criterion
FREEFORM_TOKENS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEstimate:
    """Requests to a judge, with their input and output tokens."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    picture_tokens: int = 0  # of the input: for images and documents, by the provider's formula
    briefing: Counter[str] = field(default_factory=Counter)  # of the input, by file

    def __add__(self, other: "TokenEstimate") -> "TokenEstimate":
        """Sum field by field."""
        if other is NO_REQUESTS:
            return self
        return TokenEstimate(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            picture_tokens=self.picture_tokens + other.picture_tokens,
            briefing=self.briefing + other.briefing,
        )

    def of(self, requests: int) -> "TokenEstimate":
        """Return the estimate of this many requests of the same size."""
        each = max(self.requests, 1)
        return TokenEstimate(
            requests=requests,
            input_tokens=self.input_tokens * requests // each,
            picture_tokens=self.picture_tokens * requests // each,
            output_tokens=self.output_tokens * requests // each,
            briefing=Counter({k: n * requests // each for k, n in self.briefing.items()}),
        )


NO_REQUESTS: Final = TokenEstimate()


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
            estimate=_priced(judge, each.asked, last or {}, batched=batched),
            cached=each.cached,
            most=each.most,
            picture_tokens=0 if _of_last(judge, last or {}) else each.asked.picture_tokens,
            briefing=each.asked.briefing,
        )
        for judge, each in judged
        if each.asked.requests or each.cached
    )


def estimate_lines(estimates: Sequence[JudgeEstimate]) -> list[str]:
    """Return a line per judge: requests, tokens and cost; then the tokens of each rubric file."""
    briefing = sum((each.briefing for each in estimates), Counter[str]())
    (most, *others) = briefing.most_common() or [("", 0)]
    rest = "".join(f", {tokens:,} of {file}" for file, tokens in others)
    told = f"about {most[1]:,} of these tokens are guidelines and examples of {most[0]}{rest}"
    return [*map(_line, estimates), *([told] if briefing else [])]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Requests:
    """The requests to a judge, and how many of them the cache answers."""

    asked: TokenEstimate = NO_REQUESTS
    cached: int = 0
    most: int = 0

    def __add__(self, other: "_Requests") -> "_Requests":
        return _Requests(
            asked=self.asked + other.asked,
            cached=self.cached + other.cached,
            most=self.most + other.most,
        )


_PREFLIGHT = _Requests(
    asked=TokenEstimate(requests=1, input_tokens=PROMPT_TOKENS, output_tokens=MOST_TOKENS), most=1
)


async def _by_judge(sides: Sequence[ExpectedWork]) -> list[tuple[JudgeConfig, _Requests]]:
    """Return each judge once, with all its requests."""
    found: list[tuple[JudgeConfig, list[_Requests]]] = []
    works = (side.without_empty_cache() for side in sides)
    pairs = [(work, task) for work in works for task in work.startable]
    for side, task in pairs:
        for judge, spec in judges_of(task.case, task.judge):
            for member, requests in await _requests(side, task, judge, spec):
                parts = next(
                    (parts for one, parts in found if one is member or one == member), None
                )
                if parts is None:
                    found.append((member, parts := []))
                parts.append(requests)
    return [(judge, sum(parts, _Requests())) for judge, parts in found]


def _with_preflight(
    judged: Sequence[tuple[JudgeConfig, _Requests]], sides: Sequence[ExpectedWork]
) -> list[tuple[JudgeConfig, _Requests]]:
    """Return the judges with the preflight's request, which is one per model."""
    sent = {identity(model) for model in models_to_ask(sides) if not provider_with_entry(model)}
    found = []
    for judge, requests in judged:
        name = identity(judge.endpoint)
        asked = name in sent
        sent.discard(name)
        found.append((judge, requests + _PREFLIGHT if asked else requests))
    return found


async def _requests(
    side: ExpectedWork, task: Task, judge: JudgeConfig, spec: RubricSpec | LlmJudgeSpec
) -> list[tuple[JudgeConfig, _Requests]]:
    """Return the requests of one evaluator to each judge, over all trials of its case."""
    first = side.context.trial
    numbers = range(first, first + task.trials(side.trials))
    lacking = [await side.requests(task, judge, spec, trial) for trial in numbers]
    return [(each, _of_judge(each, task, spec, lacking)) for each in judge.members]


def _of_judge(
    judge: JudgeConfig,
    task: Task,
    spec: RubricSpec | LlmJudgeSpec,
    lacking: Sequence[Sequence[Endpoint] | None],
) -> _Requests:
    every = request_count(spec, judge)
    asked = [every if each is None else each.count(judge.endpoint) for each in lacking]
    votes = PANEL if judge.votes == "auto" and isinstance(spec, RubricSpec) else 1
    total = _Requests(
        cached=sum(max(0, every - count) for count in asked),
        most=sum(every * votes if count else 0 for count in asked),
    )
    if any(asked):  # the tokens of prompts that the cache answers are of no interest
        each = estimate(task.case, spec, judge)
        total += _Requests(asked=sum(map(each.of, asked), NO_REQUESTS))
    return total


def _priced(
    judge: JudgeConfig, tokens: TokenEstimate, last: LastRun, *, batched: bool
) -> CostEstimate:
    prices = (batch_prices_of if batched else prices_of)(judge.endpoint)
    known = _of_last(judge, last)
    cost = None
    if known:
        share = tokens.requests / known.usage.calls
        tokens = TokenEstimate(
            requests=tokens.requests,
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
    judge, estimate = expected.judge, expected.estimate
    cached = f"; {expected.cached:,} more in the cache" if expected.cached else ""
    most = f"; at most {expected.most:,} where verdicts are close"
    more = most if expected.most > estimate.requests else ""
    return (
        f"about {numbers.plural(estimate.requests, 'request')} to {judge.endpoint.model}, "
        f"{estimate.input_tokens:,} + {estimate.output_tokens:,} tokens, "
        f"{_formula(expected)}{_cost(estimate)}{cached}{more}"
    )


def _formula(expected: JudgeEstimate) -> str:
    """Return how many of the tokens are of images, which providers count by a formula."""
    count = expected.picture_tokens
    return f"{count:,} of them for images by the provider's formula, " if count else ""


def _cost(estimate: CostEstimate) -> str:
    if estimate.cost_usd is None:
        return "price unknown"
    return numbers.dollars(estimate.cost_usd) if estimate.cost_usd else "$0"


def estimate(case: EvalCase, spec: RubricSpec | LlmJudgeSpec, judge: JudgeConfig) -> TokenEstimate:
    """Return the sum of all requests about one answer, without repairs; `auto` is one vote."""
    if isinstance(spec, LlmJudgeSpec):
        nothing = Answer(text="")
        messages = freeform_messages(case, nothing, spec.prompt, shown=shown_to(judge), fence="")
        return _request(judge, messages, FREEFORM_TOKENS)
    turns = spec.turn or case.most_turns or 1
    groups = grouped(spec.rubric.judged, most_per_request(judge))
    votes = 1 if judge.votes == "auto" else judge.votes
    briefing = Briefing(spec.guidelines, spec.examples)
    requests = [
        replace(
            _request(
                judge,
                rubric_messages(
                    case, "", group, briefing=briefing, shown=shown_to(judge), fence=""
                ),
                MARK_TOKENS * len(group),
                turns,
            ),
            briefing=_briefing(case, spec, group),
        )
        for group in groups
    ]
    return sum(requests * votes, NO_REQUESTS)


def _briefing(case: EvalCase, spec: RubricSpec, group: Sequence[Judged]) -> Counter[str]:
    """Return the tokens of the guidelines and examples of a request, by their file."""
    files = {criterion.id: criterion.span.file for criterion in group}
    characters = Counter[str]()
    for file, text in zip(spec.guided_by, spec.guidelines, strict=True):
        characters[file or case.file] += len(text)
    for each in spec.examples:
        if marked := [files[name] for name in each.marks if name in files]:
            characters[marked[0] or case.file] += len(each.question + each.answer + each.why)
    return Counter({file: count // CHARACTERS for file, count in characters.items()})


def request_count(spec: RubricSpec | LlmJudgeSpec, judge: JudgeConfig) -> int:
    """Return how many requests one answer takes, without repairs; `auto` counts as one vote."""
    if isinstance(spec, LlmJudgeSpec):
        return 1
    votes = 1 if judge.votes == "auto" else judge.votes
    return votes * len(grouped(spec.rubric.judged, most_per_request(judge)))


def _request(
    judge: JudgeConfig,
    messages: tuple[ChatMessage, ...],
    output_tokens: int,
    answers: int = 1,
) -> TokenEstimate:
    characters = sum(len(message.content) for message in messages)
    pictures = _pictures(judge, [each for message in messages for each in message.media])
    return TokenEstimate(
        requests=1,
        input_tokens=characters // CHARACTERS + answers * ANSWER_TOKENS + pictures,
        output_tokens=output_tokens,
        picture_tokens=pictures,
    )


def _pictures(judge: JudgeConfig, shown: Sequence[Media]) -> int:
    """Return the tokens of images and documents."""
    if not shown:
        return 0
    from rubric_ci.models.llm.media_tokens import estimated  # few requests have one

    return estimated(shown, judge.endpoint.model)
