"""Health checks of command targets: a command or a URL, checked before the first case."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from threading import Thread
from urllib.parse import urlsplit

from rubric_ci.errors import CannotAnswer, CannotRunScript
from rubric_ci.model.config import CliTarget, Target
from rubric_ci.model.context import RunContext
from rubric_ci.model.json_value import JSON
from rubric_ci.system import processes
from rubric_ci.system.processes import Command, clean_environment, describe_exit


class HealthChecks:
    """Runs each target's health check once per folder; all its cases share the result."""

    def __init__(self) -> None:
        self._started: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def check(self, target: Target, context: RunContext) -> None:
        """Raise CannotAnswer if the target's health check fails."""
        if not isinstance(target, CliTarget):
            return
        key = target.name, target.cwd
        if key not in self._started:
            self._started[key] = asyncio.create_task(check(target, context))
        await asyncio.shield(self._started[key])


async def check(target: CliTarget, context: RunContext) -> None:
    """Run the target's health check; raises CannotAnswer if it fails."""
    options = target.healthcheck
    if options is None:
        return
    seconds = float(options.get("timeout_seconds", target.timeout_seconds))
    if options["type"] == "http":
        problem = await probe(options["url"], seconds)
    else:
        problem = await _run(target, options, seconds, context)
    if problem:
        raise CannotAnswer(f"the health check of the target `{target.name}` failed: {problem}")


async def _run(
    target: CliTarget, options: Mapping[str, JSON], seconds: float, context: RunContext
) -> str:
    try:
        finished = await processes.run(
            Command(
                script=options["command_template"],
                cwd=context.root / options.get("cwd", target.cwd),
                environment=clean_environment(context.environment, target.env),
                known=context.environment,
                timeout_seconds=seconds,
            )
        )
    except CannotRunScript as error:
        return str(error)
    return describe_exit(finished) if finished.status else ""


async def probe(url: str, timeout_seconds: float) -> str:
    """Return an error message, or "" if the URL responds with 2xx."""
    if urlsplit(url).scheme not in {"http", "https"}:
        return f"{url} is not an http or https URL"
    loop = asyncio.get_running_loop()
    result: asyncio.Future[str] = loop.create_future()

    def request() -> None:
        message = _probe(url, timeout_seconds)
        with suppress(RuntimeError):  # the run has ended meanwhile
            loop.call_soon_threadsafe(_set_result, result, message)

    # NOTE: urllib's timeout applies to each read, so that a slow server can exceed it. The end of
    # the program waits for asyncio's own threads, but not for a daemon thread.
    Thread(target=request, daemon=True).start()
    try:
        async with asyncio.timeout(timeout_seconds):
            return await result
    except TimeoutError:
        return f"{url} does not respond: timed out"


def _set_result(result: asyncio.Future[str], message: str) -> None:
    if not result.done():
        result.set_result(message)


def _probe(url: str, timeout_seconds: float) -> str:
    from urllib.error import HTTPError, URLError  # slow to import, rarely used
    from urllib.request import HTTPRedirectHandler, build_opener

    class Unfollowed(HTTPRedirectHandler):
        def redirect_request(self, *_: object) -> None:
            """Leave the redirect as the response, which is an error."""

    try:
        with build_opener(Unfollowed).open(url, timeout=timeout_seconds):
            return ""
    except HTTPError as error:
        redirected = "; redirects are not followed" if 300 <= error.code < 400 else ""
        return f"{url} responds with {error.code} {error.reason}{redirected}"
    except (URLError, OSError, ValueError) as error:
        return f"{url} does not respond: {getattr(error, 'reason', error)}"
