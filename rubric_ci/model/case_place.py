"""A case that is named by its file: `FILE::CASE` or `FILE:LINE`, as in pytest."""

import re
from collections.abc import Sequence
from typing import Final

from rubric_ci.model.dataclass import dataclass

_PLACE: Final = re.compile(r"(.+\.(?:ya?ml|jsonl|csv|json))(?:::(.+)|:(\d+)(?::\d+)?)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePlace:
    """A case of a file, by a glob over its id or by a line of it."""

    file: str  # as it is written
    case: str = ""
    line: int = 0

    def __str__(self) -> str:
        """Return the place as it is written."""
        return f"{self.file}::{self.case}" if self.case else f"{self.file}:{self.line}"


def read_places(paths: Sequence[str]) -> tuple[tuple[str, ...], tuple[CasePlace, ...]]:
    """Return the paths without places, and the places; a file that is given whole has none."""
    found = {path: _PLACE.fullmatch(path) for path in paths}
    whole = {path for path, place in found.items() if not place}
    places = tuple(
        CasePlace(file=place[1], case=place[2] or "", line=int(place[3] or 0))
        for place in found.values()
        if place and place[1] not in whole
    )
    return tuple(dict.fromkeys(each[1] if each else path for path, each in found.items())), places
