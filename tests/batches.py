"""A provider of OpenAI's files and batches, over HTTP: each batch ends as a test says.

A request of a batch is answered by a judge that reads its prompt; a script says what becomes of
each batch, line by line.
"""

import email
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.bodies import chat
from tests.http_server import JsonHandler, serving

Object = dict[str, Any]
Judge = Callable[[Object], str]
"""What the model says to the body of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What a batch comes to: its status, the lines of its two files, and why it failed."""

    status: str = "completed"
    output: Sequence[Object] | None = ()
    errors: Sequence[Object] | None = None
    failure: str = ""


Script = Callable[[Sequence[Object]], Ending]
"""How a batch ends, from its requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What the next request that fits gets instead of an answer; status 0: a dropped connection."""

    method: str
    path: str  # a part of it
    status: int = 500


@dataclass
class Provider:
    """The whole state; tests read it after the fact."""

    judge: Judge
    url: str = ""
    scripts: list[Script] = field(default_factory=list)  # one a batch, the last one for ever
    looks: int = 1  # how often a batch is still in progress when it is looked at
    faults: list[Fault] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    batches: dict[str, Object] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    sent: list[list[Object]] = field(default_factory=list)  # the requests of each batch
    at_step: Callable[[int], None] = lambda _: None  # before the answer to so many requests

    def whole(self, requests: Sequence[Object]) -> Ending:
        """Answer every request."""
        return Ending(output=[self.line(request) for request in requests])

    def line(self, request: Object) -> Object:
        """Answer one request, as a line of an output file does."""
        asked = request["body"]
        return answered(request, 200, chat(self.judge(asked), asked["model"], (1000, 100)))

    def next_script(self) -> Script:
        if not self.scripts:
            return self.whole
        return self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]

    def keep(self, text: str) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = text
        return name

    def begin(self, input_file_id: str) -> Object:
        requests = [json.loads(line) for line in self.files[input_file_id].splitlines()]
        self.sent.append(requests)
        ending = self.next_script()(requests)
        batch: Object = {
            "id": f"batch_{len(self.batches) + 1}",
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": input_file_id,
            "completion_window": "24h",
            "created_at": 1,
            "status": "validating",
            "request_counts": {"total": len(requests), "completed": 0, "failed": 0},
        }
        self.batches[str(batch["id"])] = {**batch, "_ending": ending, "_looks": self.looks}
        return batch

    def look(self, name: str) -> Object:
        batch = self.batches[name]
        ending: Ending = batch["_ending"]
        if batch["status"] == "cancelled":
            return _shown(batch)
        batch["_looks"] -= 1
        batch["status"] = "in_progress"
        if batch["_looks"] < 0:
            batch["status"] = ending.status
            batch["output_file_id"] = self._file(ending.output)
            batch["error_file_id"] = self._file(ending.errors)
            if ending.failure:
                error = {"code": "invalid", "line": 1, "message": ending.failure, "param": None}
                batch["errors"] = {"object": "list", "data": [error]}
        return _shown(batch)

    def cancel(self, name: str) -> Object:
        self.batches[name]["status"] = "cancelled"
        return _shown(self.batches[name])

    def _file(self, lines: Sequence[Object] | None) -> str | None:
        if not lines:
            return None
        return self.keep("".join(f"{json.dumps(line)}\n" for line in lines))


def answered(request: Object, status: int, body: Object) -> Object:
    """Return the line of an output or error file: what a server said to one request."""
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "l", "custom_id": request["custom_id"], "response": response, "error": None}


def refused(request: Object, status: int, message: str) -> Object:
    """Return the line of a request that the server did not answer."""
    return answered(request, status, {"error": {"message": message, "type": "scripted"}})


def unanswered(request: Object, code: str, message: str) -> Object:
    """Return the line of a request that never was executed."""
    error = {"code": code, "message": message}
    return {"id": "l", "custom_id": request["custom_id"], "response": None, "error": error}


@contextmanager
def providing(judge: Judge) -> Iterator[Provider]:
    """Serve on a free port until the block ends."""
    provider = Provider(judge)
    handler = type("Handler", (_Handler,), {"provider": provider, "lock": threading.Lock()})
    with serving(handler) as server:
        provider.url = server.url
        yield provider


class _Handler(JsonHandler):
    provider: Provider
    lock: threading.Lock
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        data = self.body()
        with self.lock:
            self.provider.journal.append(f"{self.command} {self.path}")
            self.provider.headers.append(dict(self.headers))
            fault = self._fault()
            if fault and not fault.status:
                self.close_connection = True
                return
            if fault:
                self.send_json(fault.status, {"error": {"message": "scripted"}})
                return
            answer = self._answer(data)
            self.provider.at_step(len(self.provider.journal))
        text = answer or json.dumps({"error": {"message": "none"}})
        self.send(200 if answer else 404, text.encode())

    def _fault(self) -> Fault | None:
        for fault in self.provider.faults:
            if fault.method == self.command and fault.path in self.path:
                self.provider.faults.remove(fault)
                return fault
        return None

    def _answer(self, data: bytes) -> str | None:  # noqa: PLR0911 - one a step
        match [self.command, *self.path.removeprefix("/v1/").split("/")]:
            case ["POST", "files"]:
                name = self.provider.keep(self._uploaded(data))
                facts = {"bytes": 1, "created_at": 1, "filename": "f", "status": "processed"}
                return json.dumps({"id": name, "object": "file", "purpose": "batch", **facts})
            case ["POST", "batches"]:
                return json.dumps(self.provider.begin(json.loads(data)["input_file_id"]))
            case ["GET", "batches?limit=100"]:
                every = [_shown(batch) for batch in self.provider.batches.values()]
                return json.dumps({"object": "list", "data": every[::-1]})
            case ["GET", "batches", name]:
                return json.dumps(self.provider.look(name))
            case ["POST", "batches", name, "cancel"]:
                return json.dumps(self.provider.cancel(name))
            case ["GET", "files", name, "content"]:
                return self.provider.files[name]
            case _:
                return None

    def _uploaded(self, data: bytes) -> str:
        kind = self.headers["Content-Type"].encode()
        parts = email.message_from_bytes(b"Content-Type: " + kind + b"\r\n\r\n" + data)
        for part in parts.walk():
            if part.get_param("name", header="content-disposition") == "file":
                content = part.get_payload(decode=True)
                assert isinstance(content, bytes)
                return content.decode()
        raise AssertionError(f"no file in {data!r}")


def _shown(batch: Object) -> Object:
    return {name: value for name, value in batch.items() if not name.startswith("_")}
