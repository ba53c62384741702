"""Assertions about the number of words, split at white space."""

from collections.abc import Callable
from functools import partial
from operator import ge, le
from typing import Final

from rubric_ci.assertions.row import Outcome, Row
from rubric_ci.text.numbers import plural


def _words(holds: Callable[[int, int], bool], text: str, limit: int, _: bool) -> Outcome:
    count = len(text.split())
    return Outcome(holds=holds(count, limit), found=f"it has {plural(count, 'word')}")


def _problem(limit: object) -> str:
    return f"it must be an integer, not {limit}" if isinstance(limit, float) else ""


_COUNT: Final = {"type": "integer", "minimum": 0}

ROWS: Final = (
    Row(
        key="max_words",
        check=partial(_words, le),
        says="has at most {} words",
        denies="has more than {} words",
        title="Maximum words",
        meaning="The text has at most so many words, split at white space.",
        value={**_COUNT, "examples": [120]},
        growth="weaker",
        problem=_problem,
    ),
    Row(
        key="min_words",
        check=partial(_words, ge),
        says="has at least {} words",
        denies="has fewer than {} words",
        title="Minimum words",
        meaning="The text has at least so many words, split at white space.",
        value={**_COUNT, "examples": [20]},
        growth="stronger",
        problem=_problem,
    ),
)
