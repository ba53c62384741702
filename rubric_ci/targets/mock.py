"""Mock targets: one fixed answer to every case."""

from rubric_ci.model.config import MockTarget
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.results import Answer
from rubric_ci.targets import conversation


def answer(case: EvalCase, target: MockTarget) -> Answer:
    """Return the configured response, to each turn of a conversation."""
    if case.turns and not target.did:
        return conversation.of_texts(case, [target.response] * len(case.turns))
    return target.did or Answer(text=target.response)
