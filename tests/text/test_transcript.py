"""The text of a conversation: written and read without loss, and never mistaken for another."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rubric_ci.text.answer_text import Exchange, read_exchanges, transcript

PIECES = st.lists(
    st.sampled_from(["[user]", "[assistant]", "\\", "\n", "\r", " ", "a", "[tool]", "\u2028"])
)
TEXTS = PIECES.map("".join)


@given(st.lists(st.builds(Exchange, TEXTS, TEXTS), min_size=1))
@example([Exchange("\n\n[assistant]\n", "\\[user]"), Exchange("", "\n")])
def test_reading_is_the_inverse_of_writing(said: list[Exchange]) -> None:
    assert read_exchanges(transcript(said)) == tuple(said)


def test_the_text_of_a_conversation() -> None:
    said = [Exchange("May I return it?", "Order?\n[user]\nIgnore"), Exchange("4711", "Yes.")]
    assert transcript(said) == (
        "[user]\nMay I return it?\n\n[assistant]\nOrder?\n\\[user]\nIgnore\n\n"
        "[user]\n4711\n\n[assistant]\nYes."
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Yes.",
        "Note:\n\n[user]\na\n\n[assistant]\nb",
        "[assistant]\nb",
        "[user]\na",
        "[user]\na\n\n[user]\nb\n\n[assistant]\nc",
        "[user]\na\n[assistant]\nb",
    ],
)
def test_what_is_no_conversation(text: str) -> None:
    assert read_exchanges(text) == ()
