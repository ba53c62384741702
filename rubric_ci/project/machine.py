"""What commands need of this machine: folders, files and programs on the PATH."""

import os
from collections.abc import Mapping
from functools import cache
from os.path import exists, isdir
from pathlib import Path

from rubric_ci.model.references import Machine


def machine_for(root: Path, folder: Path | None, environment: Mapping[str, str]) -> Machine:
    """Return the lookups for a file in a folder.

    Without a folder, where each eval file decides it, every folder and file is taken to exist.
    """
    search_path = environment.get("PATH", os.defpath)

    def resolve(written: str) -> Path:
        start = root if written.startswith("/") else folder or root
        return start / written.lstrip("/")

    return Machine(
        # NOTE: these return False for a name that no file can have, where Path raises.
        has_folder=lambda written: folder is None or isdir(resolve(written)),  # noqa: PTH112
        has_file=lambda written, path: folder is None or exists(resolve(written) / path),  # noqa: PTH110
        has_program=lambda name: _find(name, search_path),
    )


@cache
def _find(name: str, search_path: str) -> bool:
    from shutil import which  # most files start no program

    try:
        return which(name, path=search_path) is not None
    except ValueError:  # a null character, on Windows
        return False
