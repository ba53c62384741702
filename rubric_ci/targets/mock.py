"""Mock targets: one fixed answer to every case."""

from rubric_ci.model.config import MockTarget
from rubric_ci.model.results import Answer


def answer(target: MockTarget) -> Answer:
    """Return the configured response."""
    return Answer(text=target.response)
