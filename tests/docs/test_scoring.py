"""The worked examples of `docs/evaluators.md`, computed again."""

import re

import pytest

from rubric_ci.files.project.loader import load
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.references import Found
from rubric_ci.values.rubric import Judgement, Mark, Rubric, score
from rubric_ci.values.scoring import CANNOT_ASSESS, MarkValue, Score, combine, verdict
from tests.docs.code_blocks import ROOT, code_blocks

PAGE = ROOT / "docs/evaluators.md"
TEXT = PAGE.read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| (yes|no|cannot assess) \| (yes|no) \| (\d+) \| ([\d.]+) \| (\w+) \|$", TEXT, re.MULTILINE
)
PAIRS = re.findall(
    r"^\| \w+ \(([\d.]+)\) \| ([\d.]+) \| \w+ \(([\d.]+)\) \| ([\d.]+) \| ([\d.]+) \|$",
    TEXT,
    re.MULTILINE,
)
MARKS: dict[str, MarkValue] = {"yes": True, "no": False, "cannot assess": CANNOT_ASSESS}


PENALISED = re.findall(
    r"^\| (yes|no) \| (yes|no) \| (yes|no) \| (yes|no) \| ([\d.]+) \| (\w+) \|$", TEXT, re.MULTILINE
)


def rubric(number: int) -> Rubric:
    """Return a rubric that the page shows."""
    loaded = load(
        "evals/a.yaml", list(code_blocks(PAGE))[number].text, lambda name: Found(name, "")
    )
    assert loaded.eval_file is not None
    (spec,) = loaded.eval_file.cases[0].evaluators
    assert isinstance(spec, RubricSpec)
    return spec.rubric


@pytest.mark.parametrize("row", ROWS, ids=" ".join)
def test_criteria(row: tuple[str, ...]) -> None:
    limit, polite, depth, value, expected = row
    marks: dict[str, MarkValue] = {
        "limit": MARKS[limit],
        "polite": MARKS[polite],
        "depth": int(depth),
    }
    judgement = Judgement({name: Mark(value=mark) for name, mark in marks.items()})
    found = score(rubric(1), judgement)
    assert (found.value, found.verdict) == (float(value), expected)


@pytest.mark.parametrize("row", PENALISED, ids=" ".join)
def test_penalties(row: tuple[str, ...]) -> None:
    *marks, value, expected = row
    penalised = rubric(2)
    named = {c.id: Mark(value=MARKS[mark]) for c, mark in zip(penalised, marks, strict=True)}
    found = score(penalised, Judgement(named))
    assert (found.value, found.verdict) == (float(value), expected)


@pytest.mark.parametrize("row", PAIRS, ids=" ".join)
def test_evaluators(row: tuple[str, ...]) -> None:
    first_weight, first, second_weight, second, value = map(float, row)
    parts = [(first_weight, first), (second_weight, second)]
    scores = [(weight, Score(value=part, verdict=verdict(part))) for weight, part in parts]
    assert combine(scores).value == value


def test_every_row_is_computed() -> None:
    assert (len(ROWS), len(PENALISED), len(PAIRS)) == (6, 4, 3)
