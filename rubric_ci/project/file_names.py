"""Names of the files that serve an eval file or hold policy; every path counts from the root."""

from collections.abc import Iterator
from pathlib import PurePath
from posixpath import basename, dirname, join, splitext
from typing import Final

CONFIG_NAMES: Final = ("rubric-ci.yaml", "rubric-ci.yml")
TARGETS_NAMES: Final = ("targets.yaml", "targets.yml")
HIDDEN: Final = ".agentv"
CALIBRATION: Final = "calibration.json"
LABELS: Final = "labels.jsonl"


def sidecar_name(name: str) -> str:
    """Return the file that may hold the suite fields of a JSON Lines file, else nothing."""
    stem, suffix = splitext(name)
    return f"{stem}.yaml" if suffix == ".jsonl" else ""


def folder_served(name: str) -> str:
    """Return the folder whose eval files, and those below it, a targets file serves."""
    folder = dirname(name)
    return dirname(folder) if basename(folder) == HIDDEN else folder


def targets_candidates(folder: str) -> Iterator[str]:
    """Yield every targets file that would serve the eval files of a folder, the nearest first."""
    for above in _served(folder):
        for place in ("", HIDDEN):
            yield from (join(above, place, name) for name in TARGETS_NAMES)


def agentv_configs(folder: str) -> Iterator[str]:
    """Yield every `.agentv/config.yaml` that would serve the eval files of a folder."""
    yield from (join(above, HIDDEN, "config.yaml") for above in _served(folder))


def _served(folder: str) -> Iterator[str]:
    """Yield the folders whose files serve a folder: itself and those above it."""
    outside = folder.split("/", maxsplit=1)[0] == ".." or PurePath(folder).is_absolute()
    return iter((folder,)) if outside else _upwards(folder)


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while folder:
        folder = dirname(folder)
        yield folder
