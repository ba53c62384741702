"""Dependencies of targets and evaluators: model client, cache, paths, environment."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, EvaluatorSpec
from rubric_ci.values.hosts import AllowedHosts
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCaller
from rubric_ci.values.media import Media
from rubric_ci.values.report import Responder
from rubric_ci.values.results import Answer, Assessment
from rubric_ci.values.scoring import DEFAULT_THRESHOLDS, Thresholds
from rubric_ci.values.targets import Endpoint, Target
from rubric_ci.values.usage import NOTHING_USED, Accounts, Usage

if TYPE_CHECKING:
    from asyncio import Lock


Dependencies: TypeAlias = Callable[[EvalCase, Target], str | None]
"""The digest of the files that an answer depends on; None: their content is not known."""


class JudgementCache(Protocol):
    """Valid replies of judges and answers of targets, persistent between runs."""

    def get(self, key: str) -> str | None:
        """Return the cached text, or None."""

    def put(self, key: str, text: str) -> None:
        """Cache a valid reply or an answer."""

    def clear(self) -> None:
        """Delete everything."""

    def is_empty(self) -> bool:
        """Return True if there is no entry."""


class AnswerRecording(Protocol):
    """Answers of programs in a recording: written, or read in place of a start."""

    @property
    def replays(self) -> bool:
        """True if answers are read, False if they are written."""

    @property
    def answers(self) -> Mapping[str, JSON]:
        """The recorded answers by key; none while they are written."""

    def keep_answer(self, key: str, about: str, answer: Mapping[str, JSON]) -> None:
        """Record an answer, or what was done before a failure."""


class RunningService(Protocol):
    @property
    def endpoint(self) -> Endpoint:
        """How it is asked, at the port that was chosen."""

    def why_ended(self) -> str:
        """Return how it ended; empty: it runs."""


class Services(Protocol):
    """The services that a run starts, one for each target and side."""

    async def running(self, target: Target, context: "RunContext") -> RunningService:
        """Return the service of the context's side, started if need be; raises NoVerdict."""

    def has_failed(self, name: str) -> bool:
        """Return True if the service of this name did not get ready at the head."""

    async def gets_ready(self, target: Target, context: "RunContext") -> bool:
        """Return True for a service that gets ready on the context's side, started if need be."""

    def logging_to(self, folder: Path) -> "Services":
        """Return services whose output is kept in another folder."""

    def close(self) -> None:
        """End all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The state of the repository that answers: the checkout, or the base of a change."""

    is_base: bool = False  # the base of a change
    root: Callable[[], Path] | None = None  # where commands run; None: the root of the context
    read: Callable[[str], bytes | None] | None = None  # recorded answers; None: the working tree
    reuse: bool = False  # cached answers are used
    is_compared: bool = False  # with a base, whose answers are looked up under the same keys
    dependencies: Dependencies | None = None  # None: answers are not cached
    recordings: MutableMapping[str, Mapping[tuple[str, str], Answer]] = field(
        default_factory=dict, repr=False, compare=False
    )  # recorded answers that were read, by the name of their file
    given: MutableMapping[tuple[tuple[str, str], int], Answer] = field(
        default_factory=dict, repr=False, compare=False
    )  # answers that are marked by two rubrics, by case and trial


class Prepared:
    """Assessments of cached marks that the estimate of the cost made; the run uses each once."""

    def __init__(self) -> None:
        # The case and the evaluator are kept as well, so that their identities stay theirs.
        self._found: dict[
            tuple[int, int, int, str], tuple[EvalCase, EvaluatorSpec, Answer, Assessment]
        ] = {}

    def keep(
        self, case: EvalCase, spec: EvaluatorSpec, trial: int, answer: Answer, found: Assessment
    ) -> None:
        self._found[id(case), id(spec), trial, answer.text] = (case, spec, answer, found)

    def take(
        self, case: EvalCase, spec: EvaluatorSpec, trial: int, answer: Answer
    ) -> Assessment | None:
        """Return a kept assessment and drop it, or return None."""
        name = id(case), id(spec), trial, answer.text
        _, _, judged, found = self._found.pop(name, (None, None, None, None))
        return found if judged == answer else None  # of another target, it may have other messages


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPrice:
    """The price of one start of a target's program."""

    target: str  # its name
    counts: bool = True  # as a call; False: only the cost that it reports counts, afterwards
    most: float | None = None  # dollars; None: not known
    obeys: bool = False  # it stays within the dollars that it is given, and says what it used


Start: TypeAlias = Callable[[float | None], Awaitable[Answer]]
"""Start a program that may use so many dollars; None: without a limit."""


async def _without_caps(_: StartPrice, start: Start) -> Answer:
    return await start(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The money and time that a run may still use, and the models that can be reached."""

    spend: Callable[[StartPrice, Start], Awaitable[Answer]] = field(default=_without_caps)
    """Start a program if it fits the caps of `call_model`; raises OverBudget."""
    spent: Callable[[], Usage] = field(default=lambda: NOTHING_USED)
    """The usage of all requests and starts so far."""
    needs_prices: bool = False  # requests are sent under a cap in dollars
    max_seconds: float | None = None  # of the run; None: no limit
    started: float | None = None  # by time.monotonic, when they begin; None: with the grading
    unreachable: Callable[[Endpoint], str] = field(default=lambda _: "")
    """Why a model is requested no further; empty: it is requested."""
    preflight: Callable[[Endpoint], Coroutine[Any, Any, None]] | None = None
    """Find out if a model is unreachable; None: nothing is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The findings of a run for its report, besides the results; all of it grows during the run."""

    notes: Sequence[str] = ()
    left_out: MutableMapping[str, str] = field(default_factory=dict)
    """Why files of the repository are in no workspace."""
    pictures: MutableMapping[str, Media] = field(default_factory=dict, repr=False, compare=False)
    """Images and documents of cases and answers, by the names of their copies."""
    accounts: Accounts = field(default_factory=Accounts, repr=False, compare=False)
    responders: Callable[[], tuple[Responder, ...]] = field(default=lambda: ())
    """The models that replied so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """The dependencies of every target and evaluator of a run."""

    call_model: ModelCaller  # live, recorded or replayed; enforces the budget
    root: Path  # of the repository
    environment: Mapping[str, str]
    judge: JudgeConfig | None = None
    hosts: AllowedHosts | None = None  # of requests; None: every host
    cache: JudgementCache | None = None  # None: every judgement is requested
    recording: AnswerRecording | None = None  # None: nothing is recorded or replayed
    fresh_judgements: bool = False  # every judgement is requested, and cached for other runs
    allowance: Allowance = field(default_factory=Allowance)
    services: Services | None = None  # None: no service is started
    offline: bool = False  # no model is requested and no command target is started
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    side: Side = field(default_factory=Side)
    trial: int = 0  # number of the first answer, from 0; judgements are cached per trial
    variants: bool = False  # from the second answer on, the message ends in other blanks
    folders: ExitStack | None = None  # of answers that are marked again; None: no answer is
    found: Findings = field(default_factory=Findings)
    in_flight: "MutableMapping[str, Lock]" = field(default_factory=dict)  # by cache key
    prepared: Prepared = field(default_factory=Prepared)
    sends: bool = True  # False: judges are asked nothing, and the requests are counted

    @property
    def replays(self) -> bool:
        """True if nothing is started or requested: answers and replies are recorded ones."""
        return self.recording is not None and self.recording.replays

    def for_trial(self, number: int) -> "RunContext":
        """Return the context of a trial; itself if that is the number."""
        return self if number == self.trial else replace(self, trial=number)


def by_judge(*, sends: bool = True) -> Callable[[RunContext, JudgeConfig | None], RunContext]:
    """Return the context of a judge: one for all tasks of a side that have the same one."""
    known: dict[tuple[int, int], tuple[RunContext, RunContext]] = {}

    def own(context: RunContext, judge: JudgeConfig | None) -> RunContext:
        if judge is None:
            return context
        if (name := (id(judge), id(context))) not in known:
            known[name] = context, replace(context, judge=judge, sends=sends)
        return known[name][1]  # it keeps the judge, so that the ids stay theirs

    return own
