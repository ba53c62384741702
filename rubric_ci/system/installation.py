"""How this installation of rubric-ci gets the packages of an extra."""

import sys
from itertools import pairwise
from pathlib import PurePath


def install_command(extra: str, prefix: str = sys.prefix) -> str:
    """Return the command that installs an extra where rubric-ci is installed."""
    package, folders = f"'rubric-ci[{extra}]'", PurePath(prefix.replace("\\", "/")).parts
    if ("uv", "tools") in pairwise(folders):
        return f"uv tool install {package}"
    if "pipx" in folders:
        return f"pipx install --force {package}"
    return f"pip install {package}"
