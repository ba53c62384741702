"""The program that starts containers, podman or else docker, and what it needs to know."""

import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotRunScript
from rubric_ci.system import processes
from rubric_ci.system.processes import Command, describe_exit

NEEDED: Final = "needs podman or docker on the PATH"
FAILED: Final = 125  # the exit status of an engine that could not start the container
_ENGINES: Final = ("podman", "docker")
_SECONDS: Final = 60.0
_PULL_SECONDS: Final = 900.0
_OF_ENGINE: Final = (
    *("HOME", "TMPDIR", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "CONTAINERS_CONF"),
    *("CONTAINER_HOST", "DOCKER_HOST", "DOCKER_CONTEXT"),
)
_OF_IMAGE: Final = frozenset({"PATH", "SHELL", "USER", "LOGNAME"})


def engine(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the program with the variables of the user that it needs; empty: there is none."""
    found = next((name for name in _ENGINES if shutil.which(name)), "")
    own = (f"{name}={environment[name]}" for name in _OF_ENGINE if name in environment)
    if not found:
        return ()
    return (found,) if sys.platform == "win32" else ("env", *own, found)


def passed(names: Iterable[str]) -> list[str]:
    """Return the variables that a container may get, except the image's and the engine's."""
    return sorted({*names} - _OF_IMAGE - {*_OF_ENGINE})


async def fetch(image: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Pull an image that the engine lacks; raises CannotRunScript.

    A container that pulled it would do so in the time of its script, and print that it does.
    """
    steps = (("image", "inspect", image), _SECONDS), (("pull", "--quiet", image), _PULL_SECONDS)
    for words, seconds in steps:
        finished = await processes.run(_command(words, folder, environment, seconds))
        if finished.status == 0:
            return
    raise CannotRunScript(f"the image `{image}` cannot be pulled: {describe_exit(finished, '')}")


async def remove(name: str, folder: Path, environment: Mapping[str, str]) -> None:
    """End a container: that its client was killed does not end it."""
    with suppress(CannotRunScript):
        await processes.run(_command(("rm", "--force", name), folder, environment, _SECONDS))


def _command(
    words: Iterable[str], folder: Path, environment: Mapping[str, str], seconds: float
) -> Command:
    return Command(
        script=(*engine(environment), *words),
        cwd=folder,
        known=environment,
        timeout_seconds=seconds,
    )
