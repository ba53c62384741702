"""Texts that are no number, and the number that each means."""

import pytest

from rubric_ci.text.suggestions import number_hint, seconds_hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5m", "300"),
        ("90s", "90"),
        ("1.5h", "5400"),
        ("250 ms", "0.25"),
        ("5 minutes", "300"),
        ("1 hour", "3600"),
        ("5 months", ""),
        ("m", ""),
        ("5", ""),
    ],
)
def test_a_duration(text: str, expected: str) -> None:
    assert seconds_hint(text) == (f"write {expected}: the unit is seconds" if expected else "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90%", "0.9"),
        ("$5", "5"),
        ("5 USD", "5"),
        ("2.50€", "2.50"),
        ("1,000,000", "1000000"),
        ("1_000", "1000"),
        ("0,5", "0.5"),
        ("1,00,0", ""),
        ("five", ""),
    ],
)
def test_an_amount(text: str, expected: str) -> None:
    assert number_hint(text) == (f"write {expected}" if expected else "")
