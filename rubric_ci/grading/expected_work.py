"""Expected requests of one side of a run: its tasks, without cached results."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import assert_never

from rubric_ci.errors import NoVerdict
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
from rubric_ci.model.context import RunContext
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.evals import EvalCase, LlmJudgeSpec, RubricSpec
from rubric_ci.model.results import Answer
from rubric_ci.targets import answer_cache, recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedWork:
    """The tasks of one side of a run, and the context that they will be graded in."""

    tasks: Sequence[Task]
    context: RunContext
    trials: int = 1
    name: str = ""  # "base "; empty: the head
    _contexts: dict[tuple[int, int], RunContext] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _lacking: list[Endpoint] = field(default_factory=list, init=False, repr=False, compare=False)

    def without_empty_cache(self) -> "ExpectedWork":
        """Return the work without a cache in which there is nothing to look up."""
        cache = self.context.cache
        if cache is None or not cache.is_empty():
            return self
        return replace(self, context=replace(self.context, cache=None))

    def answer(self, task: Task, trial: int) -> Answer | None:
        """Return an answer that is at hand: recorded, fixed or in the cache."""
        match task.target:
            case RecordedTarget() as target:
                try:
                    return recorded.answer(task.case, target, self.context)
                except NoVerdict:
                    return None
            case MockTarget() as target:
                return recorded.fixed_answer(task.case, target)
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
        if self.context.cache is None or self.context.fresh_judgements:
            return None
        answer = self.answer(task, trial)
        if answer is None or (isinstance(spec, LlmJudgeSpec) and spec.prompt_script):
            return None  # a script is not run for an estimate
        lacking = self._lacking
        lacking.clear()
        await _keep_cached(task.case, spec, answer, self._dry(judge, trial))
        return tuple(lacking)

    def _dry(self, judge: JudgeConfig, trial: int) -> RunContext:
        """Return a context without requests: one for all tasks with the same judge."""
        name = id(judge), trial
        if name not in self._contexts:
            self._contexts[name] = replace(
                self.context, judge=judge, trial=trial, lacking=self._lacking
            )
        return self._contexts[name]


async def _keep_cached(
    case: EvalCase, spec: RubricSpec | LlmJudgeSpec, answer: Answer, dry: RunContext
) -> None:
    """Let the judge mark from the cache only; keep for the run what needs no request."""
    with suppress(NoVerdict):
        if isinstance(spec, LlmJudgeSpec):
            found = await llm_judge(case, for_judges(answer), spec, dry)
        else:
            found = await rubric(case, answer, spec, dry)
        if not dry.lacking:
            dry.prepared.keep(case, spec, dry.trial, answer, found)
