"""Ask a web address whether it is there; effects."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from threading import Thread
from urllib.parse import urlsplit

from rubric_ci.errors import CannotAnswer, CannotRunScript
from rubric_ci.model.config import CliTarget
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import JSON
from rubric_ci.system import processes
from rubric_ci.system.masking import redact
from rubric_ci.system.processes import Command, clean_environment


async def probe(url: str, timeout_seconds: float) -> str:
    """Return what is wrong with the address, or nothing when it answers with success."""
    if urlsplit(url).scheme not in {"http", "https"}:
        return f"{url} is no http or https address"
    loop = asyncio.get_running_loop()
    said: asyncio.Future[str] = loop.create_future()

    def ask() -> None:
        found = _probe(url, timeout_seconds)
        with suppress(RuntimeError):  # the run has ended meanwhile
            loop.call_soon_threadsafe(_settle, said, found)

    # NOTE: urllib's timeout is between two bytes. A server may trickle for ever, and asyncio's own
    # threads hold the end of the program until they end.
    Thread(target=ask, daemon=True).start()
    try:
        async with asyncio.timeout(timeout_seconds):
            return await said
    except TimeoutError:
        return f"{url} does not answer: timed out"


def _settle(said: asyncio.Future[str], found: str) -> None:
    if not said.done():
        said.set_result(found)


def _probe(url: str, timeout_seconds: float) -> str:
    from urllib.error import HTTPError, URLError  # few targets have an address to ask
    from urllib.request import HTTPRedirectHandler, build_opener

    class Unfollowed(HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            """Leave the redirect as the answer, which is an error."""

    try:
        with build_opener(Unfollowed).open(url, timeout=timeout_seconds):
            return ""
    except HTTPError as error:
        redirected = "; redirects are not followed" if 300 <= error.code < 400 else ""
        return f"{url} answers {error.code} {error.reason}{redirected}"
    except (URLError, OSError, ValueError) as error:
        return f"{url} does not answer: {getattr(error, 'reason', error)}"


_SHOWN = 300


async def check(target: CliTarget, context: RunContext) -> None:
    """Return when the target may be asked; raises CannotAnswer when it may not."""
    asked = target.healthcheck
    if asked is None:
        return
    seconds = float(asked.get("timeout_seconds", target.timeout_seconds))
    if asked["type"] == "http":
        wrong = await probe(asked["url"], seconds)
    else:
        wrong = await _run(target, asked, seconds, context)
    if wrong:
        raise CannotAnswer(f"the health check of the target `{target.name}` fails: {wrong}")


async def _run(
    target: CliTarget, asked: Mapping[str, JSON], seconds: float, context: RunContext
) -> str:
    try:
        finished = await processes.run(
            Command(
                script=asked["command_template"],
                cwd=context.root / asked.get("cwd", target.cwd),
                environment=clean_environment(context.environment, target.env),
                timeout_seconds=seconds,
            )
        )
    except CannotRunScript as error:
        return str(error)
    if finished.status == 0:
        return ""
    said = " ".join((finished.stderr.strip() or redact(finished.stdout).strip())[-_SHOWN:].split())
    return f"exit status {finished.status}{f': {said}' if said else ''}"
