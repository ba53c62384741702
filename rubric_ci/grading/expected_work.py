"""Expected requests of one side of a run: its tasks, without cached results."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import assert_never

from rubric_ci.errors import CannotReachModel, NoVerdict
from rubric_ci.evaluators.llm_judge import llm_judge
from rubric_ci.evaluators.rubric import for_judges, rubric
from rubric_ci.grading.resolve import Task
from rubric_ci.model.config import (
    CliTarget,
    Endpoint,
    JudgeConfig,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    RunnerTarget,
    UnsupportedTarget,
)
from rubric_ci.model.context import JudgementCache, RunContext
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.evals import EvalCase, LlmJudgeSpec, RubricSpec
from rubric_ci.model.llm_calls import ModelCall, ModelReply
from rubric_ci.model.results import Answer
from rubric_ci.targets import answer_cache, mock, recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedWork:
    """The tasks of one side of a run, and the context that they will be graded in."""

    tasks: Sequence[Task]
    context: RunContext
    trials: int = 1
    name: str = ""  # "base "; empty: the head
    _contexts: "dict[tuple[int, int], tuple[_KnownOnly, RunContext]]" = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def answer(self, task: Task, trial: int) -> Answer | None:
        """Return an answer that is at hand: recorded, fixed or in the cache."""
        match task.target:
            case RecordedTarget() as target:
                try:
                    return recorded.answer(task.case, target, self.context)
                except NoVerdict:
                    return None
            case MockTarget() as target:
                return mock.answer(task.case, target)
            case LlmTarget() | CliTarget() as target:
                return answer_cache.find(task.case, target, self.context.of_trial(trial))
            case RunnerTarget() | UnsupportedTarget():
                return None
            case _:
                assert_never(task.target)

    async def requests(
        self, task: Task, judge: JudgeConfig, spec: RubricSpec | LlmJudgeSpec, trial: int
    ) -> Sequence[Endpoint] | None:
        """Return the model of each judge request that the cache leaves; None: of all of them."""
        cache = self.context.cache
        if cache is None or self.context.fresh_judgements:
            return None
        answer = self.answer(task, trial)
        if answer is None or (isinstance(spec, LlmJudgeSpec) and spec.prompt_script):
            return None  # a script is not run for an estimate
        known, dry = self._dry(cache, judge, trial)
        return await _not_cached(task.case, spec, answer, dry, known)

    def _dry(
        self, cache: JudgementCache, judge: JudgeConfig, trial: int
    ) -> tuple["_KnownOnly", RunContext]:
        """Return a context without requests: one for all tasks with the same judge."""
        name = id(judge), trial
        if name not in self._contexts:
            known = _KnownOnly(cache)
            self._contexts[name] = (
                known,
                replace(
                    self.context,
                    call_model=known.refuse,
                    cache=known,
                    in_flight={},
                    judge=judge,
                    trial=trial,
                ),
            )
        return self._contexts[name]


class _KnownOnly:
    """A cache for marks without requests: what it lacks is noted, and ends the judgement."""

    def __init__(self, cache: JudgementCache) -> None:
        self._cache = cache
        self.lacking: list[Endpoint] = []

    def get(self, key: str) -> str | None:
        return self._cache.get(key)

    def put(self, key: str, text: str) -> None:
        self._cache.put(key, text)

    def clear(self) -> None:
        self._cache.clear()

    async def refuse(self, call: ModelCall) -> ModelReply:
        """Note a request whose reply is not in the cache, or is not valid."""
        self.lacking.append(call.endpoint)
        raise CannotReachModel("it is noted, not sent")


async def _not_cached(
    case: EvalCase,
    spec: RubricSpec | LlmJudgeSpec,
    answer: Answer,
    dry: RunContext,
    known: _KnownOnly,
) -> Sequence[Endpoint]:
    """Let the judge mark from the cache only, and return the model of each request it would send.

    What needs none is kept for the run.
    """
    known.lacking.clear()
    with suppress(NoVerdict):
        if isinstance(spec, LlmJudgeSpec):
            found = await llm_judge(case, for_judges(answer), spec, dry)
        else:
            found = await rubric(case, answer, spec, dry)
        if not known.lacking:
            dry.found.keep(case, spec, dry.trial, answer.text, found)
    return tuple(known.lacking)
