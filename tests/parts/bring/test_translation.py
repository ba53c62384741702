"""Regular expressions of JavaScript that RE2 reads alike, and those that it does not."""

import pytest

from rubric_ci.parts.bring.translation import other_meaning

ALIKE = [r"INV-\d{4}", r"^\s*(?:yes|no)\.?$", "[^a-z]+", r"(?<year>\d+)", r"a\/b\-c", r"\x41"]
OTHERWISE = {
    "(?i)yes": "(?i",
    "(?=a)b": "(?=",
    "(?<!a)b": "(?<!",
    r"(a)\1": r"\1",
    r"\p{L}": r"\p",
    r"\u0041": r"\u",
    r"\Aa": r"\A",
    "[^]": "[^]",
    "[[:alpha:]]": "[[:",
    "(?P<year>a)": "(?P<",
}


@pytest.mark.parametrize("pattern", ALIKE)
def test_alike(pattern: str) -> None:
    assert other_meaning(pattern) == ""


@pytest.mark.parametrize(("pattern", "part"), OTHERWISE.items())
def test_otherwise(pattern: str, part: str) -> None:
    assert other_meaning(pattern) == part
