"""Replies and answers in a JSON Lines file: recorded, or replayed; and the debug log."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import TextIO

from rubric_ci.errors import CannotReachModel, CannotReadFile, NoVerdict
from rubric_ci.models.llm.media import media_facts, read_media
from rubric_ci.system import file_io
from rubric_ci.system.masking import redact
from rubric_ci.text import escape
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelCaller, ModelReply
from rubric_ci.values.trace import Finish

_FINISHES: Mapping[str, Finish] = {"stop": "stop", "length": "length", "refusal": "refusal"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Replies and answers by their keys, a line each: written, or given in place of new ones."""

    path: Path
    replays: bool
    replies: Mapping[str, list[ModelReply]] = field(default_factory=dict)
    answers: Mapping[str, JSON] = field(default_factory=dict)  # of programs

    def wrap(self, ask: ModelCaller) -> ModelCaller:
        """Return the caller; each reply is appended as one line."""

        async def ask_and_record(call: ModelCall) -> ModelReply:
            reply = await ask(call)
            facts = {
                "model": call.endpoint.model,
                "text": reply.text,
                "finish": reply.finish,
                "usage": asdict(reply.usage),
                **media_facts(reply.media, with_bytes=False),
                **({"calls": list(reply.calls)} if reply.calls else {}),
            }
            self._append(call.key, call.about, facts)
            return reply

        return ask_and_record

    async def ask(self, call: ModelCall) -> ModelReply:
        """Return the recorded reply; raises CannotReachModel.

        Replies that were recorded under one key are given in order, the last one repeatedly.
        """
        known = self.replies.get(call.key)
        if known is None:
            raise CannotReachModel(
                f"{self.path}: no recorded reply to this request "
                f"({call.about or call.key[:12]}); "
                "record again with --record: the case, the answer, the judge or the prompt changed"
            )
        return known.pop(0) if len(known) > 1 else known[0]

    def keep_answer(self, key: str, about: str, answer: Mapping[str, JSON]) -> None:
        """Append the answer of a program, as a line of the form of replies."""
        self._append(key, about, {"text": answer["text"], "finish": "stop", "answer": answer})

    def _append(self, key: str, about: str, facts: Mapping[str, JSON]) -> None:
        line = json.dumps({"key": key, "about": about, **facts})
        with file_io.writing(self.path, "the recording"):
            file_io.append(self.path, f"{line}\n".encode())


def record(path: Path, root: Path) -> Recording:
    """Return a new recording; raises CannotWriteFile."""
    with file_io.writing(path, "the recording"):
        file_io.write_within(path, b"", root)
    return Recording(path=path, replays=False)


def replay(path: Path, root: Path) -> Recording:
    """Return a recording that was written before; raises CannotReadFile."""
    try:
        lines = file_io.read_given(path, root).decode().split("\n")
    except (CannotReadFile, UnicodeDecodeError) as error:
        reason = error.reason if isinstance(error, CannotReadFile) else "it is not UTF-8"
        raise CannotReadFile(
            f"{path}: cannot read the recording: {reason}",
            "create one with --record FILE, or run without --replay",
        ) from error
    replies: dict[str, list[ModelReply]] = defaultdict(list)
    answers: dict[str, JSON] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            key = str(value["key"])
            replies[key].append(_reply(value))
        except (ValueError, KeyError, TypeError) as error:
            raise CannotReadFile(
                f"{path}:{number}: not a recorded reply", "record again with --record FILE"
            ) from error
        if "answer" in value:
            answers[key] = value["answer"]
    return Recording(path=path, replays=True, replies=replies, answers=answers)


def _reply(value: Mapping[str, JSON]) -> ModelReply:
    # The recorded usage is not used: a replayed reply costs nothing.
    return ModelReply(
        text=value["text"] + "",
        finish=_FINISHES[value["finish"]],
        media=read_media(value),
        calls=tuple(value.get("calls", ())),
    )


def log_requests(ask: ModelCaller, stream: TextIO) -> ModelCaller:
    """Return a caller that writes each request and its reply or error.

    No line can be a workflow command: each begins with the number of its request.
    """
    sent = 0

    async def ask_and_log(call: ModelCall) -> ModelReply:
        nonlocal sent
        sent += 1
        number = sent
        _write(stream, number, _request(call))
        try:
            reply = await ask(call)
        except NoVerdict as error:
            _write(stream, number, [f"error: {error}"])
            raise
        used = reply.usage
        facts = f"{used.input_tokens} + {used.output_tokens} tokens, finish {reply.finish}"
        _write(stream, number, [f"reply: {facts}", reply.text])
        return reply

    return ask_and_log


def _request(call: ModelCall) -> Iterator[str]:
    yield f"request to {call.endpoint.model} ({call.about})"
    if call.output_schema is not None:
        yield f"schema: {json.dumps(call.output_schema)}"
    for message in call.messages:
        yield f"{message.role}: {message.content}"


def _write(stream: TextIO, number: int, parts: Iterable[str]) -> None:
    for part in parts:
        for line in redact(part).splitlines():
            print(f"[debug {number}] {escape.log_line(line)}", file=stream, flush=True)
