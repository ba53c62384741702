"""A small client of the YAML language server: what an editor would show for a text."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

Message: TypeAlias = dict[str, Any]


class LanguageServer:
    """A client of a language server; speaks JSON-RPC on its standard streams."""

    def __init__(self, process: "subprocess.Popen[bytes]", root: Path, schemas: Message) -> None:
        own = {"schemaStore": {"enable": False}, "schemas": schemas}
        self.settings = {"yaml": {**own, "completion": True, "validate": True}}
        self.stdin = cast("IO[bytes]", process.stdin)
        self.stdout = cast("IO[bytes]", process.stdout)
        self.published: dict[str, list[Message]] = {}
        self.asked = 0
        folder = [{"uri": root.as_uri(), "name": root.name}]
        can = {"workspace": {"configuration": True}, "textDocument": {"completion": {}}}
        self.ask("initialize", processId=None, workspaceFolders=folder, capabilities=can)
        self.notify("initialized")
        self.notify("workspace/didChangeConfiguration", settings=self.settings)

    def diagnostics(self, path: Path, *, good: bool) -> list[Message]:
        """Open a file and return what the server publishes for it.

        The server publishes an empty list while it still reads the schemas, so for a file that
        is not good, an empty list is not the end.
        """
        document = {"uri": path.as_uri(), "languageId": "yaml", "version": 1}
        self.notify("textDocument/didOpen", textDocument={**document, "text": path.read_text()})
        while (found := self.published.get(path.as_uri())) is None or not (good or found):
            self.answer(self.read())
        return found

    def completions(self, path: Path, line: int, character: int) -> list[Message]:
        """Return what is offered at a position (from 0) of an opened file."""
        position = {"line": line, "character": character}
        found = self.ask(
            "textDocument/completion", textDocument={"uri": path.as_uri()}, position=position
        )
        return cast("list[Message]", found["items"])

    def ask(self, method: str, **params: Any) -> Message:
        """Send a request, serve the server's own meanwhile, and return the result."""
        self.asked += 1
        self.write({"id": self.asked, "method": method, "params": params})
        while (message := self.read()).get("id") != self.asked or "method" in message:
            self.answer(message)
        return cast("Message", message["result"])

    def notify(self, method: str, **params: Any) -> None:
        """Send a notification."""
        self.write({"method": method, "params": params})

    def answer(self, message: Message) -> None:
        """Do what an editor does with what the server sends by itself."""
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif message.get("method") == "workspace/configuration":
            items = [self.settings.get(item["section"], {}) for item in message["params"]["items"]]
            self.write({"id": message["id"], "result": items})
        elif "id" in message and "method" in message:
            self.write({"id": message["id"], "result": None})

    def write(self, message: Message) -> None:
        """Send one message."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.stdin.flush()

    def read(self) -> Message:
        """Wait for one message."""
        length = 0
        while line := self.stdout.readline().strip():
            name, _, value = line.partition(b": ")
            length = int(value) if name == b"Content-Length" else length
        assert length, "the language server ended"
        return cast("Message", json.loads(self.stdout.read(length)))


@contextmanager
def started(server: Path, root: Path, schemas: Message | None = None) -> Iterator[LanguageServer]:
    """Start a server for a folder, with globs of files by their schema, and end it."""
    words = ["node", str(server), "--stdio"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield LanguageServer(process, root, schemas or {})
        finally:
            process.kill()
