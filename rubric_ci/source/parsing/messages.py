"""Messages as written, in all their short forms, to `Message` values."""

from typing import Any

from rubric_ci.model.evals import DataPart, FilePart, Message, Part, Role, TextPart
from rubric_ci.source.parsing.used import UsedFiles


def read_messages(written: Any, role: Role, files: UsedFiles) -> tuple[Message, ...]:
    """Return messages; a bare text or object is one message of the given role."""
    if not isinstance(written, list):
        return (Message(role=role, parts=_parts(written, files)),)
    return tuple(_message(message, files) for message in written)


def _message(message: dict[str, Any], files: UsedFiles) -> Message:
    return Message(
        role=message["role"],
        parts=_parts(message["content"], files) if "content" in message else (),
        name=message.get("name", ""),
        tool_calls=tuple(message.get("tool_calls", ())),
    )


def _parts(content: Any, files: UsedFiles) -> tuple[Part, ...]:
    match content:
        case str():
            return (TextPart(content),)
        case list():
            return tuple(_part(part, files) for part in content)
        case _:
            return (DataPart(content),)


def _part(part: dict[str, str], files: UsedFiles) -> Part:
    if part["type"] == "text":
        return TextPart(part["value"])
    found = files.read(part["value"])
    return FilePart(found.path, found.text)
