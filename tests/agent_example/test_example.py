"""examples/agent: an agent that edits files, graded offline from its recording."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.agent_example.record import EXAMPLE, RECORDING, RUN
from tests.checkout import Checkout
from tests.invoke import invoke
from tests.quickstart.record import ROOT

pytestmark = platforms.SHELL

PRICES = f"{EXAMPLE}/shop/prices.py"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    checkout = Checkout.create(tmp_path / "repository")
    shutil.copytree(ROOT / EXAMPLE, checkout.root / EXAMPLE)
    checkout.commit()
    return checkout


def run(root: Path, folder: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    """Run the example; return the exit code, its cases by id and what is printed."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "RUBRIC_CI_"))}
    own["RUBRIC_CI_CACHE_DIR"] = str(folder / "cache")
    done = invoke(root, own, *RUN, *words, "--output-dir", str(folder))
    assert (folder / "report.json").exists(), done.stderr
    cases = json.loads((folder / "report.json").read_text())["cases"]
    return done.returncode, {case["id"]: case for case in cases}, done.stdout + done.stderr


def test_it_grades_offline(tmp_path: Path) -> None:
    code, cases, shown = run(ROOT, tmp_path, "--replay", RECORDING)
    assert code == 0, shown
    assert {name: case["score"] for name, case in cases.items()} == {
        "rename-a-function": 1.0,
        "explain-a-function": 1.0,
    }
    renamed = cases["rename-a-function"]
    assert [step["tool"] for step in renamed["trace"]["steps"]] == [
        *("Search", "Edit", "Edit", "Test")
    ]
    assert [each["path"] for each in renamed["file_changes"]] == ["orders.py", "prices.py"]
    assert [file["path"] for file in renamed["trace"]["files"]] == ["prices.py"]
    marks = {each["id"]: each for each in renamed["evaluators"][0]["criteria"]}
    assert (marks["limited"]["quoted_from"], marks["told"]["quoted_from"]) == (
        "file_changes",
        "answer",
    )
    assert "total_in_cents" not in (ROOT / PRICES).read_text()


def test_its_files_have_no_problems() -> None:
    own = {k: v for k, v in os.environ.items() if not k.startswith("RUBRIC_CI_")}
    config = f"{EXAMPLE}/rubric-ci.yaml"
    done = invoke(ROOT, own, "validate", f"{EXAMPLE}/evals", config, "--strict")
    assert (done.returncode, done.stdout) == (0, "2 files checked: no problems\n")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (PRICES, "shipping, in cents", "shipping, in euros"),
        (f"{EXAMPLE}/agent.py", "re.DOTALL)[1]", "re.DOTALL)[1].replace('in cents', '')"),
    ],
    ids=["the fixture", "the agent"],
)
def test_the_base_has_its_own_folder_and_its_own_agent(
    checkout: Checkout, tmp_path: Path, path: str, old: str, new: str
) -> None:
    text = (checkout.root / path).read_text()
    assert old in text
    checkout.git("switch", "--quiet", "--create", "head")
    checkout.commit({path: text.replace(old, new)})
    words = ("--against", "main", "--case", "explain-a-function")
    code, cases, shown = run(checkout.root, tmp_path, *words)
    case = cases["explain-a-function"]
    assert case["before"]["answer"] == "Return the sum of the prices and the shipping, in cents."
    assert case["before"]["verdict"] == "pass"
    assert "in cents" not in case["answer"]
    assert (code, case["verdict"]) == (1, "fail"), shown


def test_kept_answers_have_their_work(checkout: Checkout, tmp_path: Path) -> None:
    words = ("--case", "explain-a-function", "--reuse", "answers")
    _, before, _ = run(checkout.root, tmp_path, *words)
    code, after, shown = run(checkout.root, tmp_path, *words, "--offline")
    assert code == 0, shown
    was, now = before["explain-a-function"], after["explain-a-function"]
    assert (was["answer_reused"], now["answer_reused"]) == (False, True)
    assert [step["tool"] for step in now["trace"]["steps"]] == ["Search", "Read"]
    for kept in ("answer", "trace", "file_changes", "evaluators"):
        assert now[kept] == was[kept]
