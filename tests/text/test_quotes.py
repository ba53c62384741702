"""Places of quotes in a text: pieces, forms of characters, and the check of quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.models.judge.reply_checks import missing_quotes
from rubric_ci.text.quotes import places
from rubric_ci.values.diagnostics import Span as Place
from rubric_ci.values.rubric import Check, Judgement, Mark

ANSWER = "You can\n  return it “until” 14 March; the ﬁne print: İstanbul. You can call."

FOUND = {
    "as it stands": (["return it"], ["return it"]),
    "none": ([], []),
    "empty": ([""], []),
    "white space and case": (["you CAN return"], ["You can\n  return"]),
    "quotation marks": (['it "until" 14'], ["it “until” 14"]),
    "a ligature": (["the fine print"], ["the ﬁne print"]),
    "text left out": (["You can ... 14 March"], ["You can", "14 March"]),
    "an ellipsis": (["return … call"], ["return", "call"]),
    "in the wrong order": (["call ... return"], []),
    "a piece that is missing": (["return ... never"], []),
    "not in the answer": (["never said"], []),
    "overlapping": (["return it", "it “until”"], ["return it “until”"]),
    "one in the other": (["return it “until” 14", "it"], ["return it “until” 14"]),
    "one twice": (["call", "call"], ["call"]),
}


@pytest.mark.parametrize(("quotes", "found"), FOUND.values(), ids=FOUND)
def test_places(quotes: list[str], found: list[str]) -> None:
    assert [ANSWER[start:end] for start, end in places(ANSWER, quotes)] == found


@given(st.text(), st.lists(st.text()))
def test_places_ascend_and_do_not_overlap(answer: str, quotes: list[str]) -> None:
    ends = [place for span in places(answer, quotes) for place in span]
    assert ends == sorted(ends)
    assert all(0 <= end <= len(answer) for end in ends)


@given(st.text("ab \u2019'İﬁ\u200d", max_size=20), st.integers(0, 19), st.integers(1, 9))
def test_a_quote_that_the_check_accepts_has_a_place(answer: str, start: int, size: int) -> None:
    quote = answer[start : start + size].upper().strip(" \"'\u2019")
    criterion = Check(id="c", text="t", span=Place(line=1, column=1, end_line=1, end_column=1))
    judgement = Judgement({"c": Mark(value=True, evidence=quote)})
    accepted = not missing_quotes(judgement, [criterion], answer)
    if accepted and quote.strip("\u200d "):
        assert places(answer, [quote])
