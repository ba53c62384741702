"""Kept replies and answers: the cache, a file per request; a recording to replay; the debug log."""

import hmac
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, field
from pathlib import Path
from time import time
from typing import TextIO

from rubric_ci.errors import CannotReachModel, CannotReadFile, NoVerdict
from rubric_ci.models.llm.media import media_facts, read_media
from rubric_ci.system import file_io
from rubric_ci.system.output_and_masking import redact
from rubric_ci.text import escape
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelCaller, ModelReply
from rubric_ci.values.trace import Finish

DAY = 86_400.0
ALL = float("-inf")  # seconds that every entry is unused for, whatever the clock says
ABANDONED = 3600.0  # seconds after which the writer of a temporary file is assumed to be gone

ANSWER = ".answer"
BATCH = ".batch"  # the batches that were begun
_KINDS = ("", ANSWER, BATCH)  # end the keys; "": of a judgement, a digest alone

_HINT = (
    "make the folder writable, set RUBRIC_CI_CACHE_DIR to another one, or set RUBRIC_CI_CACHE=false"
)
_ENTRY = re.compile(
    rf"[0-9a-f]{{64}}({'|'.join(map(re.escape, _KINDS))})\.json"
)  # a temporary file has a suffix after it

_FINISHES: Mapping[str, Finish] = {"stop": "stop", "length": "length", "refusal": "refusal"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    kinds: Counter[str] = field(default_factory=Counter)  # entries by the end of their keys
    size: int = 0  # bytes

    @property
    def entries(self) -> int:
        return self.kinds.total()


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of judgements and answers; `actions/cache` can keep it between workflow runs."""

    folder: Path
    seal: bytes = field(default=b"", repr=False)  # the key of the HMAC of each entry
    root: Path | None = None  # the repository: no link may lead the folder out of it

    def prepare(self) -> None:
        """Create the folder; raise CannotWriteFile before any request is sent if that fails."""
        if self.root:
            file_io.check_place(self.folder, self.root)
        with file_io.writing(self.folder, "the cache", _HINT):
            file_io.create_folder(self.folder)

    def get(self, key: str) -> str | None:
        """Return the text under a key and mark it as used now; None if there is none."""
        path = self._path(key)
        try:
            value = json.loads(file_io.read_own(path, shown=path))
        except (CannotReadFile, ValueError):
            return None
        match value:
            case {"text": str(text), "hmac": str(code)} if code == _code(key, text, self.seal):
                with suppress(OSError):  # a read-only cache, or another job has pruned the entry
                    os.utime(path)
                return text
            case _:
                return None

    def put(self, key: str, text: str) -> None:
        """Store a text; of two concurrent writers, the last one wins.

        Raises CannotWriteFile, also if a command has made the folder a link that leads out.
        """
        entry = {"key": key, "hmac": _code(key, text, self.seal), "text": text}
        with file_io.writing(self.folder, "the cache", _HINT):
            path, data = Path(self._path(key)), json.dumps(entry).encode()
            if self.root:
                file_io.write_within(path, data, self.root)
            else:
                file_io.write(path, data)

    def clear(self) -> None:
        self.prune(unused_for=ALL)

    def is_empty(self) -> bool:
        return not any(self._files(".json"))

    def stats(self) -> CacheStats:
        return _stats((path, size) for _, path, size in self._entries())

    def prune(self, *, unused_for: float) -> CacheStats:
        """Delete entries unused for this many seconds; return the size of what was deleted."""
        for draft in self._files(".tmp"):
            with suppress(FileNotFoundError):
                if time() - draft.stat().st_mtime > ABANDONED:
                    draft.unlink()
        latest = time() - unused_for
        deleted = [(path, size) for used, path, size in self._entries() if used < latest]
        for path, _ in deleted:
            path.unlink(missing_ok=True)
        return _stats(deleted)

    def _path(self, key: str) -> str:
        return f"{self.folder}{os.sep}{key[:2]}{os.sep}{key}.json"  # a path per entry

    def _entries(self) -> Iterator[tuple[float, Path, int]]:
        """Yield the time of last use, the path and the size in bytes of each entry."""
        for path in self._files(".json"):
            try:
                status = path.stat()
            except FileNotFoundError:  # pruned by another job
                continue
            yield status.st_mtime, path, status.st_size

    def _files(self, suffix: str) -> Iterator[Path]:
        """Yield files named like entries; the folder may hold other files by mistake."""
        for path in self.folder.glob(f"??/*{suffix}"):
            if _ENTRY.match(path.name) and path.name.startswith(path.parent.name):
                yield path


def _stats(entries: Iterable[tuple[Path, int]]) -> CacheStats:
    found = list(entries)
    return CacheStats(
        kinds=Counter(path.name.removesuffix(".json")[64:] for path, _ in found),
        size=sum(size for _, size in found),
    )


def _code(key: str, text: str, seal: bytes) -> str:
    entry = f"{key}\n{text}".encode("utf-8", "surrogatepass")
    return hmac.digest(seal, entry, "sha256").hex()


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
