"""A GitHub that keeps one pull request of a stranger and the words about it, on a real port."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.http_server import JsonHandler, serving

SEEN, LATER = "a" * 40, "b" * 40
FORK = "eve/shop"


@dataclass
class GitHub:
    """The state that requests read and change; times are those of the server."""

    url: str = ""
    head: str = SEEN
    state: str = "open"
    rights: dict[str, str] = field(default_factory=lambda: {"ana": "write", "eve": "read"})
    pushes: list[tuple[str, str]] = field(default_factory=lambda: [("2026-11-01T09:00:00Z", SEEN)])
    author: tuple[str, str] = ("ana", "User")
    said: str = "/rubric-ci run"
    at: str = "2026-11-01T10:00:00Z"
    edited: str = ""
    labels: list[tuple[str, str, str]] = field(default_factory=list)  # time, login, name
    hung: set[str] = field(default_factory=set)
    reactions: int = 0
    comments: list[str] = field(default_factory=list)
    checks: list[Any] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)

    def answer(self, verb: str, path: str, data: Any) -> tuple[int, Any]:  # noqa: PLR0911 - routes
        if verb != "GET":
            self.writes.append(f"{verb} {path}")
        match verb, path.removeprefix("/repos/").split("/")[2:]:
            case "GET", ["pulls", "7"]:
                head = {"sha": self.head, "ref": "fix", "repo": {"full_name": FORK}}
                return 200, {"number": 7, "state": self.state, "head": head}
            case "GET", ["activity"]:
                return 200, [{"timestamp": time, "after": sha} for time, sha in self.pushes]
            case "GET", ["collaborators", login, "permission"]:
                known = self.rights.get(login)
                return (200, {"permission": known}) if known else (404, {"message": "Not Found"})
            case "GET", ["issues", "comments", "5"]:
                login, kind = self.author
                return 200, {
                    "user": {"login": login, "type": kind},
                    "body": self.said,
                    "created_at": self.at,
                    "updated_at": self.edited or self.at,
                }
            case "POST", ["issues", "comments", "5", "reactions"]:
                self.reactions += 1
                return (201 if self.reactions == 1 else 200), {"content": data["content"]}
            case "GET", ["issues", "7", "events"]:
                return 200, [_labelled(each) for each in self.labels]
            case "DELETE", ["issues", "7", "labels", name]:
                hung = name in self.hung
                self.hung.discard(name)
                return (200, []) if hung else (404, {"message": "Label does not exist"})
            case "GET", ["issues", "7", "comments"]:
                return 200, []
            case "POST", ["issues", "7", "comments"]:
                self.comments.append(data["body"])
                return 201, {"id": 9, "html_url": "https://github.example/9", "body": data["body"]}
            case "POST", ["check-runs"]:
                self.checks.append(data)
                return 201, {"id": 3, "html_url": "https://github.example/checks/3"}
            case _:
                return 404, {"message": "Not Found"}


def _labelled(label: tuple[str, str, str]) -> Any:
    time, login, name = label
    actor = {"login": login, "type": "User"}
    return {"event": "labeled", "created_at": time, "actor": actor, "label": {"name": name}}


@contextmanager
def github() -> Iterator[GitHub]:
    """Serve a GitHub with one pull request."""
    state = GitHub()

    class Handler(JsonHandler):
        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def do_DELETE(self) -> None:
            self._answer("DELETE")

        def _answer(self, verb: str) -> None:
            size = int(self.headers["Content-Length"] or 0)
            data = json.loads(self.rfile.read(size)) if size else None
            path, _, query = self.path.partition("?")
            second = "page=2" in query  # of a list
            status, content = (200, []) if second else state.answer(verb, path, data)
            self.send_json(status, content)

    with serving(Handler) as server:
        state.url = server.url
        yield state
