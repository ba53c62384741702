"""The figures of the last run, from which the next one is estimated.

They are in its report, and in the folder of the cache, which workflows restore.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from rubric_ci.files.parsing import typed_json
from rubric_ci.system import file_io
from rubric_ci.values.report import RunReport
from rubric_ci.values.usage import NOTHING_USED, Role, UsedBy

LastRun: TypeAlias = dict[tuple[Role, str, str], UsedBy]
"""By role, name and model; empty: no run is known."""

NAME: Final = "used-by.json"
_MOST_BYTES: Final = 2**20  # of the end of a file
_START: Final = '\n  "used_by": [\n'  # of a report itself: no string in it has a line break
_END: Final = "\n  ]"
_NOTHING: Final = UsedBy(role="judge", name="", answers=0, usage=NOTHING_USED)


def last_run(report: Path, cache: Path | None, baseline: RunReport | None) -> LastRun:
    """Return the figures of the last report, else of the cache, else of the baseline."""
    before = baseline.used_by if baseline else ()
    kept = _used_by(cache / NAME) if cache else ()
    return _by_key((*before, *kept, *_used_by(report)))


def keep(cache: Path, root: Path, used: Sequence[UsedBy]) -> None:
    """Keep the figures of a run in the folder of the cache; raises CannotWriteFile."""
    if not used:
        return
    every = [asdict(each) for each in _by_key((*_used_by(cache / NAME), *used)).values()]
    text = json.dumps({"used_by": every}, indent=2)
    with file_io.writing(cache / NAME):
        file_io.write_within(cache / NAME, text.encode(), root)


def _by_key(every: Iterable[UsedBy]) -> LastRun:
    return {(each.role, each.name, each.model): each for each in every if each.answers > 0}


def _used_by(file: Path) -> tuple[UsedBy, ...]:
    """Return the figures of a file; none of one that is not there or cannot be read.

    In a report they are after the cases, which may have many megabytes and are not read.
    """
    try:
        text = file_io.read_end(file, _MOST_BYTES).decode("utf-8", "replace")
        entries = text.partition(_START)[2].partition(_END)[0]
        return tuple(_filled(_NOTHING, each) for each in typed_json.load(f"[{entries}]"))
    except (OSError, typed_json.Mismatch):
        return ()


def _filled(known: Any, data: Any) -> Any:
    """Return the known value with the data in it; raises Mismatch if one has another type.

    pydantic would take a sixth of a run whose only case is cached.
    """
    if isinstance(data, dict) and is_dataclass(known) and not isinstance(known, type):
        there = [field.name for field in fields(known) if field.name in data]
        return replace(known, **{name: _filled(getattr(known, name), data[name]) for name in there})
    if type(data) is type(known) or (type(known) is float and type(data) is int):
        return data
    raise typed_json.Mismatch(f"not of type {type(known).__name__}")
