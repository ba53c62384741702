"""A container around a target: podman, or else docker, with the workspace and the home mounted."""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

from rubric_ci.errors import CannotAnswer, CannotRunScript
from rubric_ci.grading.targets.workspace import Folders
from rubric_ci.system import processes
from rubric_ci.system.processes import Command, clean_environment

_ENGINES: Final = ("podman", "docker")
_SECONDS: Final = 60.0
_LIMITS: Final = ("--cap-drop=all", "--security-opt=no-new-privileges", "--pids-limit=512")
_OF_ENGINE: Final = (
    *("HOME", "TMPDIR", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "CONTAINERS_CONF"),
    *("CONTAINER_HOST", "DOCKER_HOST", "DOCKER_CONTEXT"),
)
_OF_IMAGE: Final = frozenset({"PATH", "SHELL", "USER", "LOGNAME"})


def prefix(
    image: str, folders: Folders, names: Iterable[str], environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the command line in front of the target's; raises CannotAnswer without an engine.

    It gets the variables `names` by name: their values would be in the list of processes.
    """
    engine = _engine(environment)
    places = (str(folders.work), str(folders.home))
    given = (*(f"{name}={places[1]}" for name in ("HOME", "TMPDIR")), *_passed(names))
    return (
        *(*engine, "run", "--rm", "--interactive", "--name", _name(folders), *_LIMITS),
        *_user(engine[-1]),
        *(word for place in places for word in ("--volume", f"{place}:{place}")),
        *(word for name in given for word in ("--env", name)),
        *("--workdir", places[0], image),
    )


async def remove(folders: Folders, environment: Mapping[str, str]) -> None:
    """End the container of a trial: that its client was killed does not end it."""
    command = Command(
        script=(*_engine(environment), "rm", "--force", _name(folders)),
        cwd=folders.work,
        environment=clean_environment(environment),
        timeout_seconds=_SECONDS,
    )
    with suppress(CannotRunScript):
        await processes.run(command)


def _passed(names: Iterable[str]) -> list[str]:
    return sorted({*names} - _OF_IMAGE - {*_OF_ENGINE})


def _engine(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the program with the variables of the user that it needs: the home is another one."""
    found = next((name for name in _ENGINES if shutil.which(name)), "")
    if not found:
        raise CannotAnswer("`sandbox: {container: …}` needs podman or docker on the PATH")
    own = (f"{name}={environment[name]}" for name in _OF_ENGINE if name in environment)
    return (found,) if sys.platform == "win32" else ("env", *own, found)


def _user(engine: str) -> tuple[str, ...]:
    """Return the options with which files belong to the user of the run."""
    if not hasattr(os, "getuid"):
        return ()
    user = f"--user={os.getuid()}:{os.getgid()}"
    return (user, "--userns=keep-id") if engine == "podman" and os.getuid() else (user,)


def _name(folders: Folders) -> str:
    """Return a name that no other trial has: the name of its folder."""
    return folders.work.parents[1].name
