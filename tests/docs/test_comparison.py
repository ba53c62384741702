"""The page of comparisons lists the kinds of change that the program has."""

import re
from typing import get_args

from rubric_ci.values.results import Change
from tests.docs.code_blocks import ROOT


def test_the_table_lists_every_kind_in_its_order() -> None:
    page = (ROOT / "docs/compare.md").read_text(encoding="utf-8")
    table = page.partition("| `change` | when |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(get_args(Change))


def test_the_concepts_name_every_kind() -> None:
    page = (ROOT / "docs/concepts.md").read_text(encoding="utf-8")
    kinds = ", ".join(kind.replace("-", " ") for kind in get_args(Change))
    assert f"the same in every comparison: {kinds}." in page
