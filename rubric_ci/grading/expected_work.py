"""What one side of a run still has to ask for: its tasks, less what the caches hold."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import assert_never

from rubric_ci.errors import CannotReachModel, NoVerdict
from rubric_ci.evaluators.llm_judge import llm_judge
from rubric_ci.evaluators.rubric import rubric
from rubric_ci.grading.task import Task
from rubric_ci.model.config import (
    CliTarget,
    JudgeConfig,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    UnsupportedTarget,
)
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import LlmJudgeSpec, RubricSpec
from rubric_ci.model.llm_calls import ModelCall, ModelReply
from rubric_ci.model.results import Answer
from rubric_ci.system.masking import redact
from rubric_ci.targets import answer_cache, mock, recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedWork:
    """The tasks of one side of a run, and the context that they will be graded in."""

    tasks: Sequence[Task]
    context: RunContext
    trials: int = 1
    name: str = ""  # "base "; empty: the head

    def answer(self, task: Task, trial: int) -> Answer | None:
        """Return an answer that is at hand: recorded, fixed or in the cache."""
        context = replace(self.context, trial=trial)
        match task.target:
            case RecordedTarget() as target:
                try:
                    return recorded.answer(task.case, target, context)
                except NoVerdict:
                    return None
            case MockTarget() as target:
                return mock.answer(target)
            case LlmTarget() | CliTarget() as target:
                return answer_cache.find(task.case, target, context)
            case UnsupportedTarget():
                return None
            case _:
                assert_never(task.target)

    async def requests(
        self, task: Task, judge: JudgeConfig, spec: RubricSpec | LlmJudgeSpec, trial: int
    ) -> int | None:
        """Return how many judge requests the cache leaves; None: all of them."""
        is_cached = self.context.cache is not None and not self.context.fresh_judgements
        answer = self.answer(task, trial) if is_cached else None
        if answer is None or (isinstance(spec, LlmJudgeSpec) and spec.prompt_script):
            return None  # a script is not run for an estimate
        return await _not_cached(task, judge, spec, answer, replace(self.context, trial=trial))


async def _not_cached(
    task: Task,
    judge: JudgeConfig,
    spec: RubricSpec | LlmJudgeSpec,
    answer: Answer,
    context: RunContext,
) -> int:
    """Let the judge mark from the cache only, and count the requests that it would send.

    What needs none is kept for the run.
    """
    sent: list[ModelCall] = []

    async def refuse(call: ModelCall) -> ModelReply:
        sent.append(call)
        raise CannotReachModel("it is counted, not sent")

    dry = replace(context, call_model=refuse, in_flight={}, judge=judge)
    shown = replace(answer, text=redact(answer.text))
    with suppress(NoVerdict):
        if isinstance(spec, LlmJudgeSpec):
            found = await llm_judge(task.case, shown, spec, dry)
        else:
            found = await rubric(task.case, shown, spec, dry)
        if not sent:
            context.found.keep(task.case, spec, context.trial, shown.text, found)
    return len(sent)
