"""`rubric-ci history` as a process: add, show, page, badge, export and import."""

import os
import subprocess
from pathlib import Path

import pytest

from rubric_ci.gate.report import json_format
from rubric_ci.reports.render.html.jinja import case_anchor
from tests.checkout import Checkout
from tests.invoke import invoke
from tests.parts.lab.history.nights import a_history, a_night

HISTORY = str(Path(".rubric-ci/history.sqlite"))
SHOWN = """\
started (UTC)     verdict            score                pass rate        cost
2026-01-10 02:43  error, gate fails  0.93 (0.69 to 1.00)  75 % (30 to 95)  $0.0400
2026-01-11 02:43  fail, gate fails   0.84 (0.40 to 1.00)  80 % (38 to 96)  $0.0500
2026-01-12 02:43  fail, gate fails   0.78 (0.35 to 1.00)  60 % (23 to 88)  $0.0500

cases without a steady pass, the oldest run on the left:  █ pass  ▓ borderline  _ fail  w waived  ? no verdict
█__  e.yaml: broken  1 flip
▓█▓  e.yaml: tone  2 flips
?██  e.yaml: late
"""  # noqa: E501


def history(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return invoke(folder, os.environ, "history", *arguments)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A folder with a history of twelve nights."""
    a_history(tmp_path / ".rubric-ci")
    return tmp_path


def test_add_once(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json_format.render(a_night(0)), encoding="utf-8")
    first, second = (history(tmp_path, "add", "report.json") for _ in range(2))
    assert (first.returncode, first.stderr) == (0, f"added the run to {HISTORY}\n")
    assert (second.returncode, second.stderr) == (0, f"{HISTORY} has this run already\n")
    shown = history(tmp_path, "show")
    assert shown.stdout.splitlines()[1].startswith("2026-01-01 02:43  pass ")


def test_show(kept: Path) -> None:
    done = history(kept, "show", "--last", "3")
    assert (done.returncode, done.stdout, done.stderr) == (0, SHOWN, "")


def test_page_and_badge(kept: Path) -> None:
    html, svg = Path(".rubric-ci/history.html"), Path(".rubric-ci/badge.svg")
    assert history(kept, "page").stderr == f"wrote {html}\n"
    assert history(kept, "badge", "--label", "quality").stderr == f"wrote {svg}\n"
    page = (kept / html).read_text(encoding="utf-8")
    badge = (kept / svg).read_text(encoding="utf-8")
    assert "<h2>6 cases</h2>" in page
    assert "quality: 60 % pass" in badge


def test_export_and_import(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    lines = history(kept, "export").stdout
    other = tmp_path_factory.mktemp("other")
    (other / "history.jsonl").write_text(lines, encoding="utf-8")
    done = history(other, "import", "history.jsonl")
    assert (done.returncode, done.stderr) == (0, f"added 12 of 12 runs to {HISTORY}\n")
    assert history(other, "import", "history.jsonl").stderr == f"added 0 of 12 runs to {HISTORY}\n"
    assert history(other, "export", "--output", "again.jsonl").returncode == 0
    assert (other / "again.jsonl").read_text(encoding="utf-8") == lines


def test_publish_a_site(tmp_path: Path) -> None:
    for number in (0, 1, 1):
        text = json_format.render(a_night(number))
        (tmp_path / "report.json").write_text(text, encoding="utf-8")
        done = history(tmp_path, "publish", "report.json", "--title", "Support bot")
        assert done.returncode == 0, done.stderr
    site = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "site").iterdir()}
    assert site.keys() == {"history.jsonl", "index.html", "badge.svg", "report.html"}
    assert len(site["history.jsonl"].splitlines()) == 2
    assert "<h1>Support bot</h1><p>" in site["index.html"].replace("\n", "")
    anchor = case_anchor("e.yaml", "refund")
    assert f'href="report.html#{anchor}"' in site["index.html"]
    assert f'id="{anchor}"' in site["report.html"]
    assert 'href="https://example.com/runs/0"' in site["index.html"]


def test_a_wrong_line_adds_nothing(kept: Path) -> None:
    lines = history(kept, "export").stdout.splitlines()
    (kept / "history.jsonl").write_text(f"{lines[0]}\n{{}}\n", encoding="utf-8")
    done = history(kept, "import", "history.jsonl", "--history", "new.sqlite")
    assert done.returncode == 2
    assert done.stderr.startswith("rubric-ci: history.jsonl:2: not a record of a run: ")
    assert not (kept / "new.sqlite").exists()


@pytest.mark.parametrize("command", ["show", "page", "badge", "export"])
def test_no_history(tmp_path: Path, command: str) -> None:
    done = history(tmp_path, command)
    assert done.returncode == 2
    assert done.stderr.startswith(f"rubric-ci: {HISTORY}: there is no history\n")


@pytest.mark.parametrize("command", [("show",), ("page",), ("badge",), ("export",), ("add", "r")])
def test_a_history_that_git_tracks_is_not_read(kept: Path, command: tuple[str, ...]) -> None:
    checkout = Checkout.create(kept)
    checkout.git("add", "--force", tracked := Path(HISTORY).as_posix())
    done = history(kept, *command)
    assert done.returncode == 2
    assert done.stderr == (
        f"rubric-ci: the history {tracked} was not read: git tracks {tracked}; run "
        f"`git rm --cached {tracked}` and commit\n"
        "  set another file with --history; `rubric-ci history export` and `import` keep a "
        "history on a separate branch\n"
    )
