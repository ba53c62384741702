"""Names of the files that serve an eval file or hold policy; every path counts from the root."""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from posixpath import basename, dirname, join, splitext
from typing import Final, Protocol

from rubric_ci.dialects.table import AGENTV, PROVIDERS_NAMES, is_providers
from rubric_ci.model.references import Lookup

CONFIG_NAMES: Final = ("rubric-ci.yaml", "rubric-ci.yml")
TARGETS_NAMES: Final = ("targets.yaml", "targets.yml")
HIDDEN: Final = AGENTV
CALIBRATION: Final = "calibration.json"
LABELS: Final = "labels.jsonl"


def sidecar_name(name: str) -> str:
    """Return the file that may hold the suite fields of a JSON Lines file, else nothing."""
    stem, suffix = splitext(name)
    return f"{stem}.yaml" if suffix == ".jsonl" else ""


def is_targets_file(name: str) -> bool:
    """Return True for a targets file by its name with its folder."""
    return basename(name) in TARGETS_NAMES or is_providers(name)


def folder_served(name: str) -> str:
    """Return the folder whose eval files, and those below it, a targets file serves."""
    folder = dirname(name)
    return dirname(folder) if basename(folder) == HIDDEN else folder


def targets_candidates(folder: str) -> Iterator[str]:
    """Yield every targets file that would serve the eval files of a folder, the nearest first."""
    for above in _served(folder):
        yield from (join(above, name) for name in TARGETS_NAMES)
        yield from (join(above, HIDDEN, name) for name in (*TARGETS_NAMES, *PROVIDERS_NAMES))


def agentv_configs(folder: str) -> Iterator[str]:
    """Yield every `.agentv/config.yaml` that would serve the eval files of a folder."""
    yield from (join(above, HIDDEN, "config.yaml") for above in _served(folder))


def _served(folder: str) -> Iterator[str]:
    """Yield the folders whose files serve a folder: itself and those above it."""
    outside = folder.partition("/")[0] == ".." or PurePath(folder).is_absolute()
    return iter((folder,)) if outside else _upwards(folder)


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while folder:
        folder = dirname(folder)
        yield folder


class RepositoryFiles(Protocol):
    """One state of the files of a repository, by path from its root with forward slashes."""

    @property
    def root(self) -> Path:
        """The folder of the working tree."""

    def read(self, name: str, /) -> bytes | None:
        """Return a file's bytes, or None if there is no such file; raises CannotReadFile."""

    def lookup(self, name: str, /) -> Lookup:
        """Return the lookup of the references of an eval file."""

    def matching(self, glob: str, /) -> Iterable[str]:
        """Return the files that match a glob from the root."""
