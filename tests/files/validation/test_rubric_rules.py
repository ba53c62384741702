"""Rules of criteria: each list with its problems, a line each: path below it, rule, message."""

from typing import Any

import pytest

from rubric_ci.files.validation.rubric_rules import criteria_problems
from tests.files.shown import placed


def found(criteria: Any) -> str:
    return placed(criteria_problems(criteria, ()))


def ranges(*pairs: Any) -> list[Any]:
    """Return a criterion with these score ranges."""
    return [{"score_ranges": [{"score_range": pair} for pair in pairs]}]


def levels(*numbers: Any, **gates: Any) -> list[Any]:
    """Return a criterion with these levels."""
    return [{"levels": [{"level": number} for number in numbers], **gates}]


def overlap(at: int, message: str) -> str:
    return f"0.score_ranges.{at}.score_range: score-range-overlap: {message}"


IDS: dict[str, tuple[Any, str]] = {
    "no list": ({"id": "a"}, ""),
    "no criteria": ([], ""),
    "texts": (["Greets", "Is warm"], ""),
    "two ids": ([{"id": "a"}, {"id": "b"}], ""),
    "the same id": (
        [{"id": "a"}, {"id": "a"}, {"id": "a"}],
        (
            "1.id: criterion-id-duplicate: the id `a` is taken by an earlier criterion\n"
            "2.id: criterion-id-duplicate: the id `a` is taken by an earlier criterion"
        ),
    ),
    "the id of the next one without an id": (
        [{"id": "rubric-2"}, {"expected_outcome": "x"}],
        "1: criterion-id-duplicate: the id `rubric-2` is taken by an earlier criterion",
    ),
    "the id of a text": (
        ["Greets", {"id": "rubric-1"}],
        "1.id: criterion-id-duplicate: the id `rubric-1` is taken by an earlier criterion",
    ),
    "ids that are no text": ([{"id": 1}, {"id": 1}], ""),
}

WEIGHTS: dict[str, tuple[Any, str]] = {
    "all 0": (
        [{"id": "a", "weight": 0}, {"id": "b", "weight": 0.0}],
        ": weight-total: every criterion has weight 0, so nothing is graded",
    ),
    "one above 0": ([{"id": "a", "weight": 0}, {"id": "b", "weight": 0.5}], ""),
    "one without a weight": ([{"id": "a", "weight": 0}, {"id": "b"}], ""),
    "a text counts": ([{"id": "a", "weight": 0}, "Greets"], ""),
}

PARTITION = {"score_ranges": [{"score_range": [0, 10]}]}
SCALE = {"levels": [{"level": 1}, {"level": 5}]}
NO_MINIMUM = "0.required_min_score: gate-kind: `required_min_score` has no effect on"
NO_LEVEL = "0.required_min_level: gate-out-of-reach: no level reaches"
GATES: dict[str, tuple[Any, str]] = {
    "of a check": ([{"required": True}], ""),
    "of a score": ([{**PARTITION, "required_min_score": 3}], ""),
    "of a level": ([{**SCALE, "required_min_level": 5}], ""),
    "of a score on a check": ([{"required_min_score": 3}], f"{NO_MINIMUM} a checklist criterion"),
    "of a score on an assertion": (
        [{"contains": "Hello", "required": True, "required_min_score": 3}],
        f"{NO_MINIMUM} an assertion",
    ),
    "of a check on a score": (
        [{**PARTITION, "required": True}],
        "0.required: gate-kind: `required` has no effect on a criterion with `score_ranges`",
    ),
    "of a score on levels": (
        [{**SCALE, "required_min_score": 3}],
        f"{NO_MINIMUM} a criterion with `levels`",
    ),
    "of two kinds of criteria": (
        [{**PARTITION, **SCALE, "required": True, "required_min_level": 9}],
        "",
    ),
    "a whole float": (
        [{**PARTITION, "required_min_score": 3.0}],
        "0.required_min_score: wrong-type: `required_min_score` must be an integer, not 3.0",
    ),
    "a fraction is left to the schema": ([{**PARTITION, "required_min_score": 3.5}], ""),
    "a level that is the highest": (levels(1, 5, required_min_level=5), ""),
    "a level out of reach": (levels(1, 5, required_min_level=6), f"{NO_LEVEL} 6; the highest is 5"),
    "the only level is out of reach": (
        levels(5, required_min_level=6),
        f"{NO_LEVEL} 6; the highest is 5",
    ),
    "too high for a map": (
        [{"levels": {"-1": "x", "2": "y"}, "required_min_level": 3}],
        f"{NO_LEVEL} 3; the highest is 2",
    ),
    "a word as a level of a map": (
        [{"levels": {"low": "x", "2": "y"}, "required_min_level": 3}],
        "",
    ),
    "a level that is no number": (levels(1, "2", required_min_level=6), ""),
    "an entry that is no level": ([{"levels": [5, {"level": 1}], "required_min_level": 9}], ""),
    "no levels": (levels(required_min_level=6), ""),
    "levels that are neither": ([{"levels": "high", "required_min_level": 6}], ""),
    "a minimum that is no number": (levels(1, 5, required_min_level="6"), ""),
    "a minimum that is true": (levels(0, required_min_level=True), ""),
}

COVERS = "0.score_ranges: score-range-coverage: no range covers"
OVERLAPS = (
    f"{overlap(1, '[5, 9] overlaps [0, 5]')}\n{overlap(2, '[9, 9] overlaps [5, 9]')}\n{COVERS} 10"
)
BOUNDS = "0.score_ranges.0.score_range: score-range-bounds"
RANGES: dict[str, tuple[Any, str]] = {
    "one": (ranges([0, 10]), ""),
    "two": (ranges([0, 4], [5, 10]), ""),
    "in any order": (ranges([5, 10], [0, 4]), ""),
    "eleven": (ranges(*([n, n] for n in range(11))), ""),
    "no list": ([{"score_ranges": "0-10"}], ""),
    "a gap": (ranges([0, 4], [6, 10]), f"{COVERS} 5"),
    "gaps at both ends": (ranges([1, 8]), f"{COVERS} 0, 9 and 10"),
    "two missing": (ranges([0, 8]), f"{COVERS} 9 and 10"),
    "an overlap of one score": (ranges([0, 5], [5, 10]), overlap(1, "[5, 10] overlaps [0, 5]")),
    "an overlap in another order": (ranges([5, 10], [0, 5]), overlap(1, "[0, 5] overlaps [5, 10]")),
    "one inside another": (ranges([0, 10], [3, 3]), overlap(1, "[3, 3] overlaps [0, 10]")),
    "an overlap, a gap": (
        ranges([0, 5], [5, 9]),
        f"{overlap(1, '[5, 9] overlaps [0, 5]')}\n{COVERS} 10",
    ),
    "as many scores as there are": (ranges([0, 5], [5, 9], [9, 9]), OVERLAPS),
    "twelve are too many to compare": (ranges(*[[0, 10]] * 12), ""),
    "eleven are compared": (
        ranges([0, 0], [0, 1], *([n, n] for n in range(2, 11))),
        overlap(1, "[0, 1] overlaps [0, 0]"),
    ),
    "reversed": (ranges([10, 0]), f"{BOUNDS}: the low bound 10 is above the high bound 0"),
    "reversed, with a gap": (
        ranges([4, 0], [6, 10]),
        f"{BOUNDS}: the low bound 4 is above the high bound 0",
    ),
    "no ranges": (ranges(), ""),
    "a number": ([{"score_ranges": 5}], ""),
    "above 10 is left to the schema": (ranges([0, 11], [5, 5]), ""),
    "below 0 is left to the schema": (ranges([-1, 10]), ""),
    "three bounds are left to the schema": (ranges([0, 5, 10]), ""),
    "true is no score": (ranges([False, 10]), ""),
    "no pair": (ranges("0-10"), ""),
    "no range": ([{"score_ranges": ["0-10", {"score_range": [0, 10]}]}], ""),
    "whole floats": (
        ranges([0, 4.0], [6.0, 10]),
        (
            "0.score_ranges.0.score_range.1: score-range-type: a bound of `score_range` must be "
            "an integer, not 4.0\n"
            "0.score_ranges.1.score_range.0: score-range-type: a bound of `score_range` must be "
            "an integer, not 6.0"
        ),
    ),
    "a whole float beside a range of all": (
        ranges([0, 10], [0, 4.0]),
        (
            "0.score_ranges.1.score_range.1: score-range-type: a bound of `score_range` must be "
            "an integer, not 4.0"
        ),
    ),
    "fractions are left to the schema": (ranges([0, 4.5]), ""),
    "a map": ([{"score_ranges": {"0": "a", "5": "b"}}], ""),
    "a map from -0": ([{"score_ranges": {"-0": "a"}}], ""),
    "an empty map": ([{"score_ranges": {}}], ""),
    "a map from 1": ([{"score_ranges": {"1": "a", "5": "b"}}], f"{COVERS} 0"),
    "a map of 10": ([{"score_ranges": {"10": "a"}}], f"{COVERS} 0, 1, 2, 3, 4, 5, 6, 7, 8 and 9"),
    "a map of 11 is left to the schema": ([{"score_ranges": {"11": "a"}}], ""),
    "a map below 0 is left to the schema": ([{"score_ranges": {"-1": "a", "4": "b"}}], ""),
    "a map of words is left to the schema": ([{"score_ranges": {"low": "a", "4": "b"}}], ""),
    "ranges and levels": ([{**PARTITION, **SCALE}], ""),
    "both wrong": ([{**ranges([1, 10])[0], "levels": [{"level": 1}, {"level": 1}]}], f"{COVERS} 0"),
    "wrong levels": ([{**PARTITION, "levels": [{"level": 1}] * 2}], ""),
}

LEVEL_TYPE = "0.levels.1.level: levels-type: `level` must be an integer, not 2.0"
LEVELS: dict[str, tuple[Any, str]] = {
    "distinct": (levels(1, 2, 5), ""),
    "twice": (levels(1, 2, 1), "0.levels.2.level: levels-duplicate: the level 1 is declared twice"),
    "a float": (levels(1, 2.0), LEVEL_TYPE),
    "a float is no duplicate": (levels(2, 2.0), LEVEL_TYPE),
    "a fraction is left to the schema": (levels(1, 2.5), ""),
    "true is not 1": (levels(1, True), ""),
    "entries that are no levels": ([{"levels": ["1", "1"]}], ""),
    "of the second criterion": (
        ["Greets", *levels(1, 1)],
        "1.levels.1.level: levels-duplicate: the level 1 is declared twice",
    ),
}


def rows(**tables: dict[str, tuple[Any, str]]) -> list[Any]:
    return [
        pytest.param(*row, id=f"{table}: {name}")
        for table, of in tables.items()
        for name, row in of.items()
    ]


@pytest.mark.parametrize(
    ("criteria", "expected"),
    rows(ids=IDS, weights=WEIGHTS, gates=GATES, ranges=RANGES, levels=LEVELS),
)
def test_criteria(criteria: Any, expected: str) -> None:
    assert found(criteria) == expected


@pytest.mark.parametrize(
    ("criteria", "hint"),
    [
        (ranges([10, 0]), "write [0, 10]"),
        ([{"required_min_score": 3}], "use `required`"),
        ([{**PARTITION, "required": True}], "use `required_min_score`"),
        ([{**SCALE, "required": True}], "use `required_min_level`"),
    ],
)
def test_the_hint_is_what_to_write(criteria: Any, hint: str) -> None:
    assert [each.hint for each in criteria_problems(criteria, ())] == [hint]


def test_a_gate_of_another_kind_is_shown_at_its_key() -> None:
    (problem,) = criteria_problems([{"required_min_score": 3}], ())
    assert problem.at_key


def test_a_duplicate_names_the_first_place() -> None:
    criteria = [{"id": "b"}, {"id": "a"}, {"id": "a"}]
    assert [each.first for each in criteria_problems(criteria, ("rubrics",))] == [("rubrics", 1)]
