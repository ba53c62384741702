"""A small GitHub that remembers: comments, pull requests and check runs, over real HTTP.

It knows only what we use, and the rules that GitHub's description does not hold: the length of a
comment, pages, and who may do what. Faults are put in by a test, one request at a time.
"""

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tests import http_server
from tests.contract.fake_git import GitData, Missing, Unprocessable

Object: TypeAlias = dict[str, Any]
Reply: TypeAlias = tuple[int, Any, dict[str, str]]
"""Status, value and headers."""
COMMENT_LIMIT = 65_536
ANNOTATIONS_PER_REQUEST = 50
WHEN = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class User:
    login: str
    type: str = "User"

    def as_json(self) -> Object:
        return {"login": self.login, "id": 1 + len(self.login), "type": self.type}


BOT = User("github-actions[bot]", "Bot")


@dataclass(frozen=True)
class Token:
    """Who a token is; an app's token may not ask that itself."""

    user: User = BOT
    writes: bool = True


@dataclass(frozen=True)
class Fault:
    """What the next request that fits gets instead of an answer."""

    method: str
    path: str  # a part of it
    status: int = 500
    message: str = "Server Error"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    happens: bool = False  # the request takes effect, only its answer is lost
    body: str | None = None


@dataclass
class Comment:
    id: int
    user: User | None  # None: the account was deleted
    body: str
    edits: int = 0


@dataclass
class Pull:
    number: int
    head_sha: str = "a" * 40
    head_owner: str = "acme"
    head_branch: str = "topic"
    comments: list[Comment] = field(default_factory=list)
    title: str = "a change"
    body: str = ""
    base: str = "main"


@dataclass
class Issue:
    number: int
    user: User
    title: str
    body: str
    state: str = "open"
    edits: int = 0


@dataclass
class GitHub:
    """The whole state; tests read it after the fact."""

    repository: str = "acme/app"
    pulls: dict[int, Pull] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    checks: list[Object] = field(default_factory=list)
    tokens: dict[str, Token] = field(default_factory=lambda: {"actions": Token()})
    faults: list[Fault] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    url: str = ""  # where clients find it; links in answers point there
    own_path: str = field(default_factory=lambda: f"/{secrets.token_hex(8)}")  # of this test only
    own_url: str = ""  # where this server is, which may be behind a proxy
    stray: list[str] = field(default_factory=list)  # requests that were meant for another server
    prefix: str = ""  # "/api/v3" on GitHub Enterprise Server
    complete: Callable[[str, Object], Object] = lambda _, value: value
    next_id: int = 1
    git: GitData | None = None  # branches, commits and files, where a test has them
    proposes: bool = True  # whether a token may open pull requests

    def reset(self) -> None:
        """Drop the state; addresses stay."""
        new = GitHub()
        self.pulls, self.issues, self.checks, self.tokens = {}, {}, [], new.tokens
        self.faults, self.requests, self.next_id = [], [], 1
        self.git, self.proposes = None, True

    def hold(self, root: Path, *, protected: Sequence[str] = ()) -> GitData:
        """Let a bare repository be the one that this GitHub is about."""
        api = f"{self.url}/repos/{self.repository}"
        self.git = GitData(root, api, self.complete, frozenset(protected))
        return self.git

    def bodies(self, number: int) -> list[str]:
        return [comment.body for comment in self.pulls[number].comments]

    def say(self, number: int, user: User | None, body: str) -> Comment:
        comment = Comment(self.next_id, user, body)
        self.next_id += 1
        self.pulls[number].comments.append(comment)
        return comment


class Answer(Exception):
    """An answer other than 200, from anywhere below."""

    def __init__(self, status: int, message: str, errors: list[Object] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.value: Object = {"message": message, "documentation_url": "https://docs.example"}
        if errors:
            self.value["errors"] = errors


@contextmanager
def serving(github: GitHub) -> Iterator[GitHub]:
    """Serve on a free port, below a path of its own, until the block ends."""
    handler = type("Handler", (_Handler,), {"github": github})
    with http_server.serving(handler) as server:
        github.own_url = server.url + github.own_path
        github.url = github.url or github.own_url + github.prefix
        yield github
    assert github.stray == [], "requests that were meant for the server of another test"


class _Handler(http_server.QuietHandler):
    github: GitHub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        data = json.loads(self.rfile.read(length)) if length else {}
        start, own, path = urlsplit(self.path).path.partition(self.github.own_path)
        if start or not own:
            self.github.stray.append(f"{self.command} {self.path}")
            self._send(421, json.dumps({"message": "Misdirected Request"}), {})
            return
        self.github.requests.append(f"{self.command} {path.removeprefix(self.github.prefix)}")
        fault = self._fault(path)
        if fault and not fault.happens:
            self._fail(fault)
            return
        try:
            status, value, headers = self._answer(path.removeprefix(self.github.prefix), data)
        except Answer as answer:
            status, value, headers = answer.status, answer.value, {}
        if fault:
            self._fail(fault)
        else:
            self._send(status, json.dumps(value), headers)

    def _fault(self, path: str) -> Fault | None:
        for fault in self.github.faults:
            if fault.method == self.command and fault.path in path:
                self.github.faults.remove(fault)
                return fault
        return None

    def _fail(self, fault: Fault) -> None:
        time.sleep(fault.delay)
        body = json.dumps({"message": fault.message}) if fault.body is None else fault.body
        self._send(fault.status, body, fault.headers)

    def _send(self, status: int, body: str, headers: Mapping[str, str]) -> None:
        kind = {"Content-Type": "application/json; charset=utf-8"}
        self.respond(status, body.encode(), {**kind, **headers})

    def _answer(self, path: str, data: Object) -> Reply:
        token = self._token()
        if path == "/user":
            if token.user.type == "Bot":
                raise Answer(403, "Resource not accessible by integration")
            return 200, self._complete("public-user", token.user.as_json()), {}
        if path in {"/graphql", "/api/graphql"}:
            return 200, {"data": {"viewer": {"login": token.user.login}}}, {}
        start, _, rest = path.removeprefix("/repos/").partition(f"{self.github.repository}/")
        if start or not rest:
            raise Answer(404, "Not Found")
        if self.command != "GET" and not token.writes:
            raise Answer(403, "Resource not accessible by integration")
        if git := self._git(rest, data):
            return *git, {}
        for method, pattern, act in self._routes():
            match = re.fullmatch(pattern, rest)
            if match and method == self.command:
                return act(token, data, *map(int, match.groups()))
        raise Answer(404, "Not Found")

    def _git(self, path: str, data: Object) -> tuple[int, Object] | None:
        if self.github.git is None:
            return None
        try:
            return self.github.git.answer(self.command, path, data)
        except Missing as error:
            raise Answer(404, "Not Found") from error
        except Unprocessable as error:
            raise Answer(422, str(error)) from error

    def _routes(self) -> list[tuple[str, str, Callable[..., Reply]]]:
        return [
            ("GET", r"pulls", self._list_pulls),
            ("POST", r"pulls", self._create_pull),
            ("PATCH", r"pulls/(\d+)", self._edit_pull),
            ("GET", r"issues", self._list_issues),
            ("POST", r"issues", self._create_issue),
            ("PATCH", r"issues/(\d+)", self._edit_issue),
            ("GET", r"issues/(\d+)/comments", self._list_comments),
            ("POST", r"issues/(\d+)/comments", self._create_comment),
            ("PATCH", r"issues/comments/(\d+)", self._edit_comment),
            ("POST", r"check-runs", self._create_check),
            ("PATCH", r"check-runs/(\d+)", self._edit_check),
        ]

    def _token(self) -> Token:
        scheme, _, name = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() not in {"token", "bearer"} or name not in self.github.tokens:
            raise Answer(401, "Bad credentials")
        return self.github.tokens[name]

    def _pull(self, number: int) -> Pull:
        if number not in self.github.pulls:
            raise Answer(404, "Not Found")
        return self.github.pulls[number]

    def _list_pulls(self, token: Token, data: Object) -> Reply:
        head = self._query().get("head", "")
        found = [
            self._complete("pull-request-simple", self._pull_json(pull))
            for pull in self.github.pulls.values()
            if head in {"", f"{pull.head_owner}:{pull.head_branch}"}
        ]
        return self._page(found)

    def _create_pull(self, token: Token, data: Object) -> Reply:
        if not self.github.proposes:
            message = "GitHub Actions is not permitted to create or approve pull requests."
            raise Answer(403, message)
        if any(pull.head_branch == data["head"] for pull in self.github.pulls.values()):
            raise Answer(422, "Validation Failed", [{"message": "A pull request already exists"}])
        pull = Pull(1 + max(self.github.pulls, default=0), head_branch=data["head"])
        pull.title, pull.body, pull.base = data["title"], data["body"], data["base"]
        self.github.pulls[pull.number] = pull
        return 201, self._complete("pull-request", self._pull_json(pull)), {}

    def _edit_pull(self, token: Token, data: Object, number: int) -> Reply:
        pull = self._pull(number)
        pull.title, pull.body = data["title"], data["body"]
        return 200, self._complete("pull-request", self._pull_json(pull)), {}

    def _pull_json(self, pull: Pull) -> Object:
        head = {
            "sha": pull.head_sha,
            "ref": pull.head_branch,
            "label": f"{pull.head_owner}:{pull.head_branch}",
        }
        return {
            "number": pull.number,
            "state": "open",
            "head": head,
            "url": f"{self.github.url}/repos/{self.github.repository}/pulls/{pull.number}",
            "html_url": f"https://github.example/{self.github.repository}/pull/{pull.number}",
        }

    def _list_issues(self, token: Token, data: Object) -> Reply:
        """List what GitHub calls issues: pull requests are among them."""
        query = self._query()
        issues = [
            self._issue(issue)
            for issue in self.github.issues.values()
            if query.get("state", "open") in {issue.state, "all"}
            and query.get("creator", issue.user.login) == issue.user.login
        ]
        return self._page(issues)

    def _create_issue(self, token: Token, data: Object) -> Reply:
        _check_length(data["body"])
        number = 1 + max((*self.github.issues, *self.github.pulls), default=0)
        issue = Issue(number, token.user, data["title"], data["body"])
        self.github.issues[number] = issue
        return 201, self._issue(issue), {}

    def _edit_issue(self, token: Token, data: Object, number: int) -> Reply:
        if number not in self.github.issues:
            raise Answer(404, "Not Found")
        issue = self.github.issues[number]
        _check_length(data.get("body", ""))
        for name in data.keys() & {"title", "body", "state"}:
            setattr(issue, name, data[name])
        issue.edits += 1
        return 200, self._issue(issue), {}

    def _issue(self, issue: Issue) -> Object:
        return self._complete(
            "issue",
            {
                "number": issue.number,
                "state": issue.state,
                "title": issue.title,
                "body": issue.body,
                "user": self._complete("simple-user", issue.user.as_json()),
                "url": f"{self.github.url}/repos/{self.github.repository}/issues/{issue.number}",
                "html_url": f"https://github.example/{self.github.repository}/issues/{issue.number}",
            },
        )

    def _list_comments(self, token: Token, data: Object, number: int) -> Reply:
        return self._page([self._comment(number, c) for c in self._pull(number).comments])

    def _create_comment(self, token: Token, data: Object, number: int) -> Reply:
        self._pull(number)
        _check_length(data["body"])
        comment = self.github.say(number, token.user, data["body"])
        return 201, self._comment(number, comment), {}

    def _edit_comment(self, token: Token, data: Object, comment_id: int) -> Reply:
        _check_length(data["body"])
        for pull in self.github.pulls.values():
            for comment in pull.comments:
                if comment.id == comment_id:
                    comment.body = data["body"]
                    comment.edits += 1
                    return 200, self._comment(pull.number, comment), {}
        raise Answer(404, "Not Found")

    def _create_check(self, token: Token, data: Object) -> Reply:
        check = {**data, "id": len(self.github.checks) + 1, "requests": 1}
        _check_annotations(data)
        self.github.checks.append(check)
        return 201, self._check(check), {}

    def _edit_check(self, token: Token, data: Object, check_id: int) -> Reply:
        check = self.github.checks[check_id - 1]
        _check_annotations(data)
        check["output"]["annotations"] += data["output"]["annotations"]
        check["requests"] += 1
        return 200, self._check(check), {}

    def _comment(self, number: int, comment: Comment) -> Object:
        repo = f"{self.github.url}/repos/{self.github.repository}"
        page = f"https://github.example/{self.github.repository}/pull/{number}"
        return self._complete(
            "issue-comment",
            {
                "id": comment.id,
                "url": f"{repo}/issues/comments/{comment.id}",
                "html_url": f"{page}#issuecomment-{comment.id}",
                "issue_url": f"{repo}/issues/{number}",
                "user": comment.user and self._complete("simple-user", comment.user.as_json()),
                "body": comment.body or None,
                "created_at": WHEN,
                "updated_at": WHEN,
                "author_association": "NONE",
            },
        )

    def _check(self, check: Object) -> Object:
        page = f"https://github.example/{self.github.repository}/runs/{check['id']}"
        url = f"{self.github.url}/repos/{self.github.repository}/check-runs/{check['id']}"
        shown = {
            "id": check["id"],
            "url": url,
            "html_url": page,
            "name": check["name"],
            "head_sha": check["head_sha"],
            "status": check["status"],
            "conclusion": check["conclusion"],
            "check_suite": {"id": 1},
        }
        return self._complete("check-run", shown)

    def _page(self, entries: list[Object]) -> Reply:
        query = self._query()
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        size = min(size, 100)
        headers = {}
        if page * size < len(entries):
            path = urlsplit(self.path).path.removeprefix(self.github.own_path + self.github.prefix)
            rest = "".join(f"&{k}={v}" for k, v in query.items() if k not in {"page", "per_page"})
            target = f"{self.github.url}{path}?per_page={size}&page={page + 1}{rest}"
            headers["Link"] = f'<{target}>; rel="next"'
        return 200, entries[(page - 1) * size : page * size], headers

    def _query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}

    def _complete(self, schema: str, value: Object) -> Object:
        return self.github.complete(schema, value)


def _check_length(body: str) -> None:
    if len(body) > COMMENT_LIMIT:
        message = f"body is too long (maximum is {COMMENT_LIMIT} characters)"
        raise Answer(422, "Validation Failed", [{"code": "custom", "message": message}])


def _check_annotations(data: Object) -> None:
    if len(data.get("output", {}).get("annotations", [])) > ANNOTATIONS_PER_REQUEST:
        raise Answer(422, "Invalid request. No more than 50 items are allowed")
