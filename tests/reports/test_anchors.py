"""An anchor depends on what identifies a case or criterion, and on nothing else."""

import re

import pytest

from rubric_ci.reports.html_templates import case_anchor, criterion_anchor, shared_criterion_anchor


def test_anchors_do_not_change_between_versions() -> None:
    assert case_anchor("e.yaml", "a") == "case-9deb266e6521"
    assert criterion_anchor("e.yaml", "a", "rubric", "c") == "case-9deb266e6521-660dd5bf2b84"
    assert shared_criterion_anchor("c", "asked") == "criterion-bef7973a9fe0"


@pytest.mark.parametrize("name", ["a b", "\ud800", "<script>", "", "é"])
def test_anchors_are_plain(name: str) -> None:
    assert re.fullmatch("case-[0-9a-f]{12}", case_anchor(name, name))
    assert re.fullmatch("(case)(-[0-9a-f]{12}){2}", criterion_anchor(name, name, name, name))
    assert re.fullmatch("criterion-[0-9a-f]{12}", shared_criterion_anchor(name, name))


def test_different_cases_have_different_anchors() -> None:
    names = [("a", "b"), ("b", "a"), ("a/b", ""), ("", "a/b")]
    assert len({case_anchor(file, case) for file, case in names}) == len(names)
