"""The table of settings is current."""

from tests.docs.settings import PAGE, page


def test_the_page_is_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run `make golden`"
