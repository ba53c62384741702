"""Forked repositories: only a stranger's pull request, or Dependabot's, goes without the judge.

`tests/hooks/test_act_roles.py` runs every workflow in these roles.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = sorted([*ROOT.glob("examples/**/*.yml"), *ROOT.glob("docs/*.md"), ROOT / "README.md"])
CONDITION = (
    "offline: ${{ github.event_name == 'pull_request' && "
    "(github.event.pull_request.head.repo.full_name != github.repository "
    "|| github.actor == 'dependabot[bot]') }}"
)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_a_stranger_is_told_by_the_name_of_the_repository(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"event\.pull_request\.head\.repo\.fork\b", text)
    assert {line.strip() for line in text.splitlines() if "offline: ${{" in line} <= {CONDITION}
