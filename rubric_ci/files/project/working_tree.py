"""The files of a repository as they are on disk, and the programs of this machine."""

import os
import re
from collections.abc import Mapping
from functools import cache
from itertools import takewhile
from os.path import exists, isdir
from pathlib import Path
from typing import NamedTuple

from rubric_ci.files.project import discovery
from rubric_ci.text.globs import matcher
from rubric_ci.values.references import Lookup, Machine


class WorkingTree(NamedTuple):
    """Implements `RepositoryFiles` with a folder; `validate` has no need of dataclasses."""

    root: Path

    def path(self, name: str) -> Path:
        """Return the path of a name; one outside of the root counts from the current folder."""
        return Path(name) if name.startswith("../") else self.root / name

    def read(self, name: str) -> bytes | None:
        """Return a file's bytes, or None if there is no such file; raises CannotReadFile."""
        path = self.path(name)
        exists = os.path.lexists(path)  # a dangling link or a pipe is refused, not left out
        return discovery.read_bytes(discovery.shown(path), self.root) if exists else None

    def lookup(self, name: str) -> Lookup:
        """Return the lookup of the references of an eval file."""
        return discovery.lookup(self.root, self.path(name))

    def matching(self, glob: str) -> list[str]:
        """Return the files that match a glob from the root, without hidden folders."""
        fits = matcher([glob])
        fixed = takewhile(lambda part: not re.search(r"[*?[]", part), glob.split("/")[:-1])
        found = []
        for folder, folders, files in os.walk(self.root.joinpath(*fixed)):
            folders[:] = [each for each in folders if not each.startswith(".")]
            above = Path(folder).relative_to(self.root)
            found += [name for file in files if fits(name := (above / file).as_posix())]
        return found


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
        has_folder=lambda written: folder is None or isdir(resolve(written)),
        has_file=lambda written, path: folder is None or exists(resolve(written) / path),
        has_program=lambda name: _find(name, search_path),
    )


@cache
def _find(name: str, search_path: str) -> bool:
    from shutil import which  # most files start no program

    try:
        return which(name, path=search_path) is not None
    except ValueError:  # a null character, on Windows
        return False
