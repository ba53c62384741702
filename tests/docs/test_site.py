"""The site builds without a warning, has every page, is searched, and needs no other host."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.code_blocks import ROOT

pytestmark = pytest.mark.deep

LOADED = re.compile(r"<(?:script|img|link)\b[^>]*?\b(?:src|href)=\"?(https?:[^\" >]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "docs/.site/build.py", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout + done.stderr
    return folder / "site"


def pages() -> set[str]:
    """Return the pages of the site, as Markdown files."""
    shown = (path.relative_to(ROOT / "docs") for path in ROOT.glob("docs/**/*.md"))
    found = {path.as_posix() for path in shown if not path.parts[0].startswith(".")}
    return found | {
        f"{n}.md" for n in ("index", "changelog", "contributing", "releasing", "security")
    }


def test_every_page_can_be_found_by_search(site: Path) -> None:
    index = json.loads((site / "search.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["items"]}
    folders = {f"{page.removesuffix('.md')}/" for page in pages()}
    assert found == {folder.removesuffix("index/") for folder in folders}


SEARCHES = {
    "reduce cost": "cost",
    "how much will it cost": "cost",
    "compare two models": "targets",
    "ollama": "judge",
    "claude login": "judge",
    "only one case": "changed-cases",
    "rerun failed": "changed-cases",
    "see the answer": "reports",
    "why failed": "reports",
    "comment on pull request": "reports",
    "why was my pr red": "troubleshooting",
    "share cache": "judge",
    "rate limit": "judge",
    "timeout": "judge",
    "must-pass": "gate",
    "exit code": "gate",
    "ignore failure until": "gate",
    "known failure": "gate",
    "what changed since last week": "compare",
    "image": "conversations",
    "pdf": "conversations",
    "spreadsheet": "bring",
    "excel": "bring",
    "csv": "bring",
    "langsmith": "bring",
    "promptfoo": "bring",
    "deepeval": "adopt",
    "jenkins": "other-ci",
    "gitlab": "other-ci",
    "fork": "public-repositories",
    "secret": "threat-model",
    "prompt injection": "calibration",
    "multi-turn": "conversations",
    "chatbot": "conversations",
    "human agreement": "calibration",
    "nightly": "compare",
    "every night": "compare",
    "parallel": "other-ci",
    "pytest": "pytest",
    "pre-commit": "validate",
    "vs code": "validate",
    "write a rubric": "good-rubrics",
    "install": "first-ten-minutes",
}
"""Searches in the words of a user, and the page that comes first."""


@pytest.mark.skipif(not shutil.which("node"), reason="no node, whose program searches the site")
def test_a_search_in_the_words_of_a_user_finds_the_page_first(site: Path) -> None:
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("search.mjs")), str(site)],
        input=json.dumps([*SEARCHES]),
        capture_output=True,
        text=True,
        check=True,
    )
    found = [
        [*dict.fromkeys(each.split("/#")[0].rstrip("/") for each in locations)]
        for locations in json.loads(done.stdout)
    ]
    first = {words: pages[:1] for words, pages in zip(SEARCHES, found, strict=True)}
    assert first == {words: [page] for words, page in SEARCHES.items()}


def test_every_page_has_a_twin_in_markdown(site: Path) -> None:
    assert {path.relative_to(site).as_posix() for path in site.rglob("*.md")} == pages()
    twin = (site / "action.md").read_text(encoding="utf-8")
    assert twin.startswith("# GitHub Action\n")
    assert "](reports.md)" in twin
    assert "](https://github.com/rubric-ci/rubric-ci/tree/main/examples/workflows)" in twin


def test_llms_txt_lists_every_page(site: Path) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith(
        "# rubric-ci\n\n> Rubric-based LLM evals as a merge gate\n\n## Start\n- ["
    )
    listed = re.findall(r"^- \[.+?\]\(([\w/-]+\.md)\)", text, re.MULTILINE)
    assert (len(listed), set(listed)) == (len(pages()), pages())
    assert "- [Targets](targets.md): A target answers the cases: " in text


@pytest.mark.parametrize("link", ["[a](evaluators.md)", "[a](nopage.md)"])
def test_a_broken_link_fails_the_build(link: str, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.md").write_text(f"# A\n\n{link}\n")
    (tmp_path / "pages/scoring.md").write_text("# B\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: a\ndocs_dir: pages\nsite_dir: site\n")
    config = str(tmp_path / "mkdocs.yml")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", config]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0


def test_links_that_leave_the_site_lead_to_the_repository(site: Path) -> None:
    text = (site / "action/index.html").read_text(encoding="utf-8")
    assert (
        "https://github.com/rubric-ci/rubric-ci/blob/main/examples/workflows/evals-validate.yml"
        in text
    )
    assert "https://github.com/rubric-ci/rubric-ci/tree/main/examples/workflows" in text
    assert 'href="../reports/"' in text


def test_a_page_loads_nothing_from_another_host(site: Path) -> None:
    loaded = {
        url
        for page in site.rglob("*.html")
        for url in LOADED.findall(page.read_text(encoding="utf-8"))
    }
    assert loaded == set()
