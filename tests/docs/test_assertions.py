"""The table of assertions is current."""

from tests.docs.assertions import PAGE, page


def test_the_page_is_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run `make golden`"
