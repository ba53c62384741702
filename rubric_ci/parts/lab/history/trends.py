"""Trends in the records of runs: judge changes, strips of verdicts, and flips."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rubric_ci.parts.lab.history.record import GRADED, RunRecord
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import JudgeInfo

ABSENT: Final = "-"  # in a strip: the case was not in that run
_BY_ATTENTION: Final = "fewbps-"  # verdict letters of the latest run, the most urgent first


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The verdicts of one case over all runs."""

    key: CaseKey
    verdicts: str  # a letter per run, the oldest first
    flips: int  # changes of the verdict from one run to the next that has one
    mixed: int  # runs whose own trials have different verdicts

    @property
    def latest(self) -> str:
        """The letter of the latest run."""
        return self.verdicts[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChange:
    """A run whose judge differs from the one of the run before, by its name or by its marks."""

    run: int  # its index
    text: str  # what changed, in a few words


def strips(records: Sequence[RunRecord]) -> tuple[Strip, ...]:
    """Return the strip of every case, those that need attention first."""
    letters: dict[CaseKey, list[str]] = {}
    mixed: dict[CaseKey, int] = {}
    empty = ABSENT * len(records)
    for n, record in enumerate(records):
        for key, letter in zip(record.cases, record.verdicts, strict=True):
            if key not in letters:
                letters[key] = list(empty)
            letters[key][n] = letter
        for key in record.mixed:
            mixed[key] = mixed.get(key, 0) + 1
    found = (_strip(key, "".join(row), mixed.get(key, 0)) for key, row in letters.items())
    return tuple(sorted(found, key=_order))


def judge_changes(records: Sequence[RunRecord]) -> tuple[JudgeChange, ...]:
    """Return the runs with another judge than the last run that had one.

    Runs from a move of the judge until `baseline accept` are one change.
    """
    judged = [(n, r.judge, r.judge_moved) for n, r in enumerate(records) if r.judge is not None]
    return tuple(
        JudgeChange(run=n, text=_difference(before, after))
        for (_, before, had_moved), (n, after, moved) in pairwise(judged)
        if before != after or (moved and not had_moved)
    )


def _strip(key: CaseKey, verdicts: str, mixed: int) -> Strip:
    # A waived fail is a fail: the waiver changes the gate, not the answer.
    graded = [letter for letter in verdicts.replace("w", "f") if letter in GRADED]
    flips = sum(one != other for one, other in pairwise(graded))
    return Strip(key=key, verdicts=verdicts, flips=flips, mixed=mixed)


def _order(strip: Strip) -> tuple[int, int, CaseKey]:
    return _BY_ATTENTION.index(strip.latest), -strip.flips, strip.key


def _difference(before: JudgeInfo, after: JudgeInfo) -> str:
    pairs = (
        ("", before.model, after.model),
        ("prompt ", before.prompt_version, after.prompt_version),
        ("", before.mode, after.mode),
        ("votes ", before.votes, after.votes),
    )
    named = "; ".join(f"{name}{was} → {now}" for name, was, now in pairs if was != now)
    return named or f"{after.model} marks the remembered answers differently"
