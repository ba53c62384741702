"""The one "did you mean": which known name is suggested, and in which words."""

import pytest

from rubric_ci.text.suggestions import did_you_mean, known_names, nearest, suggest

MANY = [f"case-{number:03}" for number in range(100)]
TWENTY = f"known: {', '.join(f'`{name}`' for name in MANY[:20])}"


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("rubric", ["rubrics", "input"], "rubrics"),
        ("inptu", ["rubrics", "input"], "input"),
        ("Max-Tokens", ["max_tokens"], "max_tokens"),
        ("max_tokens", ["MAX-TOKENS"], "MAX-TOKENS"),
        ("gate-knd", ["gate-kind"], "gate-kind"),
        ("question", ["rubrics", "input"], "input"),  # a synonym
        ("question", ["rubrics"], ""),
        ("time", ["timeout_seconds"], "timeout_seconds"),  # its beginning
        ("xyz", ["rubrics"], ""),
        ("a" * 101, ["a" * 101], ""),  # too long to compare
        ("case-99", MANY, "case-059"),  # only the first 64 are compared
    ],
)
def test_nearest(name: str, known: list[str], expected: str) -> None:
    assert nearest(name, known) == expected


def test_nearest_of_all() -> None:
    assert nearest("case_099", MANY, most=100) == "case-099"


def test_did_you_mean() -> None:
    assert did_you_mean("rubrics") == "did you mean `rubrics`?"
    assert did_you_mean("") == ""


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], "none is defined"),
        (["a"], "known: `a`"),
        (["b", "a"], "known: `b`, `a`"),
        (MANY[:22], f"{TWENTY} and 2 more"),
        ([*MANY, *map(str, range(1120))], f"{TWENTY} and 1,200 more"),
    ],
)
def test_known_names(names: list[str], expected: str) -> None:
    assert known_names(names) == expected


@pytest.mark.parametrize(
    ("name", "known", "most", "expected"),
    [
        ("defualt", ["other", "default"], 64, "did you mean `default`?"),
        ("x", ["b", "a"], 64, "known: `a`, `b`"),
        ("zz99", [*MANY, "zz999"], 64, f"{TWENTY} and 81 more"),
        ("zz99", [*MANY, "zz999"], 0, "did you mean `zz999`?"),
    ],
)
def test_suggest(name: str, known: list[str], most: int, expected: str) -> None:
    assert suggest(name, known, most=most) == expected
