"""Mock targets: one fixed answer to every case."""

from rubric_ci.model.config import MockTarget
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.results import Answer
from rubric_ci.targets import conversation
from rubric_ci.text import transcript


def answer(case: EvalCase, target: MockTarget) -> Answer | None:
    """Return the configured response, to each turn of a scripted user.

    A response that is a conversation belongs to the case. None: a simulated user has to be asked.
    """
    if target.did or not case.most_turns or transcript.read(target.response):
        return target.did or Answer(text=target.response)
    if case.simulated_user:
        return None
    return conversation.of_texts(case, [target.response] * len(case.turns))
