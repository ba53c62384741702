"""Answers of commands and agents in a recording, next to the replies of models."""

from dataclasses import replace
from pathlib import Path

from rubric_ci.grading.targets.answer_cache import answer_from, facts_of
from rubric_ci.models.llm.recording import append_answer, recorded_answers
from rubric_ci.values.command_settings import RequestOptions
from rubric_ci.values.context import AnswerRecording
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.results import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The answers of a recording, which replace each start."""

    answers: dict[str, JSON]
    replays: bool = True

    def find(self, key: str) -> Answer | None:
        """Return the recorded answer, or None."""
        found = answer_from(self.answers.get(key))
        return found and replace(found, answered_at="")  # not from the cache

    def keep(self, key: str, about: str, answer: Answer) -> None:
        """Record nothing: the recording is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorder:
    """A recording that is written."""

    path: Path
    replays: bool = False

    def find(self, key: str) -> Answer | None:  # noqa: ARG002 - every answer is asked for
        """Return None: every answer is asked for."""
        return None

    def keep(self, key: str, about: str, answer: Answer) -> None:
        """Append an answer to the recording."""
        append_answer(self.path, key, about, facts_of(answer))


def recording_of(requests: RequestOptions, root: Path) -> AnswerRecording | None:
    """Return the recording to read or to write; None: there is none."""
    if requests.replay:
        return Recorded(answers=recorded_answers(requests.replay, root))
    return Recorder(path=requests.record) if requests.record else None
