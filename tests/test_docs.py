"""The examples of the documentation are valid by `rubric-ci validate`."""

import re
from pathlib import Path

import pytest

from rubric_ci.files.project.working_tree import lookup
from rubric_ci.files.validation.rules import apply_suppressions
from rubric_ci.files.validation.validator import Surroundings, check_config, check_evals
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import open_source
from tests import house
from tests.docs.test_concepts import guides

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(yaml|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(kind, text, id=f"{page.name}-{number}")
    for page in [ROOT / "docs/evals.md"]
    for number, (kind, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), start=1)
    if not text.startswith(("repos:", "# yaml-language-server", '{\n  "yaml.schemas"'))
]


@pytest.mark.parametrize(("kind", "text"), EXAMPLES)
def test_examples_are_valid(kind: str, text: str) -> None:
    if text.startswith("rules:"):
        assert check_config(Document("rubric-ci.yaml", text)) == ()
        return
    source = open_source("evals/a.jsonl" if kind == "json" else "evals/a.yaml", text)
    found = check_evals(source, Surroundings(lookup(ROOT, ROOT / "docs/evals.md")))
    assert apply_suppressions(found, source.texts(), {}) == ()


PAGES = sorted(
    path
    for pattern in (
        *("*.md", "docs/*.md", "docs/commands/*.md"),
        *("benchmarks/*/*.md", "schemas/*.md"),
    )
    for path in ROOT.glob(pattern)
)
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")
MODULE = re.compile(r"`([\w./]+/(?:\w+\.(?:py|json))?)`")


def headings(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to a page's headings."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for picture in re.findall(r'\bsrc(?:set)?="(?!https:)([^"]+)"', text):
        assert (page.parent / picture).exists(), picture
    for name, anchor in LINK.findall(text):
        there = page.parent / name if name else page
        assert there.exists(), name
        assert not anchor or anchor in headings(there), f"{name}#{anchor}"


def test_the_pages_are_few_and_short() -> None:
    found = house.counts()
    assert found["pages by hand"] <= 30
    assert found["words by hand"] <= 45_000
    long = {page.name: house.words(page) for page in guides() if house.words(page) > 1_800}
    assert long == {}, "a task page over 1,800 words is two tasks"


NAMING = [ROOT / "docs/rooms.md", ROOT / "docs/design.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("page", [*NAMING, ROOT / "docs/method.md"], ids=lambda page: page.name)
def test_modules_are_where_the_pages_say(page: Path) -> None:
    named = MODULE.findall(page.read_text(encoding="utf-8"))
    assert named
    assert [
        n for n in named if not ((ROOT / n).exists() or (ROOT / "rubric_ci" / n).exists())
    ] == []


WORDS = {
    "calibration.md": ("attacks", "judge", "canary", "delimiters", "κ"),
    "changed-cases.md": ("changed-since", "base", "merge-base", "depends_on"),
    "configuration.md": ("gate", "thresholds", "api_base", "timeout", "concurrency", "proxy"),
    "cost.md": ("cache", "limit", "batch", "replay"),
    "judge.md": (
        *("prompt injection", "structured output", "quote", "rate limit", "retries", "backoff"),
        *("timeout", "concurrency", "votes"),
    ),
    "compare.md": (
        *("regression", "baseline", "base", "worktree", "asked again"),
        *("exit code", "schedule"),
    ),
    "other-ci.md": ("shard", "matrix", "merge", "gate"),
    "targets.md": ("concurrency", "timeout", "trials", "health"),
    "evals.md": ("exit code", "SARIF", "suppress", "pre-commit"),
}


@pytest.mark.parametrize(("name", "words"), WORDS.items())
def test_a_page_has_the_words_that_people_search_for(name: str, words: tuple[str, ...]) -> None:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8").lower()
    assert [word for word in words if word.lower() not in text] == []


NOT_GUIDES = {"design.md", "rules.md"}
GUIDES = [p for p in PAGES if p.parent == ROOT / "docs" and p.name not in NOT_GUIDES]


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_a_page_begins_with_a_title_and_names_what_comes_next(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.match(r"# .+\n\S", text)
    assert "\nNext: " in text
