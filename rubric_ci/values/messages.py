"""Messages and their parts, the turns of a conversation and the user who writes them."""

import json
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias, TypeGuard

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import Media

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
MAX_TURNS: Final = 10


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text as written in the eval file."""

    text: str


@dataclass(frozen=True, slots=True)
class FilePart:
    """The text of a file of the repository."""

    path: str  # relative to the repository root, forward slashes
    text: str
    guideline: bool = False  # matches `guideline_patterns` of `.agentv/config.yaml`


@dataclass(frozen=True, slots=True)
class DataPart:
    """Structured content: a JSON object or list."""

    data: JSON

    @property
    def text(self) -> str:
        """The value as indented JSON, keys in the order of the file."""
        return json.dumps(self.data, ensure_ascii=False, indent=2)


@dataclass(frozen=True, slots=True)
class MediaPart:
    """An image, or a document."""

    media: Media

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.media.path

    @property
    def text(self) -> str:
        """The name that stands for it wherever only text can be: `[image: shots/cart.png]`."""
        return self.media.name


Part: TypeAlias = TextPart | FilePart | DataPart | MediaPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: Role
    parts: tuple[Part, ...] = ()  # empty when there are tool calls only
    name: str = ""
    tool_calls: tuple[Mapping[str, JSON], ...] = ()
    in_list: bool = False  # the file lists the parts, even if there is only one

    @property
    def text(self) -> str:
        """All parts but guidelines as one text, separated by blank lines."""
        return "\n\n".join(part.text for part in self.parts if not _is_guideline(part))

    @property
    def media(self) -> tuple[Media, ...]:
        """The images and documents, in order."""
        return media_in(self.parts)

    @property
    def is_guideline(self) -> bool:
        """Whether the message has guidelines and nothing else."""
        return bool(self.parts) and all(map(_is_guideline, self.parts)) and not self.tool_calls


def is_input_file(part: Part) -> TypeGuard[FilePart | MediaPart]:
    """Return True for a file of the question: not for a guideline, nor for written text."""
    return isinstance(part, MediaPart) or (isinstance(part, FilePart) and not part.guideline)


def media_in(parts: Iterable[Part]) -> tuple[Media, ...]:
    """Return the images and documents among parts, in order."""
    return tuple([part.media for part in parts if isinstance(part, MediaPart)])


def _is_guideline(part: Part) -> bool:
    return isinstance(part, FilePart) and part.guideline


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message of the scripted user; the rubric of its answer is among the evaluators."""

    text: str
    expected_outcome: str = ""
    parts: tuple[Part, ...] = ()  # of a message that is a list of them; `text` is their text


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedUser:
    """A model that writes the messages of a user, after the scripted turns."""

    persona: str
    goal: str
    end: str = ""  # when the conversation ends; "": when the goal is reached or out of reach
    max_turns: int = MAX_TURNS  # of the conversation, with the scripted ones
    model: str = ""  # replaces the configured judge's model
