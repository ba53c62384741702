"""Twenty concepts on one page; other words for them stand in no page, help or message."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.docs.code_blocks import ROOT

PAGE = (ROOT / "docs/concepts.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| \*\*(.+?)\*\* \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
CONCEPTS = (
    *("case", "criterion", "rubric", "target", "answer", "judge", "mark", "evaluator", "score"),
    *("verdict", "gate", "errored", "skipped", "trial", "vote", "base", "baseline", "broken"),
    *("policy", "waiver"),
)
INSTEAD = {
    "sentinel": "answers that the judge marks again",
    "provisional": "before the merge",
    "suspects?": "a case that is worse",
    "suspected": "worse in one night",
    "flip(s|ped)?": "another verdict",
    "unsteady": "whose verdict changes",
    "raters?": "people",
    "assessments?": "marks",
    "ground truth": "reference answer",
    "eval sets?": "suites",
    "regressed": "broke",
    "judge?ments?": "marks, or a judge request",
    "merge bases?": "the last common commit",
    "grading changes?": "a change of policy, rubrics or cases",
    "(?<!character )references?(?! answers?)": "baseline",
}
"""Words that are no concept, and what is written in their place.

A *reference answer* is the answer that a case gives, and HTML has *character references*; a path
such as `.rubric-ci/reference` and the command `git merge-base` are names.
"""
OTHER = re.compile(rf"(?<![/\w])({'|'.join(INSTEAD)})\b", re.IGNORECASE)
TO_A_MODEL = {  # what a model reads, in its own words
    ROOT / "rubric_ci/services/drafting/drafting_prompt.py",
    ROOT / "rubric_ci/parts/bring/dialects/github_models.py",
}
CODE = re.compile(r"```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def guides() -> Iterator[Path]:
    """Yield the README and the pages of the groups Start and Tasks."""
    yield ROOT / "README.md"
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    groups = {name: pages for group in config["nav"] for name, pages in group.items()}
    for name in (*groups["Start"], *groups["Tasks"]):
        if name != "index.md":
            yield ROOT / "docs" / name


def messages(path: Path) -> Iterator[str]:
    """Yield the texts of a module that have several words and are no docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str) and re.search(r"[a-z] [a-z]", node.value):
            yield node.value


def test_twenty_concepts_have_a_sentence_an_example_and_a_page_each() -> None:
    rows = ROW.findall(PAGE)
    assert tuple(word for word, *_ in rows) == CONCEPTS
    assert len(CONCEPTS) == 20
    assert PAGE.count("](images/") == 1
    for word, sentence, example, more in rows:
        assert re.fullmatch(r"[A-Z`].+\.", sentence), word
        assert example, word
        assert more.startswith("["), word


@pytest.mark.parametrize("page", [*guides()], ids=lambda page: page.name)
def test_a_page_has_no_other_word(page: Path) -> None:
    assert OTHER.findall(CODE.sub("", page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs/commands").glob("*.md")), ids=lambda it: it.stem
)
def test_the_help_has_no_other_word(page: Path) -> None:
    assert OTHER.findall(page.read_text(encoding="utf-8")) == []


def test_no_message_has_another_word() -> None:
    paths = set((ROOT / "rubric_ci").rglob("*.py")) - TO_A_MODEL
    found = {
        path.relative_to(ROOT).as_posix(): texts
        for path in paths
        if OTHER.search(path.read_text(encoding="utf-8"))
        and (texts := [each for each in messages(path) if OTHER.search(CODE.sub("", each))])
    }
    assert found == {}


@pytest.mark.parametrize(
    "text", ["the sentinel moved", "2 Suspects", "`x` was flipped", "the reference"]
)
def test_another_word_is_found(text: str) -> None:
    assert OTHER.search(CODE.sub("", text))
