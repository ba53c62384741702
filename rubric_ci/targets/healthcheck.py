"""Health checks of command targets: a command or a URL that must succeed before the first case."""

import asyncio
from collections.abc import Mapping
from urllib.parse import urlsplit

from rubric_ci.errors import CannotAnswer, CannotRunScript
from rubric_ci.model.config import CliTarget, Target
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import JSON
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
    asked = target.healthcheck
    if asked is None:
        return
    seconds = float(asked.get("timeout_seconds", target.timeout_seconds))
    if asked["type"] == "http":
        wrong = await probe(asked["url"], seconds)
    else:
        wrong = await _run(target, asked, seconds, context)
    if wrong:
        raise CannotAnswer(f"the health check of the target `{target.name}` failed: {wrong}")


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
    return describe_exit(finished) if finished.status else ""


async def probe(url: str, timeout_seconds: float) -> str:
    """Return what is wrong with the address, or nothing when it answers with success."""
    if urlsplit(url).scheme not in {"http", "https"}:
        return f"{url} is no http or https address"
    return await asyncio.to_thread(_probe, url, timeout_seconds)


def _probe(url: str, timeout_seconds: float) -> str:
    from urllib.error import HTTPError, URLError  # few targets have an address to ask
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=timeout_seconds):  # noqa: S310 - the scheme is checked above
            return ""
    except HTTPError as error:
        return f"{url} answers {error.code} {error.reason}"
    except (URLError, OSError, ValueError) as error:
        return f"{url} does not answer: {getattr(error, 'reason', error)}"
