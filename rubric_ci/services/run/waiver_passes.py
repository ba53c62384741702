"""In how many runs in a row the criterion of a waiver was met, in the folder of the cache."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotWriteFile
from rubric_ci.files.parsing import typed_json
from rubric_ci.system import file_io
from rubric_ci.values.waivers import ENOUGH, WaiverResult

NAME: Final = "waiver-passes.json"
_MOST_BYTES: Final = 2**20


def with_passes(
    waivers: Sequence[WaiverResult], before: Mapping[str, int]
) -> tuple[WaiverResult, ...]:
    """Return the waivers; one whose criterion was met often enough in a row is unneeded."""
    return tuple(
        replace(each, state="unneeded")
        if each.state == "met" and before.get(_key(each), 0) + 1 >= ENOUGH
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


def keep_passes(cache: Path, root: Path, waivers: Sequence[WaiverResult]) -> None:
    """Count this run; raises CannotWriteFile."""
    before = dict(read_passes(cache))
    ended = [each for each in waivers if each.state in {"applied", "met", "unneeded"}]
    counts = {_key(each): _counted(each, before) for each in ended}
    if not counts:
        return
    file_io.check_place(cache, root)
    text = json.dumps({**before, **counts}, indent=2, sort_keys=True)
    try:
        file_io.write(cache / NAME, text.encode())
    except OSError as error:
        raise CannotWriteFile(f"{cache / NAME}: cannot write: {error.strerror}") from error


def _counted(waiver: WaiverResult, before: Mapping[str, int]) -> int:
    return 0 if waiver.state == "applied" else min(before.get(_key(waiver), 0) + 1, ENOUGH)


def _key(waiver: WaiverResult) -> str:
    return f"{waiver.file}\n{waiver.case}\n{waiver.criterion}\n{waiver.until}"
