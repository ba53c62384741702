"""The names of the columns of every table of cases, and of the keys of golden sets."""

import re
from collections.abc import Sequence, Set
from typing import Final

COLUMNS: Final = ("id", "input", "expected_outcome", "expected_output", "rubrics", "tags")
"""Columns with a fixed meaning; every other one is a variable."""

USUAL: Final = {
    "id": ("id", "case_id", "name"),
    "input": ("input", "prompt", "question", "query", "user_input", "inputs"),
    "expected_outcome": ("expected_outcome", "criteria", "outcome"),
    "expected_output": (
        *("expected_output", "expected", "ground_truth", "reference", "ideal", "target"),
        *("reference_answer", "expected_answer", "reference_outputs", "answer", "outputs"),
    ),
    "rubrics": ("rubrics",),
    "tags": ("tags",),
}
"""Usual names of a column, or of a key of a golden set, that has a meaning, the first one first.

NOTE: next to `ground_truth` or `reference`, `answer` is the answer of a program.
"""

_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def named(header: Sequence[str]) -> dict[str, str]:
    """Return the meaning of each column that has one: the first usual name in the header."""
    written = {spelt(each): each for each in reversed(header)}
    found = {ours: [n for n in usual if n in written] for ours, usual in USUAL.items()}
    return {written[names[0]]: ours for ours, names in found.items() if names}


def usual_names(known: Set[str]) -> list[str]:
    """Return the names of the meanings that a case lacks."""
    return [name for ours, usual in USUAL.items() if ours not in known for name in usual]


def spelt(name: str) -> str:
    """Return a name in any case as `USUAL` has it: `Ground truth`, `groundTruth`."""
    return "_".join(_HUMP.sub("_", name).lower().replace("-", " ").split())
