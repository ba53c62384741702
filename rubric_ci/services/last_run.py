"""What a run keeps for the next one: its figures, and how often the criterion of a waiver was met.

The figures, from which the next run is estimated, are in the report as well; the folder of the
cache has both, and workflows restore it. Of a waiver, a run counts for a case that was answered and
marked in it: a mark from the cache shows nothing new.
"""

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from rubric_ci.files.parsing import typed_json
from rubric_ci.system import file_io
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Assessed, CaseResult, with_verdict
from rubric_ci.values.usage import NOTHING_USED, Role, UsedBy
from rubric_ci.values.waivers import ENOUGH, WaiverResult

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


PASSES: Final = "waiver-passes.json"


def with_passes(
    waivers: Sequence[WaiverResult], before: Mapping[str, int], new: Set[CaseKey]
) -> tuple[WaiverResult, ...]:
    """Return the waivers; one whose criterion was met often enough in a row is unneeded."""
    return tuple(
        replace(each, state="unneeded")
        if each.state == "met" and _times(each, before, new) >= ENOUGH
        else each
        for each in waivers
    )


def read_passes(cache: Path | None) -> Mapping[str, int]:
    """Return how often each was met before; nothing of a file that cannot be read."""
    if cache is None:
        return {}
    try:
        data = typed_json.load(file_io.read_end(cache / PASSES, _MOST_BYTES).decode())
    except (OSError, UnicodeDecodeError, typed_json.Mismatch):
        return {}
    counts = data if isinstance(data, dict) else {}
    return {key: count for key, count in counts.items() if isinstance(count, int)}


def newly_marked(cases: Iterable[CaseResult]) -> frozenset[CaseKey]:
    """Return the cases that were answered and marked in this run."""
    return frozenset(
        case.key
        for case in with_verdict(cases)
        if not case.answer_reused
        if not any(isinstance(each, Assessed) and each.cached_marks for each in case.evaluators)
    )


def keep_passes(
    cache: Path, root: Path, waivers: Sequence[WaiverResult], new: Set[CaseKey]
) -> None:
    """Count this run; raises CannotWriteFile."""
    before = dict(read_passes(cache))
    ended = [each for each in waivers if each.state in {"applied", "met", "unneeded"}]
    counts = {
        _waiver_key(each): 0 if each.state == "applied" else _times(each, before, new)
        for each in ended
    }
    if not counts:
        return
    text = json.dumps({**before, **counts}, indent=2, sort_keys=True)
    with file_io.writing(cache / PASSES):
        file_io.write_within(cache / PASSES, text.encode(), root)


def _times(waiver: WaiverResult, before: Mapping[str, int], new: Set[CaseKey]) -> int:
    """Return in how many runs in a row the criterion was met, this one included if it counts."""
    return before.get(_waiver_key(waiver), 0) + ((waiver.file, waiver.case) in new)


def _waiver_key(waiver: WaiverResult) -> str:
    return f"{waiver.file}\n{waiver.case}\n{waiver.criterion}\n{waiver.until}"
