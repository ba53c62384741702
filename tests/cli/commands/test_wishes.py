"""What a person wants: each in at most two commands, that a page of `--help` or a message names."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.checkout import Checkout
from tests.invoke import invoke

FILES = {
    "rubric-ci.yaml": """\
evals: [evals/*.eval.yaml]
targets:
  - {name: default, provider: recorded, answers: answers.jsonl}
  - {name: other, provider: mock, response: Within 30 days.}
gate: {tags: [must]}
""",
    "evals/a.eval.yaml": """\
evalcases:
  - id: refund
    tags: [must]
    input: May I return it?
    rubrics: [{id: period, contains: 30 days}]
  - id: hours
    input: When do you open?
    rubrics: [{id: time, contains: "9"}]
""",
    "answers.jsonl": (
        '{"id": "refund", "answer": "Yes, within 30 days."}\n{"id": "hours", "answer": "At ten."}\n'
    ),
    "sheet.csv": "id,input,expected_outcome,rubrics\nlost,Where is it?,Says where,Names a place\n",
}


@dataclass(frozen=True)
class Wish:
    """Commands, the exit code and an output of the last one, and who names what."""

    commands: tuple[str, ...]
    shows: str
    code: int = 0
    named: tuple[tuple[str, str], ...] = ()  # a command, whose output has the text


WISHES = {
    "only rerun what failed": Wish(
        ("run --lf",), "[1/1] fail", named=(("run --help", "--lf, --last-failed"),)
    ),
    "see one case's answer": Wish(("show hours",), "    At ten.\n", named=(("--help", "show  "),)),
    "how much will this cost": Wish(
        ("run --list",), "recorded answers, no requests", named=(("run --help", "--list"),)
    ),
    "compare two models": Wish(
        ("run --target default --target other",),
        "default: 1 of 2 pass",
        named=(("run --help", "(repeatable)"),),
    ),
    "add 50 cases from a spreadsheet": Wish(
        ("import sheet.csv --output-dir evals", "validate evals"),
        "2 files checked: no problems",
        named=(("import --help", "CSV tables"),),
    ),
    "why was my PR red": Wish(
        ("show",), "Contains `9`", named=(("--help", "Print a case of the last report"),)
    ),
    "ignore this known failure until March": Wish(
        ("waive hours/time --until March --reason known --owner me",),
        "waivers.yaml",
        named=(("waive --help", "such as March"),),
    ),
    "share a cache": Wish(
        ("cache",), "0 judge requests", named=(("cache --help", "RUBRIC_CI_CACHE_DIR"),)
    ),
    "gate only must-pass cases": Wish(
        ("run",), "Gate passes", named=(("run --help", "`gate.tags`"),)
    ),
    "use Ollama": Wish(
        ("init --yes --force --provider ollama",),
        "ollama pull llama3.1",
        named=(("init --help", "ollama"),),
    ),
    "use my Claude Code login as judge": Wish(
        ("init --yes --force --provider claude-code",),
        "rubric-ci run    # asks the model",
        named=(("init --help", "claude-code"),),
    ),
    "what changed since last week": Wish(
        ("history add", "history show"),
        "verdict  score",
        named=(("help nights", "history show"), ("help nights", "history add")),
    ),
}


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    Checkout.create(tmp_path).commit(FILES)
    done = run(tmp_path, "run")
    assert (done.returncode, "Gate passes" in done.stdout) == (0, True), done.stdout
    report = json.loads((tmp_path / ".rubric-ci/report.json").read_text())
    assert report["totals"]["failed"] == 1
    return tmp_path


def run(root: Path, line: str) -> subprocess.CompletedProcess[str]:
    home = root.parent / "home"
    return invoke(root, {"PATH": os.environ["PATH"], "HOME": str(home)}, *line.split())


def test_there_are_twelve() -> None:
    assert len(WISHES) == 12
    assert all(len(wish.commands) <= 2 for wish in WISHES.values())


@pytest.mark.parametrize("wish", WISHES.values(), ids=WISHES)
def test_a_wish(wish: Wish, graded: Path) -> None:
    for page, text in wish.named:
        assert " ".join(text.split()) in " ".join(run(graded, page).stdout.split())
    for line in wish.commands:
        done = run(graded, line)
    assert wish.shows in done.stdout + done.stderr
    assert done.returncode == wish.code
