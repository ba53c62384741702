"""The files of a repository as they are on disk; paths count from its root."""

from dataclasses import dataclass
from pathlib import Path

from rubric_ci.model.references import Lookup
from rubric_ci.project import discovery


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingTree:
    """Implements `RepositoryFiles` with a folder."""

    root: Path

    def path(self, name: str) -> Path:
        """Return the path of a name; one outside of the root counts from the current folder."""
        return Path(name) if name.startswith("../") else self.root / name

    def read(self, name: str) -> bytes | None:
        """Return a file's bytes, or None if there is no such file; raises CannotReadFile."""
        path = self.path(name)
        return discovery.read_bytes(discovery.shown(path), self.root) if path.is_file() else None

    def lookup(self, name: str) -> Lookup:
        """Return what resolves the references of an eval file."""
        return discovery.lookup(self.root, self.path(name))
