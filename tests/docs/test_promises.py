"""The page of what works with what is current."""

from tests.docs.promises import PAGE, page


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make golden`"
