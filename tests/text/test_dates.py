"""Days that a text can mean."""

from datetime import date

import pytest

from rubric_ci.text.dates import last_day, read_days

JANUARY = date(2025, 1, 15)


@pytest.mark.parametrize(
    ("text", "formats", "days"),
    [
        pytest.param("2025-01-15", (), {JANUARY}, id="iso"),
        pytest.param("2025-01-15T23:59:59+02:00", (), {JANUARY}, id="iso-with-zone"),
        pytest.param(" 2025.1.15 ", (), {JANUARY}, id="year-first"),
        pytest.param("15-jan-2025", (), {JANUARY}, id="month-name"),
        pytest.param("15. January 2025", (), {JANUARY}, id="day-with-a-dot"),
        pytest.param("January 15th, 2025", (), {JANUARY}, id="month-first"),
        pytest.param("1 Sept 2025", (), {date(2025, 9, 1)}, id="sept"),
        pytest.param("15/01/2025 9:30 pm", (), {JANUARY}, id="with-a-time"),
        pytest.param("01-15-2025", (), {JANUARY}, id="american"),
        pytest.param("03/04/2025", (), {date(2025, 3, 4), date(2025, 4, 3)}, id="two-meanings"),
        pytest.param("03/04/2025", ("DD/MM/YYYY",), {date(2025, 4, 3)}, id="format-decides"),
        pytest.param("03/04/2025", ("YYYY-MM-DD",), set(), id="no-format-decides"),
        pytest.param("2025-01-15", ("DD/MM/YYYY",), {JANUARY}, id="iso-and-formats"),
        pytest.param("15/01/25", (), set(), id="two-digits"),
        pytest.param("15/01-2025", (), set(), id="mixed-signs"),
        pytest.param("31/04/2025", (), set(), id="a-day-that-does-not-exist"),
        pytest.param("15-foo-2025", (), set(), id="a-month-that-does-not-exist"),
        pytest.param("", (), set(), id="empty"),
    ],
)
def test_read_days(text: str, formats: tuple[str, ...], days: set[date]) -> None:
    assert read_days(text, formats) == days


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-12-31", date(2026, 12, 31)),
        ("2027-02", date(2027, 2, 28)),
        ("March", date(2027, 3, 31)),
        ("mar", date(2027, 3, 31)),
        ("November", date(2026, 11, 30)),
        ("March 2028", date(2028, 3, 31)),
        ("2026-13", None),
        ("Mars", None),
        ("soon", None),
    ],
)
def test_the_last_day_that_is_meant(written: str, expected: date | None) -> None:
    assert last_day(written, date(2026, 11, 25)) == expected
