"""Replies and answers in a JSON Lines file: recorded, or replayed; and the debug log."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from rubric_ci.errors import CannotReachModel, CannotReadFile, NoVerdict
from rubric_ci.system import file_io
from rubric_ci.system.masking import redact
from rubric_ci.text import escape
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelCaller, ModelReply
from rubric_ci.values.media import Media
from rubric_ci.values.trace import Finish

_FINISHES: Mapping[str, Finish] = {"stop": "stop", "length": "length", "refusal": "refusal"}


def record(ask: ModelCaller, path: Path, root: Path) -> ModelCaller:
    """Return an Ask that appends every reply to a new file, as one line."""
    file_io.check_place(path.parent, root)
    with file_io.writing(path, "the recording"):
        file_io.create_folder(path.parent)
        file_io.empty_file(path)

    async def ask_and_record(call: ModelCall) -> ModelReply:
        reply = await ask(call)
        _append(path, _of_reply(call, reply))
        return reply

    return ask_and_record


def replay(path: Path, root: Path) -> ModelCaller:
    """Return an Ask that answers from a recording only; raises CannotReachModel.

    Replies that were recorded under one key are given in order, the last one repeatedly.
    """
    replies = _read(path, root)

    async def ask(call: ModelCall) -> ModelReply:
        known = replies.get(call.key)
        if known is None:
            raise CannotReachModel(
                f"{path}: no recorded reply to this request ({call.about or call.key[:12]}); "
                "record again with --record: the case, the answer, the judge or the prompt changed"
            )
        return known.pop(0) if len(known) > 1 else known[0]

    return ask


def _of_reply(call: ModelCall, reply: ModelReply) -> dict[str, JSON]:
    return {
        "key": call.key,
        "about": call.about,
        "model": call.endpoint.model,
        "text": reply.text,
        "finish": reply.finish,
        "usage": asdict(reply.usage),
        **media_facts(reply.media, with_bytes=False),
        **({"calls": list(reply.calls)} if reply.calls else {}),
    }


def _append(path: Path, line: Mapping[str, JSON]) -> None:
    with file_io.writing(path, "the recording"):
        file_io.append(path, f"{json.dumps(line)}\n".encode())


def media_facts(media: Sequence[Media], *, with_bytes: bool) -> dict[str, JSON]:
    """Return the images and documents of a reply or an answer as JSON; nothing without any."""
    if not media:
        return {}
    from rubric_ci.models.llm.reply_media import kept  # few replies have one

    return {"media": kept(media, with_bytes=with_bytes)}


def read_media(line: Mapping[str, JSON]) -> tuple[Media, ...]:
    """Return the images and documents that `media_facts` wrote."""
    if "media" not in line:
        return ()
    from rubric_ci.models.llm.reply_media import read_back

    return read_back(line["media"])


def _lines(path: Path, root: Path) -> list[str]:
    try:
        return file_io.read_given(path, root).decode().split("\n")
    except (CannotReadFile, UnicodeDecodeError) as error:
        reason = error.reason if isinstance(error, CannotReadFile) else "it is not UTF-8"
        raise CannotReadFile(
            f"{path}: cannot read the recording: {reason}",
            "create one with --record FILE, or run without --replay",
        ) from error


def _read(path: Path, root: Path) -> dict[str, list[ModelReply]]:
    replies: dict[str, list[ModelReply]] = defaultdict(list)
    for number, line in enumerate(_lines(path, root), 1):
        if line.strip():
            key, reply = _parse(path, number, line)
            replies[key].append(reply)
    return replies


def _parse(path: Path, number: int, line: str) -> tuple[str, ModelReply]:
    # The recorded usage is not used: a replayed reply costs nothing.
    try:
        value = json.loads(line)
        return str(value["key"]), ModelReply(
            text=value["text"] + "",
            finish=_FINISHES[value["finish"]],
            media=read_media(value),
            calls=tuple(value.get("calls", ())),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CannotReadFile(
            f"{path}:{number}: not a recorded reply", "record again with --record FILE"
        ) from error


def recorded_answers(path: Path, root: Path) -> dict[str, JSON]:
    """Return the answers of programs in a recording, by their keys, as they were written."""
    found: dict[str, JSON] = {}
    for line in _lines(path, root):
        value = json.loads(line) if line.strip() else {}
        if "answer" in value:
            found[str(value["key"])] = value["answer"]
    return found


def append_answer(path: Path, key: str, about: str, answer: Mapping[str, JSON]) -> None:
    """Append the answer of a program, as a line of the form of replies."""
    fields = {"text": answer["text"], "finish": "stop", "answer": answer}
    _append(path, {"key": key, "about": about, **fields})


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
        _write(stream, number, _reply(reply))
        return reply

    return ask_and_log


def _request(call: ModelCall) -> Iterator[str]:
    yield f"request to {call.endpoint.model} ({call.about})"
    if call.output_schema is not None:
        yield f"schema: {json.dumps(call.output_schema)}"
    for message in call.messages:
        yield f"{message.role}: {message.content}"


def _reply(reply: ModelReply) -> Iterator[str]:
    used = reply.usage
    yield f"reply: {used.input_tokens} + {used.output_tokens} tokens, finish {reply.finish}"
    yield reply.text


def _write(stream: TextIO, number: int, parts: Iterable[str]) -> None:
    for part in parts:
        for line in redact(part).splitlines():
            print(f"[debug {number}] {escape.log_line(line)}", file=stream, flush=True)
