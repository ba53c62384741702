"""Limit the size of GitHub's responses, which PyGithub reads whole."""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from requests import Response, Session

MAX_BODY: Final = 64 * 2**20  # bytes, unpacked; a page of 100 long comments has half of it
CHUNK: Final = 64 * 1024


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
    session.hooks["response"] = [_read]


def _read(response: "Response", **_: Any) -> None:
    body = bytearray()
    for chunk in response.iter_content(CHUNK):
        body += chunk
        if len(body) > MAX_BODY:
            response.close()
            raise OversizedResponse(response.status_code)
    response._content = bytes(body)
