"""The pages of the rules: every example does what its page says."""

from pathlib import Path

import pytest

from rubric_ci.model.references import Found, NotFound
from rubric_ci.validation.rule_docs import PAGES, meanings, render
from rubric_ci.validation.rule_ids import RULES, SWITCHABLE
from rubric_ci.validation.suppressions import apply_suppressions
from rubric_ci.validation.validator import check_config, check_evals
from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.source import open_source

CONFIGURED = ("judge:", "targets:", "gate:", "rules:")


def rules_of(text: str) -> list[str]:
    if text.startswith(CONFIGURED):
        found = check_config(Document("rubric-ci.yaml", text))
        return [problem.rule for problem in found]
    source = open_source("a.jsonl" if text.startswith("{") else "a.yaml", text)
    known = {"prompts/task.md": Found("prompts/task.md", "")}
    found = check_evals(
        source,
        lambda name: known.get(name, NotFound("gone")),
        frozenset(["default", "codex"]),
        frozenset(["codex"]),
    )
    return [problem.rule for problem in apply_suppressions(found, source.texts(), {})]


def test_every_rule_has_a_page() -> None:
    assert list(PAGES) == list(RULES)
    assert set(RULES) >= SWITCHABLE


@pytest.mark.parametrize("rule", [rule for rule in PAGES if PAGES[rule].bad])
def test_the_bad_example_breaks_this_rule_alone(rule: str) -> None:
    assert set(rules_of(PAGES[rule].bad)) == {rule}


@pytest.mark.parametrize("rule", PAGES)
def test_the_good_example_is_clean(rule: str) -> None:
    assert rules_of(PAGES[rule].good) == []


def test_meanings_are_one_sentence() -> None:
    assert all(text.count(". ") == 0 and text.endswith(".") for text in meanings().values())


def test_the_documentation_is_current() -> None:
    written = Path(__file__).parents[2] / "docs" / "rules.md"
    assert written.read_text(encoding="utf-8") == render(), "run `make golden`"
