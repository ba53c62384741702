"""Images and documents in the formats of the providers' requests."""

import hashlib
from base64 import b64encode
from typing import Any, TypeAlias

from rubric_ci.errors import CannotReadFile, FailureScope
from rubric_ci.models.llm.retry import RequestError
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ChatMessage
from rubric_ci.values.media import Media

Block: TypeAlias = dict[str, Any]


class UnreadableFile(RequestError):
    """An image of a request cannot be read: nothing is sent, and other requests may be."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False, billed=False, reached=False)

    @property
    def scope(self) -> FailureScope:
        """The part that failed: this request."""
        return "request"


def openai_content(message: ChatMessage) -> JSON:
    """Return the content of a message in OpenAI's chat format.

    https://platform.openai.com/docs/api-reference/chat/create
    """
    return [_openai_block(part) for part in message.parts] or message.content


def _openai_block(part: str | Media) -> Block:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    url = f"data:{part.type};base64,{_encoded(part)}"
    if part.is_image:
        return {"type": "image_url", "image_url": {"url": url}}
    name = part.path.rpartition("/")[2]
    return {"type": "file", "file": {"filename": name, "file_data": url}}


def anthropic_content(message: ChatMessage) -> JSON:
    """Return the content of a message in the format of Anthropic's Messages API.

    https://platform.claude.com/docs/en/api/messages
    """
    return [_anthropic_block(part) for part in message.parts] or message.content


def _anthropic_block(part: str | Media) -> Block:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    source = {"type": "base64", "media_type": part.type, "data": _encoded(part)}
    return {"type": part.kind, "source": source}


def gemini_parts(message: ChatMessage) -> list[Block]:
    """Return the parts of a message in the format of `generateContent`.

    https://ai.google.dev/api/caching#Part
    """
    return [_gemini_part(part) for part in message.parts or (message.content,)]


def _gemini_part(part: str | Media) -> Block:
    if isinstance(part, str):
        return {"text": part}
    return {"inlineData": {"mimeType": part.type, "data": _encoded(part)}}


def _encoded(media: Media) -> str:
    """Return the bytes in base64; raises RequestError if the file is not what the case has."""
    try:
        return b64encode(content(media)).decode("ascii")
    except CannotReadFile as error:
        raise UnreadableFile(error.message) from error


def content(media: Media) -> bytes:
    """Return the bytes; raises CannotReadFile if their digest is another one now."""
    data = media.read()
    if hashlib.sha256(data).hexdigest() != media.digest:
        raise CannotReadFile(f"{media.path} has changed since the run began", "run again")
    return data
