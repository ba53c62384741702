"""The files of a repository as they are on disk; paths count from its root."""

import os
from pathlib import Path
from typing import NamedTuple

from rubric_ci.model.references import Lookup
from rubric_ci.project import discovery


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
        """Return what resolves the references of an eval file."""
        return discovery.lookup(self.root, self.path(name))
