"""The tables of settings and of changes are current."""

from typing import get_args

from rubric_ci.values.changes import GradingChangeKind
from tests.docs.settings import PAGE, page


def test_the_page_is_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "run `make golden`"


def test_the_page_has_each_kind_of_change() -> None:
    rows = PAGE.read_text(encoding="utf-8").partition("### All other changes")[2]
    kinds = {*get_args(GradingChangeKind)} - {"gate"}  # in the table of settings
    assert [kind for kind in sorted(kinds) if f"`{kind}`" not in rows] == []
