"""Marks of two raters, for tests of agreement."""

from collections.abc import Sequence
from random import Random

from rubric_ci.parts.lab.agreement import DrawGamma, MarkPair, pair
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import Check

CHECK = Check(id="c", text="Says so", span=Span(1, 1, 1, 2))


def seeded(seed: int) -> DrawGamma:
    generator = Random(seed)
    return lambda shape: generator.gammavariate(shape, 1.0)


def table(cells: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Unroll a confusion matrix: rows are the first rater."""
    return [(r, c) for r, row in enumerate(cells) for c, n in enumerate(row) for _ in range(n)]


def checks(marks: Sequence[tuple[int, int]], name: str = "c") -> list[MarkPair]:
    return [pair(CHECK, str(i), bool(a), bool(b), name=name) for i, (a, b) in enumerate(marks)]
