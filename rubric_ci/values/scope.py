"""The part of the suite that a run covers, and the options that narrowed it."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from typing import Annotated, Final, Literal, TypeAlias, get_args

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.written_keys import Key

Narrowing: TypeAlias = Literal[
    "paths",
    "invalid",
    "case",
    "tag",
    "changed-since",
    "last-failed",
    "shard",
    "max-failures",
    "interrupted",
    "offline",
    "replay",
]
"""The reasons that narrow a run, in order of application; `invalid`: eval files with problems."""

NARROWINGS: Final[tuple[Narrowing, ...]] = get_args(Narrowing)
EVERY_CASE: Final = "no case filter"  # why a case of a run of all cases ran
_UNFINISHED: Final = frozenset[Narrowing](("max-failures", "interrupted"))
_WORDS: Final[dict[Narrowing, str]] = {
    "paths": "given paths",
    "case": "case filter",
    "invalid": "eval files with problems left out",
    "interrupted": "interrupted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The part of the suite that a run covers.

    A replayed run is complete: it has every case of the suite, with recorded marks.
    """

    complete: bool = True  # every case of the suite ran
    narrowed_by: tuple[Narrowing, ...] = ()
    suite: int | None = None  # cases of the suite; None: unknown
    base: str = ""  # of --changed-since: "the last common commit with … (…)"

    def narrowed(self, *by: Narrowing) -> "Scope":
        """Return the scope of a part of this one."""
        return self._with({*self.narrowed_by, *by})

    def without(self, *names: Narrowing) -> "Scope":
        """Return the scope as if these had not narrowed it."""
        return self._with(set(self.narrowed_by) - set(names))

    @property
    def unfinished(self) -> bool:
        """Return True if the run ended before its last case."""
        return not _UNFINISHED.isdisjoint(self.narrowed_by)

    @property
    def unread(self) -> bool:
        """Return True if an eval file has problems, so that its cases are unknown."""
        return "invalid" in self.narrowed_by

    @property
    def replayed(self) -> bool:
        """Return True if the replies of models are from a recording."""
        return "replay" in self.narrowed_by

    def describe(self, cases: int) -> str:
        """Return how many cases a run covers and what narrowed it; empty if it is complete."""
        if self.complete:
            return ""
        covered = _cases(cases) if self.suite is None else f"{cases:,} of {_cases(self.suite)}"
        shown = (_WORDS.get(name, f"--{name}") for name in self.narrowed_by if name != "replay")
        return f"{covered}: {', '.join(shown)}"

    def _with(self, names: Set[Narrowing]) -> "Scope":
        return replace(
            self,
            complete=is_complete(names),
            narrowed_by=tuple(name for name in NARROWINGS if name in names),
        )


WHOLE: Final = Scope()


def _cases(number: int) -> str:
    return f"{number:,} case{'' if number == 1 else 's'}"


def is_complete(narrowed_by: Iterable[Narrowing]) -> bool:
    """Return True if none of these leaves out a case."""
    return set(narrowed_by) <= {"replay"}


def merged(scopes: Iterable[Scope]) -> Scope:
    """Return the scope of all shards of a run: sharding narrows it no more."""
    first, *others = scopes
    return first.narrowed(*(name for each in others for name in each.narrowed_by)).without("shard")


_PLACE: Final = re.compile(r"(.+\.(?:ya?ml|jsonl?|[ct]sv))(?:::(.+)|:(\d+)(?::\d+)?)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePlace:
    """A case of a file, by a glob over its id or by a line of it."""

    file: str  # as it is written
    case: str = ""
    line: int = 0

    def __str__(self) -> str:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class UntrustedCaps:
    max_cost_usd: Annotated[float, Key(0.25, minimum=0)] = 1.0
    """Maximum cost of a run in US dollars. A lower `--max-cost-usd` holds as well."""
    max_cases: Annotated[int, Key(20, minimum=0)] = 50
    """Maximum number of graded cases. The others are skipped, and the run has no verdict."""
    max_characters: Annotated[int, Key(50000, minimum=0)] = 200_000
    """Maximum number of characters of the graded cases, with their rubrics, files, and the prompts
    of their targets. The other cases are skipped, and the run has no verdict."""
