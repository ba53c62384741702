"""The site builds without a warning, has every page, is searched, and needs no other host."""

import json
import re
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from tests import chromium
from tests.chromium import Browser
from tests.docs.code_blocks import ROOT
from tests.http_server import serving

pytestmark = pytest.mark.deep

IMAGE = re.compile(r"<img\b[^>]*>")
LOADED = re.compile(r"<(?:script|img|link)\b[^>]*?\b(?:src|href)=\"?(https?:[^\" >]+)")


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


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
    "how is my service started in the gate job": (
        "services/#how-is-my-service-started-in-the-gate-job"
    ),
    "what does --against do with a service": "services/#what-does-against-do-with-a-service",
    "must a service have depends_on": "services/#must-a-service-have-depends_on",
    "turns with a service": "services/#how-are-turns-sent-to-a-service",
    "tool calls of a service": "services/#tool-calls-of-a-service",
    "which variable sets which option": "configuration/#which-variable-sets-which-option",
    "see the comment before pushing": "reports/#see-the-comment-before-pushing",
    "why is my deterministic failure not flaky": (
        "compare/#why-is-my-deterministic-failure-not-flaky"
    ),
    "a spreadsheet's column as a tag": "bring/#a-spreadsheets-column-as-a-tag",
    "what else goes when I delete the example": (
        "first-ten-minutes/#what-else-goes-when-i-delete-the-example"
    ),
    "claude login": "judge/#your-claude-code-login-or-a-command-as-judge",
    "comment on pull request": "reports/#comment-on-a-pull-request",
    "compare two models": "targets/#compare-two-models-or-two-prompts",
    "csv": "bring/#spreadsheets-excel-and-csv",
    "every night": "compare/#every-night-a-nightly-run-on-a-schedule",
    "excel": "bring/#spreadsheets-excel-and-csv",
    "exit code": "gate/#exit-code",
    "fork": "public-repositories/",
    "gate pull requests": "action/",
    "gitlab": "other-ci/#gitlab-ci",
    "how much will it cost": "cost/",
    "human agreement": "calibration/",
    "ignore failure until": "gate/#waive-a-known-failure",
    "image": "conversations/",
    "install": "#install",
    "jenkins": "other-ci/#jenkins",
    "known failure": "gate/#waive-a-known-failure",
    "langsmith": "bring/#golden-sets-of-langsmith-langfuse-ragas-and-others",
    "multi-turn": "conversations/",
    "must-pass": "gate/#gate-only-must-pass-cases-tags",
    "no verdict": "troubleshooting/#exit-code-3-a-case-has-no-verdict",
    "nothing is graded": "troubleshooting/#nothing-is-graded-or-too-many-cases",
    "ollama": "judge/#a-model-that-runs-here-llamacpp-ollama-vllm-lm-studio",
    "only one case": "changed-cases/#run-only-one-case-rerun-what-failed-stop-early-list",
    "nightly run": "compare/#every-night-a-nightly-run-on-a-schedule",
    "own agent": "agents/",
    "own program": "targets/#use-a-command-your-own-program-or-script",
    "own service": "services/",
    "parallel": "other-ci/#split-a-run-into-shards",
    "pdf": "conversations/#ask-about-an-image-or-a-pdf",
    "pre-commit": "evals/#run-it-on-every-commit-pre-commit",
    "prompt injection": "judge/#prompt-injection",
    "promptfoo": "bring/#promptfoo",
    "pytest": "adopt/",
    "rate limit": "judge/#timeouts-retries-and-rate-limits",
    "red check without a comment": "troubleshooting/#red-check-without-a-comment",
    "reduce cost": "cost/",
    "required check": "action/#make-the-job-a-required-check-block-a-merge",
    "rerun failed": "changed-cases/#run-only-one-case-rerun-what-failed-stop-early-list",
    "secret": "threat-model/#which-secrets-are-masked",
    "see the answer": "reports/#see-the-answer-of-a-case-and-why-it-failed",
    "self-hosted runner": "action/#containers-self-hosted-runners-company-networks",
    "share cache": "cost/#cache",
    "timeout": "judge/#timeouts-retries-and-rate-limits",
    "vs code": "evals/#editors-and-shells",
    "what changed since last week": "compare/#keep-a-history",
    "why failed": "reports/#see-the-answer-of-a-case-and-why-it-failed",
    "why was my PR red": "troubleshooting/#a-red-check-why-was-my-pr-red",
    "write a rubric": "good-rubrics/",
}
"""Searches in the words of a user, and the place that comes first."""


OPENED = """\
new Promise((done) => {
  const all = () => [...document.querySelectorAll("*")];
  const opened = () => all().some((e) => e.shadowRoot?.querySelector("input"));
  const wait = () => (opened() ? done() : setTimeout(wait, 20));
  wait();
})
"""
FIRST = """\
new Promise((done) => {
  const roots = () => [...document.querySelectorAll("*")].map((e) => e.shadowRoot).filter(Boolean);
  const links = () => roots().flatMap((root) => [...root.querySelectorAll("ol a")]);
  const type = (words) => {
    const input = roots().map((root) => root.querySelector("input")).find(Boolean);
    if (!input) return;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, words);
    input.dispatchEvent(new Event("input", {bubbles: true}));
  };
  const wait = (until, then) => (until() ? then() : setTimeout(() => wait(until, then), 20));
  type("");
  wait(() => links().length === 0, () => {
    type(WORDS);
    wait(() => links().length > 0, () => {
      const first = new URL(links()[0].href);
      done(first.pathname.slice(1) + first.hash);
    });
  });
  setTimeout(() => done("nothing"), 20000);
})
"""
"""Types words into the field of the search, and returns the place of the first result."""


def test_a_search_in_words_of_a_user_finds_the_heading(site: Path, browser: Browser) -> None:
    handler = partial(Quiet, directory=str(site))
    with serving(handler) as server, chromium.tab(browser) as page:
        page.open(f"{server.url}/gate/")
        page.get("document.querySelector('.md-search__button').click()")
        page.get(OPENED)
        found = {words: page.get(FIRST.replace("WORDS", json.dumps(words))) for words in SEARCHES}
    assert found == SEARCHES


PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}


def test_no_page_is_wider_than_a_phone(site: Path, browser: Browser) -> None:
    handler = partial(Quiet, directory=str(site))
    wide = []
    with serving(handler) as server, chromium.tab(browser) as page:
        page.call("Emulation.setDeviceMetricsOverride", **PHONE)
        for each in sorted(pages()):
            page.open(f"{server.url}/{each.removesuffix('.md').removesuffix('index')}")
            if page.get("document.documentElement.scrollWidth") > PHONE["width"]:
                wide.append(each)
    assert wide == []


def test_every_picture_has_a_text_in_its_place(site: Path) -> None:
    found = [img for page in site.rglob("*.html") for img in IMAGE.findall(page.read_text("utf-8"))]
    assert found
    assert [img for img in found if not re.search(r'\balt="?[^" >]', img)] == []


def test_an_old_address_forwards_to_a_page(site: Path) -> None:
    names = (ROOT / "docs/.site/forwards.txt").read_text(encoding="utf-8").split()
    for old, new in zip(names[::2], names[1::2], strict=True):
        (url,) = re.findall(r'url=([^"]+)', (site / old / "index.html").read_text("utf-8"))
        assert (site / old / url).resolve() == site / new
        assert (site / new / "index.html").exists()


def test_every_page_has_a_twin_in_markdown(site: Path) -> None:
    assert {path.relative_to(site).as_posix() for path in site.rglob("*.md")} == pages()
    twin = (site / "action.md").read_text(encoding="utf-8")
    assert twin.startswith("# Gate pull requests: the GitHub Action\n")
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
