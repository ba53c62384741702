"""Messages and their parts, the turns of a conversation and the user who writes them."""

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeGuard

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import Media
from rubric_ci.values.written_keys import Key

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
MAX_TURNS: Final = 10
_PARTS: Final[dict[str, Any]] = {"if": {"type": "array"}, "then": {"$ref": "#/$defs/parts"}}


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text as written in the eval file."""

    text: str


@dataclass(frozen=True, slots=True)
class FilePart:
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
    media: Media

    @property
    def path(self) -> str:
        return self.media.path

    @property
    def text(self) -> str:
        """The name that stands for it wherever only text can be: `[image: shots/cart.png]`."""
        return self.media.name


Part: TypeAlias = TextPart | FilePart | DataPart | MediaPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Annotated[Role, Key("user")]
    """Role of the speaker."""
    parts: Annotated[  # empty when there are tool calls only
        tuple[Part, ...],
        Key(
            "Explain how quicksort works",
            [{"type": "file", "value": "prompts/task.md"}],
            name="content",
            type=["string", "object", "array"],
            **_PARTS,
        ),
    ] = ()
    """Text, an object (a structured answer), or a list of text, file and image parts."""
    name: Annotated[str, Key("search", type="string", default="")] = ""
    """Name of the speaker, if several share a role."""
    tool_calls: Annotated[
        tuple[Mapping[str, JSON], ...],
        Key(
            [{"tool": "search", "input": {"query": "quicksort"}}],
            minItems=1,
            items={"$ref": "#/$defs/toolCall"},
        ),
    ] = ()
    """Tools that this message calls. With it, `content` is optional."""
    in_list: bool = False  # the file lists the parts, even if there is only one

    @property
    def text(self) -> str:
        """All parts but guidelines as one text, separated by blank lines."""
        return "\n\n".join([part.text for part in self.parts if not _is_guideline(part)])

    @property
    def media(self) -> tuple[Media, ...]:
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

    text: Annotated[
        str,
        Key(
            "I want to return my brake pads",
            name="input",
            type=["string", "array"],
            **_PARTS,
            **{"else": {"pattern": "\\S"}},
        ),
    ]
    """Message of the user: a text, or a list of parts."""
    expected_outcome: Annotated[str, Key("Asks for the number of the order")] = ""
    """Description of a good answer to this message. The judge of this turn sees it."""
    parts: tuple[Part, ...] = ()  # of a message that is a list of them; `text` is their text


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedUser:
    """A model that writes the messages of a user, after the scripted turns."""

    persona: Annotated[str, Key("An impatient customer who answers in half sentences")]
    """Who the user is, and how they write."""
    goal: Annotated[str, Key("Return the brake pads of order 4711, bought on 2 March")]
    """Goal of the user, with the facts that they know."""
    end: Annotated[str, Key("The shop says whether the pads can be returned")] = ""
    """When the conversation ends. Without it, when the user has what they want, or it is clear that
    they will not get it."""
    max_turns: Annotated[int, Key(6, title="Maximum of turns", minimum=1, maximum=100)] = MAX_TURNS
    """Number of turns after which the conversation ends in any case, `turns` included."""
    model: Annotated[str, Key("openai/gpt-6-luna")] = ""
    """Model that plays the user. Without it, the model of the judge."""
