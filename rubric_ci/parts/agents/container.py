"""A container around a target, with the workspace and the home mounted."""

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from rubric_ci.errors import CannotAnswer
from rubric_ci.parts.agents.workspace import Folders
from rubric_ci.system import container_engine

_LIMITS: Final = ("--cap-drop=all", "--security-opt=no-new-privileges", "--pids-limit=512")


def prefix(
    image: str, folders: Folders, names: Iterable[str], environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the command line in front of the target's; raises CannotAnswer without an engine.

    It gets the variables `names` by name: their values would be in the list of processes.
    """
    engine = container_engine.engine(environment)
    if not engine:
        raise CannotAnswer(f"`sandbox: {{container: …}}` {container_engine.NEEDED}")
    places = (str(folders.work), str(folders.home))
    homes = (f"{name}={places[1]}" for name in ("HOME", "TMPDIR"))
    return (
        *(*engine, "run", "--rm", "--interactive", "--name", _name(folders), *_LIMITS),
        *_user(engine[-1]),
        *(word for place in places for word in ("--volume", f"{place}:{place}")),
        *(word for name in (*homes, *container_engine.passed(names)) for word in ("--env", name)),
        *("--workdir", places[0], image),
    )


async def remove(folders: Folders, environment: Mapping[str, str]) -> None:
    """End the container of a trial."""
    await container_engine.remove(_name(folders), folders.work, environment)


def _user(engine: str) -> tuple[str, ...]:
    """Return the options with which files belong to the user of the run."""
    if sys.platform == "win32":
        return ()
    user = f"--user={os.getuid()}:{os.getgid()}"
    return (user, "--userns=keep-id") if engine == "podman" and os.getuid() else (user,)


def _name(folders: Folders) -> str:
    """Return a name that no other trial has: the name of its folder."""
    return folders.work.parents[1].name
