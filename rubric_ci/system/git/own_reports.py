"""Reports of earlier runs among the files that git does not track: no run depends on them."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from posixpath import basename, dirname
from typing import Final

from rubric_ci.errors import CannotReadFile
from rubric_ci.system import file_io
from rubric_ci.values.media import COPIES
from rubric_ci.values.option_values import FAILURE, LAST_FAILED, PROBE, REPORT_FILES

_NAMES: Final = frozenset((*REPORT_FILES.values(), FAILURE, LAST_FAILED, PROBE))
_TOOL: Final = b'"tool": "rubric-ci '


def without_reports(root: Path, untracked: Iterable[str]) -> tuple[str, ...]:
    """Leave out the files that a run wrote next to its `report.json`."""
    paths = tuple(untracked)
    reports = (path for path in paths if basename(path) == REPORT_FILES["json"])
    folders = {dirname(path) for path in reports if _is_own(root / path)}
    return tuple(path for path in paths if not _is_written(path, folders)) if folders else paths


def _is_written(path: str, folders: set[str]) -> bool:
    folder, name = dirname(path), basename(path)
    if folder in folders:
        return name in _NAMES
    return basename(folder) == COPIES and dirname(folder) in folders


def _is_own(path: Path) -> bool:
    try:
        return any(_TOOL in line for line in islice(file_io.read_lines(path, 100), 5))
    except CannotReadFile:
        return False
