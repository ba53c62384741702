"""In how many runs in a row the criterion of a waiver was met, in the folder of the cache.

A run counts for a case that was answered and marked in it: a mark from the cache shows nothing new.
"""

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Final

from rubric_ci.files.parsing import typed_json
from rubric_ci.system import file_io
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.results import Assessed, CaseResult, with_verdict
from rubric_ci.values.waivers import ENOUGH, WaiverResult

NAME: Final = "waiver-passes.json"
_MOST_BYTES: Final = 2**20


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
        data = typed_json.load(file_io.read_end(cache / NAME, _MOST_BYTES).decode())
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
        _key(each): 0 if each.state == "applied" else _times(each, before, new) for each in ended
    }
    if not counts:
        return
    text = json.dumps({**before, **counts}, indent=2, sort_keys=True)
    with file_io.writing(cache / NAME):
        file_io.write_within(cache / NAME, text.encode(), root)


def _times(waiver: WaiverResult, before: Mapping[str, int], new: Set[CaseKey]) -> int:
    """Return in how many runs in a row the criterion was met, this one included if it counts."""
    return before.get(_key(waiver), 0) + ((waiver.file, waiver.case) in new)


def _key(waiver: WaiverResult) -> str:
    return f"{waiver.file}\n{waiver.case}\n{waiver.criterion}\n{waiver.until}"
