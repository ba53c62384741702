"""Estimate of judge requests and their tokens."""

from typing import Final

from rubric_ci.judge.freeform import freeform_messages
from rubric_ci.judge.prompt import rubric_messages
from rubric_ci.judge.voting import grouped, most_per_request
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.evals import EvalCase, LlmJudgeSpec, RubricSpec
from rubric_ci.model.llm_calls import ChatMessage
from rubric_ci.model.results import Answer

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

    def __add__(self, other: "TokenEstimate") -> "TokenEstimate":
        """Sum field by field."""
        if other is NO_REQUESTS:
            return self
        return TokenEstimate(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )

    def of(self, requests: int) -> "TokenEstimate":
        """Return the estimate of this many requests of the same size."""
        each = max(self.requests, 1)
        return TokenEstimate(
            requests=requests,
            input_tokens=self.input_tokens * requests // each,
            output_tokens=self.output_tokens * requests // each,
        )


NO_REQUESTS: Final = TokenEstimate()


def estimate(case: EvalCase, spec: RubricSpec | LlmJudgeSpec, judge: JudgeConfig) -> TokenEstimate:
    """Return the sum of all requests about one answer, without repairs; `auto` is one vote."""
    if isinstance(spec, LlmJudgeSpec):
        messages = freeform_messages(case, Answer(text=""), spec.prompt, fence="")
        return _request(messages, FREEFORM_TOKENS)
    turns = spec.turn or case.most_turns or 1
    groups = grouped(spec.rubric.judged, most_per_request(judge))
    votes = 1 if judge.votes == "auto" else judge.votes
    requests = [
        _request(rubric_messages(case, "", group, fence=""), MARK_TOKENS * len(group), turns)
        for group in groups
    ]
    return sum(requests * votes, NO_REQUESTS)


def request_count(spec: RubricSpec | LlmJudgeSpec, judge: JudgeConfig) -> int:
    """Return how many requests one answer takes, without repairs; `auto` counts as one vote."""
    if isinstance(spec, LlmJudgeSpec):
        return 1
    votes = 1 if judge.votes == "auto" else judge.votes
    return votes * len(grouped(spec.rubric.judged, most_per_request(judge)))


def _request(
    messages: tuple[ChatMessage, ...], output_tokens: int, answers: int = 1
) -> TokenEstimate:
    characters = sum(len(message.content) for message in messages)
    return TokenEstimate(
        requests=1,
        input_tokens=characters // CHARACTERS + answers * ANSWER_TOKENS,
        output_tokens=output_tokens,
    )
