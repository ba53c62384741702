"""What must work before a command is asked for its first answer."""

from collections.abc import Mapping

from rubric_ci import process, web
from rubric_ci.errors import CannotAnswer, CannotRunScript
from rubric_ci.model.config import CliTarget
from rubric_ci.model.evals import JSON
from rubric_ci.model.tools import Tools
from rubric_ci.process import Command, clean_environment

_SHOWN = 300


async def check(target: CliTarget, tools: Tools) -> None:
    """Return when the target may be asked; raises CannotAnswer when it may not."""
    asked = target.healthcheck
    if asked is None:
        return
    seconds = float(asked.get("timeout_seconds", target.timeout_seconds))
    if asked["type"] == "http":
        wrong = await web.trouble(asked["url"], seconds)
    else:
        wrong = await _run(target, asked, seconds, tools)
    if wrong:
        raise CannotAnswer(f"the health check of the target `{target.name}` fails: {wrong}")


async def _run(target: CliTarget, asked: Mapping[str, JSON], seconds: float, tools: Tools) -> str:
    try:
        finished = await process.run(
            Command(
                script=asked["command_template"],
                cwd=tools.root / asked.get("cwd", target.cwd),
                environment=clean_environment(tools.environment, target.env),
                timeout_seconds=seconds,
            )
        )
    except CannotRunScript as error:
        return str(error)
    if finished.status == 0:
        return ""
    said = " ".join((finished.stderr.strip() or finished.stdout.strip())[-_SHOWN:].split())
    return f"exit status {finished.status}{f': {said}' if said else ''}"
