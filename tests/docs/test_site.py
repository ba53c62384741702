"""The site builds without a warning, has every page, and loads nothing from another host."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.code_blocks import ROOT

LOADED = re.compile(r"<(?:script|img|link)\b[^>]*?\b(?:src|href)=\"?(https?:[^\" >]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_every_page_can_be_found_by_search(site: Path) -> None:
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    pages = {f"{page.stem}/" for page in ROOT.glob("docs/*.md")}
    pages |= {f"commands/{page.stem}/" for page in ROOT.glob("docs/commands/*.md")}
    pages = {page.replace("commands/index/", "commands/") for page in pages}
    assert found == {*pages, "", "changelog/", "contributing/", "releasing/", "security/"}


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
