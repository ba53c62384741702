"""The figures of the last run, from which the next one is estimated.

They are in its report, and in the folder of the cache, which workflows restore.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final, TypeAlias

from rubric_ci.errors import CannotWriteFile, UserError
from rubric_ci.files.parsing import typed_json
from rubric_ci.files.project.discovery import read_text
from rubric_ci.model.report import RunReport
from rubric_ci.model.used_by import Role, UsedBy
from rubric_ci.system import file_io

LastRun: TypeAlias = dict[tuple[Role, str, str], UsedBy]
"""By role, name and model; empty: no run is known."""

NAME: Final = "used-by.json"
_START: Final = '\n  "used_by": [\n'  # at the top of a report: no string of it has a line break
_END: Final = "\n  ]"


def last_run(report: Path, cache: Path | None, baseline: RunReport | None) -> LastRun:
    """Return the figures of the last report, else of the cache, else of the baseline."""
    before = baseline.used_by if baseline else ()
    kept = _used_by(cache / NAME) if cache else ()
    return _by_key((*before, *kept, *_used_by(report)))


def keep(cache: Path, root: Path, used: Sequence[UsedBy]) -> None:
    """Keep the figures of a run in the folder of the cache; raises CannotWriteFile."""
    if not used:
        return
    file_io.check_place(cache, root)
    every = [asdict(each) for each in _by_key((*_used_by(cache / NAME), *used)).values()]
    text = json.dumps({"used_by": every}, indent=2)
    try:
        file_io.write(cache / NAME, text.encode())
    except OSError as error:
        raise CannotWriteFile(f"{cache / NAME}: cannot write: {error.strerror}") from error


def _by_key(every: Iterable[UsedBy]) -> LastRun:
    return {(each.role, each.name, each.model): each for each in every if each.answers > 0}


def _used_by(file: Path) -> tuple[UsedBy, ...]:
    """Return the figures of a file; none of one that is not there or cannot be read.

    The cases of a report, which may have many megabytes, are not parsed.
    """
    try:
        entries = _entries(read_text(file)) if file.exists() else ""
        return typed_json.value_of(tuple[UsedBy, ...], f"[{entries}]") if entries else ()
    except (UserError, typed_json.Mismatch):
        return ()


def _entries(text: str) -> str:
    """Return the JSON between the brackets."""
    _, _, rest = text.partition(_START)
    return rest.partition(_END)[0]
