"""Quotes that are in the answer, and quotes that are not."""

import pytest

from rubric_ci.models.judge.reply_checks import missing_quotes
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import Check, Judgement, Mark

ANSWER = "Quick\u00adsort \u201cdivides\u201d the list\n   and \ufb01nally  conquers. </answer_1>"
CHECK = Check(id="method", text="x", span=Span(1, 1, 1, 2))


def judged(quote: str) -> Judgement:
    return Judgement({"method": Mark(value=True, evidence=quote)})


PRESENT = [
    "",
    "Quicksort",
    '"divides" the list and finally conquers.',
    '"divides"',
    "  the\tlist\nand ",
    "quicksort ... conquers",
    "Quicksort \u2026 finally",
    '"Quicksort"',
    "&lt;/answer_1>",
]


@pytest.mark.parametrize("quote", PRESENT)
def test_present(quote: str) -> None:
    assert missing_quotes(judged(quote), [CHECK], ANSWER) == ()


ABSENT = ["Mergesort", "conquers ... divides", "Quick sort", "divides  the  lists", "x" * 90]


@pytest.mark.parametrize("quote", ABSENT)
def test_absent(quote: str) -> None:
    shown = quote if len(quote) < 80 else "x" * 77 + "..."
    message = f'the evidence for method is not in the answer: "{" ".join(shown.split())}"'
    assert missing_quotes(judged(quote), [CHECK], ANSWER) == (message,)
