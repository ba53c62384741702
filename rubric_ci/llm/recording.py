"""Keeps every model reply in a JSON Lines file, or answers from one without any network."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from rubric_ci.errors import CannotReachModel, CannotReadFile, CannotWriteFile
from rubric_ci.model.llm_calls import Ask, Finish, ModelCall, ModelReply
from rubric_ci.system import confined

_FINISHES: Mapping[str, Finish] = {"stop": "stop", "length": "length", "refusal": "refusal"}


def record(ask: Ask, path: Path) -> Ask:
    """Return an Ask that adds every reply to a fresh file, whole lines at a time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        confined.empty_file(path)
    except OSError as error:
        raise _cannot_write(path, error) from error

    async def asked(call: ModelCall) -> ModelReply:
        reply = await ask(call)
        _append(path, call, reply)
        return reply

    return asked


def replay(path: Path) -> Ask:
    """Return an Ask that knows the replies of a recording and nothing else.

    A key that was recorded several times answers in the order of the file, its last reply as
    often as it is asked for.
    """
    replies = _read(path)

    async def asked(call: ModelCall) -> ModelReply:
        known = replies.get(call.key)
        if known is None:
            raise CannotReachModel(
                f"{path}: no recorded reply to this request ({call.about or call.key[:12]}); "
                "record again with --record: the case, the answer, the judge or the prompt changed"
            )
        return known.pop(0) if len(known) > 1 else known[0]

    return asked


def _append(path: Path, call: ModelCall, reply: ModelReply) -> None:
    line = {
        "key": call.key,
        "about": call.about,
        "model": call.endpoint.model,
        "text": reply.text,
        "finish": reply.finish,
        "usage": asdict(reply.usage),
    }
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise _cannot_write(path, error) from error


def _read(path: Path) -> dict[str, list[ModelReply]]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotReadFile(
            f"{path}: cannot read the recording: {getattr(error, 'strerror', '') or error}",
            "make one with --record FILE, or leave --replay out",
        ) from error
    replies: dict[str, list[ModelReply]] = defaultdict(list)
    for number, line in enumerate(lines, 1):
        if line.strip():
            key, reply = _parse(path, number, line)
            replies[key].append(reply)
    return replies


def _parse(path: Path, number: int, line: str) -> tuple[str, ModelReply]:
    # Usage stays in the file: a replayed reply costs nothing.
    try:
        value = json.loads(line)
        return str(value["key"]), ModelReply(
            text=value["text"] + "", finish=_FINISHES[value["finish"]]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CannotReadFile(
            f"{path}:{number}: not a recorded reply", "record again with --record FILE"
        ) from error


def _cannot_write(path: Path, error: OSError) -> CannotWriteFile:
    return CannotWriteFile(f"{path}: cannot write the recording: {error.strerror}")
