"""Client of GitHub's REST API through PyGithub: connection, retry, and errors in one line each."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from rubric_ci.errors import CannotConfigure, CannotReachGitHub, MissingExtra
from rubric_ci.system.backoff import Backoff
from rubric_ci.system.installation import install_command
from rubric_ci.values.dataclass import dataclass

if TYPE_CHECKING:
    from github import Github
    from github.GithubException import GithubException
    from github.NamedUser import NamedUser
    from github.Organization import Organization
    from requests import Response, Session

T = TypeVar("T")

# GitHub may ask for an hour, and a runner is paid by the minute.
BACKOFF = Backoff(attempts=3, first_wait=4.0, longest_wait=60.0, longest_retry_after=60.0)

# PyGithub raises these for a response that is not GitHub's; it does not check types and fields.
_UNEXPECTED = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)
MAX_BODY: Final = 64 * 2**20  # bytes, unpacked; a page of 100 long comments has half of it
CHUNK: Final = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    api_url: str
    token: str
    timeout_seconds: int = 20
    backoff: Backoff = BACKOFF
    sleep: Callable[[float], None] = time.sleep


def build_server(environment: Mapping[str, str]) -> Server:
    """Return the API server of a workflow run; raises `CannotConfigure` without a token."""
    token = environment.get("GITHUB_TOKEN", "")
    if not token:
        hint = "set it in the step's `env:` to `${{ github.token }}`"
        raise CannotConfigure("GITHUB_TOKEN is not set, so nothing can be posted", hint)
    url = environment.get("GITHUB_API_URL") or "https://api.github.com"
    return Server(api_url=url, token=token)


class ApiError(CannotReachGitHub):
    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.status = status  # None: no response
        self.retry_after = retry_after  # seconds that GitHub asks to wait

    @property
    def is_rate_limit(self) -> bool:
        """Return True if GitHub did not process the request because of a rate limit."""
        return self.status == 429 or (self.status == 403 and self.retry_after is not None)

    @property
    def retryable(self) -> bool:
        """Return True if the same request may succeed later."""
        return self.is_rate_limit or self.status is None or self.status >= 500


@contextmanager
def connected(server: Server, about: str) -> Iterator["Github"]:
    """Open a client whose objects are lazy, so that no unneeded request is sent.

    An error of PyGithub inside the block becomes an ApiError; `about` names what was not found.
    """
    client = _client(server)
    try:
        with _errors_of_pygithub(server, about):
            yield client
    finally:
        client.close()


def _client(server: Server) -> "Github":
    try:
        import github
    except ImportError as error:
        message = "writing to GitHub needs PyGithub, which is missing"
        raise MissingExtra(message, install_command("github")) from error
    limit_responses()
    return github.Github(
        base_url=server.api_url.rstrip("/"),
        auth=github.Auth.Token(server.token),
        timeout=server.timeout_seconds,
        user_agent="rubric-ci",
        per_page=100,
        retry=None,  # `with_retries` knows which requests may be repeated
        seconds_between_requests=None,
        seconds_between_writes=None,
        lazy=True,
    )


@contextmanager
def _errors_of_pygithub(server: Server, about: str) -> Iterator[None]:
    """Raise each error of PyGithub inside the block as an ApiError."""
    import github
    import requests

    try:
        yield
    except github.GithubException as error:
        raise _api_error(error, about) from error
    except OversizedResponse as error:
        size = f"{MAX_BODY // 2**20} MiB"
        message = f"the response of {server.api_url} has more than {size}"
        raise ApiError(message, "check GITHUB_API_URL", status=error.status) from error
    except requests.Timeout as error:
        message = f"{server.api_url} did not answer within {server.timeout_seconds} s"
        raise ApiError(message, "check GITHUB_API_URL and githubstatus.com") from error
    except requests.RequestException as error:
        message = f"cannot connect to {server.api_url}: {_innermost(error)}"
        raise ApiError(message, "check GITHUB_API_URL and githubstatus.com") from error
    except RuntimeError as error:  # a redirect to another host, which PyGithub does not follow
        message = f"{server.api_url}: {str(error).partition(', please')[0]}"
        raise ApiError(message, "check GITHUB_API_URL", status=301) from error
    except _UNEXPECTED as error:
        message = f"unexpected response from {server.api_url}: {_innermost(error)}"
        raise ApiError(message, "check whether a proxy answers instead of GitHub") from error


def with_retries(server: Server, request: Callable[[], T], *, repeatable: bool = True) -> T:
    """Retry a request that fails with a retryable error.

    A request that is not `repeatable` must not take effect twice: it is retried only after a rate
    limit, because GitHub did not process it.
    """
    for attempt in range(1, server.backoff.attempts + 1):
        try:
            return request()
        except ApiError as error:
            retryable = error.retryable if repeatable else error.is_rate_limit
            wait = server.backoff.wait_after(attempt, error.retry_after) if retryable else None
            if wait is None:
                raise
        server.sleep(wait)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _api_error(error: "GithubException", about: str) -> ApiError:
    status = error.status
    text = _error_text(error)
    wait = _retry_after(error)
    match status:
        case 401:
            message, hint = f"GitHub does not accept the token (401: {text})", _UNKNOWN_USER
        case 429 | 403 if wait is not None:
            message, hint = (
                f"GitHub's rate limit is exceeded ({status}: {text})",
                f"GitHub asks to wait {wait:.0f} s",
            )
        case 403:
            message, hint = f"GitHub denied the request ({status}: {text})", _PERMISSION
        case 404:
            message, hint = f"GitHub cannot find {about} (404: {text})", _NOT_FOUND
        case _ if status >= 500:
            message, hint = f"GitHub failed ({status}: {text})", "run the job again later"
        case _:
            message, hint = f"GitHub rejected the request ({status}: {text})", ""
    return ApiError(message, hint, status=status, retry_after=wait)


def _error_text(error: "GithubException") -> str:
    """Return GitHub's error message, in one line."""
    data = error.data if isinstance(error.data, dict) else {}
    details = [
        str(entry.get("message") or entry.get("code") or "")
        for entry in data.get("errors") or []
        if isinstance(entry, dict)
    ]
    text = "; ".join([str(data.get("message") or ""), *details]).strip("; ")
    return " ".join(text.split())[:300] or "no message"


def _retry_after(error: "GithubException") -> float | None:
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    try:
        if "retry-after" in headers:
            return max(0.0, float(headers["retry-after"]))
        if headers.get("x-ratelimit-remaining") == "0" and error.status in {403, 429}:
            return max(0.0, float(headers["x-ratelimit-reset"]) - time.time())
    except (KeyError, ValueError):
        return None
    return None


def _innermost(error: BaseException) -> str:
    reason = getattr(error.args[0], "reason", None) if error.args else None
    return " ".join(str(reason or error).rpartition(": ")[2].split())[:200]


_UNKNOWN_USER = "set a token of this server: `GITHUB_TOKEN`, or the action's input `github-token`"
_PERMISSION = (
    "the job needs `permissions: {pull-requests: write}` (`checks: write` for a check run, "
    "`issues: write` for an issue); on a "
    "fork's pull request the token is read-only, use the pair of workflows in docs/reports.md"
)
_NOT_FOUND = "check the name, and that the token can read it"
_VIEWER = "query { viewer { login } }"
_ACTIONS_APP = "github-actions[bot]"  # author of what a workflow's own token writes


def own_login(client: "Github") -> str:
    """Return the login of the token's user; of an app: its slug and `[bot]`.

    An app cannot ask REST who it is. Where GraphQL cannot be reached, the token is taken for the
    workflow's own.
    """
    from github import GithubException

    try:
        return client.get_user().login
    except GithubException as error:
        if error.status not in {403, 404}:
            raise
    try:
        _, reply = client.requester.graphql_query(_VIEWER, {})
    except GithubException as error:
        if error.status not in {400, 403, 404}:
            raise
        return _ACTIONS_APP
    return str(reply["data"]["viewer"]["login"]).removesuffix("[bot]") + "[bot]"


def is_by(user: "NamedUser | Organization | None", login: str) -> bool:
    """Return True if a user is the owner of the token.

    The user is None if the account was deleted, which PyGithub's types do not show.
    """
    if user is None:
        return False
    return user.login == login and (user.type == "Bot") == login.endswith("[bot]")


class OversizedResponse(Exception):
    """A response that is not read to its end."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def limit_responses() -> None:
    """Make every client of PyGithub raise OversizedResponse for a response that is too large."""
    from github.Requester import (
        HTTPRequestsConnectionClass,
        HTTPSRequestsConnectionClass,
        Requester,
    )

    class Plain(HTTPRequestsConnectionClass):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            _limit(self.session)

    class Secure(HTTPSRequestsConnectionClass):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            _limit(self.session)

    Requester.injectConnectionClasses(Plain, Secure)


def _limit(session: "Session") -> None:
    session.stream = True  # so that the hook reads the body
    session.hooks["response"] = [_limit_body]


def _limit_body(response: "Response", **_: Any) -> None:
    body = bytearray()
    for chunk in response.iter_content(CHUNK):
        body += chunk
        if len(body) > MAX_BODY:
            response.close()
            raise OversizedResponse(response.status_code)
    response._content = bytes(body)
