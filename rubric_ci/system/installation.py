"""How this installation of rubric-ci gets the packages of an extra."""

import sys
from importlib.metadata import requires
from itertools import pairwise
from pathlib import PurePath


def install_command(extra: str, prefix: str = sys.prefix) -> str:
    """Return the command that installs an extra where rubric-ci is installed."""
    package, folders = f"'rubric-ci[{extra}]'", PurePath(prefix.replace("\\", "/")).parts
    of_a_hook = ("prek", "hooks") in pairwise(folders)  # or of pre-commit's
    if of_a_hook or any(folder.startswith("py_env-") for folder in folders):
        packages = ", ".join(map(repr, _packages(extra)))
        return f"add `additional_dependencies: [{packages}]` to the hook"
    if ("uv", "tools") in pairwise(folders):
        return f"uv tool install {package}"
    if "pipx" in folders:
        return f"pipx install --force {package}"
    return f"pip install {package}"


def _packages(extra: str) -> list[str]:
    """Return the packages of an extra, with their versions."""
    listed = (each.partition(";") for each in requires("rubric-ci") or ())
    return [name.strip() for name, _, marker in listed if f"extra == '{extra}'" in marker]
