"""About how much asking a judge will take, before anything is asked."""

from collections.abc import Iterable
from dataclasses import dataclass

from rubric_ci.judge.freeform import opinion_messages
from rubric_ci.judge.prompt import rubric_messages
from rubric_ci.judge.voting import AT_MOST, grouped
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.evals import EvalCase, EvaluatorSpec, LlmJudgeSpec, RubricSpec, every_evaluator
from rubric_ci.model.llm_calls import ChatMessage
from rubric_ci.model.results import Answer

CHARACTERS = 4  # per token, in English
ANSWER_TOKENS = 300  # of an answer that nobody has seen yet
MARK_TOKENS = 80  # quote, reason and mark of one criterion
OPINION_TOKENS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Requests to a judge, and the tokens that they read and write."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Estimate") -> "Estimate":
        """Sum field by field."""
        return Estimate(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


def estimate(cases: Iterable[EvalCase], judge: JudgeConfig) -> Estimate:
    """Add up one attempt per request; `auto` counts as one vote, caches as empty."""
    parts = (
        _evaluator(case, spec, judge) for case in cases for spec in every_evaluator(case.evaluators)
    )
    return sum(parts, Estimate())


def _evaluator(case: EvalCase, spec: EvaluatorSpec, judge: JudgeConfig) -> Estimate:
    match spec:
        case RubricSpec(rubric=rubric):
            groups = grouped(rubric.criteria, 1 if judge.mode == "isolated" else AT_MOST)
            votes = 1 if judge.votes == "auto" else judge.votes
            requests = [
                _request(rubric_messages(case, "", group, fence=""), MARK_TOKENS * len(group))
                for group in groups
            ]
            return sum(requests * votes, Estimate())
        case LlmJudgeSpec(prompt=prompt):
            messages = opinion_messages(case, Answer(text=""), prompt, fence="")
            return _request(messages, OPINION_TOKENS)
        case _:
            return Estimate()


def _request(messages: tuple[ChatMessage, ...], output_tokens: int) -> Estimate:
    characters = sum(len(message.content) for message in messages)
    return Estimate(
        requests=1,
        input_tokens=characters // CHARACTERS + ANSWER_TOKENS,
        output_tokens=output_tokens,
    )
