"""Changes to the tests of another tool, seen by `adopt` and by `run` with a runner."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

pytestmark = platforms.SHELL

HEADER = "id,grader,passed,question,weight\n"
RESULTS = (
    f"{HEADER}refund,tone,yes,How long?,1\nrefund,facts,yes,How long?,1\nlate,tone,yes,Late?,1\n"
)
FAIL = "gate: {on_weaker_grading: fail}\n"
TOOL = """\
import pathlib, sys
from tests.marks import ROWS
pathlib.Path(sys.argv[1], "r.csv").write_text(ROWS)
"""
RUNNER = f"""\
targets:
  - name: shop
    provider: runner
    command_template: "{sys.executable} tool.py {{RESULTS}}"
    reads: csv
    depends_on: [src/**]
"""


def marks(rows: str) -> str:
    return f"ROWS = {rows!r}\n"


def report(checkout: Checkout) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((checkout.root / ".rubric-ci/report.json").read_text())
    return read


def plain(output: str) -> str:
    return " ".join(output.split())


def told(checkout: Checkout) -> list[str]:
    return [
        f"{each['direction']} {each['kind']} {each['about']}: {each['before']} → {each['after']}"
        for each in report(checkout)["grading_changes"]
    ]


@pytest.fixture
def shop(checkout: Checkout) -> Checkout:
    checkout.commit(
        {
            ".gitignore": ".rubric-ci/\nresults.csv\nmain/\n",
            "rubric-ci.yaml": RUNNER,
            "tool.py": TOOL,
            "tests/marks.py": marks(RESULTS),
            "src/prompt.txt": "Be kind\n",
        }
    )
    return checkout


SCRIPT = "changed script tests/marks.py: as at the base → edited"
TABLE = {
    "a test is deleted": (
        RESULTS.replace("late,tone,yes,Late?,1\n", ""), ["weaker case late: graded → "],
    ),
    "a grader is deleted": (
        RESULTS.replace("refund,facts,yes,How long?,1\n", ""),
        ["weaker criterion refund/facts: facts → "],
    ),
    "a grader counts no more": (
        RESULTS.replace("facts,yes,How long?,1", "facts,yes,How long?,0"),
        [
            "weaker weight refund/facts: 1 → 0",
            "weaker required refund/facts: required → ",
        ],
    ),
    "a question is edited": (
        RESULTS.replace("How long?", "How soon?"),
        ["changed case refund: question: How long? → How soon?"],
    ),
    "a grader is added": (
        f"{RESULTS}late,facts,yes,Late?,1\n", ["stronger criterion late/facts:  → facts"],
    ),
    "a test is added": (
        f"{RESULTS}new,tone,yes,New?,1\n", ["stronger case new:  → added"],
    ),
    "another mark": (RESULTS.replace("late,tone,yes", "late,tone,no"), []),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "expected"), TABLE.values(), ids=TABLE)
def test_changed_tests_of_a_runner(shop: Checkout, rows: str, expected: list[str]) -> None:
    shop.commit({"tests/marks.py": marks(rows), "src/prompt.txt": "Be short\n"})
    invoke(shop.root, ENVIRONMENT, "run", "--target", "shop", "--against", "HEAD~1")
    assert sorted(told(shop)) == sorted([*expected, SCRIPT])


@pytest.mark.parametrize(("rows", "expected"), TABLE.values(), ids=TABLE)
def test_changed_tests_of_adopted_results(shop: Checkout, rows: str, expected: list[str]) -> None:
    shop.write({"results.csv": RESULTS})
    adopt(shop, "--output-dir", "main")
    shop.write({"results.csv": rows})
    adopt(shop, "--baseline", "main/report.json")
    assert told(shop) == expected


def adopt(shop: Checkout, *arguments: str, **environment: str) -> Any:
    line = ("adopt", "results.csv", "--from", "csv", *arguments)
    return invoke(shop.root, ENVIRONMENT | environment, *line)


def test_weaker_tests_fail_the_gate(shop: Checkout) -> None:
    shop.commit({"rubric-ci.yaml": RUNNER + FAIL})
    shop.commit({"tests/marks.py": marks(TABLE["a test is deleted"][0])})
    done = invoke(shop.root, ENVIRONMENT, "run", "--target", "shop", "--against", "HEAD~1")
    assert done.returncode == 1
    assert "the change makes the grading weaker" in plain(done.stdout)


def pull_request(shop: Checkout, folder: Path) -> dict[str, str]:
    """Return the variables of a pull request from the last commit but one."""
    event = folder / "event.json"
    base = {"sha": shop.git("rev-parse", "HEAD~1")}
    pull = {"base": base, "head": {"sha": shop.git("rev-parse", "HEAD")}}
    event.write_text(json.dumps({"pull_request": pull, "repository": {"default_branch": "main"}}))
    return {
        "GITHUB_ACTIONS": "true",
        "RUBRIC_CI_ANNOTATIONS": "false",
        "GITHUB_REPOSITORY": "acme/shop",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REF": "refs/pull/1/merge",
    }


UNKNOWN = "not known what the change does to the tests of csv: "


def test_a_runner_without_a_run_at_the_base(shop: Checkout, tmp_path: Path) -> None:
    """Without it the changes to the tests are not known: said, and refused where they decide."""
    shop.commit({"src/prompt.txt": "Be short\n"})
    variables = pull_request(shop, tmp_path)
    done = invoke(shop.root, ENVIRONMENT | variables, "run", "--target", "shop")
    assert done.returncode == 0, done.stderr
    assert f"It is {UNKNOWN}it did not run at the base without `--against`" in plain(done.stdout)
    shop.commit({"rubric-ci.yaml": RUNNER + FAIL})
    shop.commit({"src/prompt.txt": "Be kind\n"})
    variables = pull_request(shop, tmp_path)
    done = invoke(shop.root, ENVIRONMENT | variables, "run", "--target", "shop")
    assert done.returncode == 2
    assert done.stderr.startswith(f"rubric-ci: gate.on_weaker_grading: fail: it is {UNKNOWN}")
    assert "run with `--against auto`" in done.stderr
    done = invoke(
        shop.root, ENVIRONMENT | variables, "run", "--target", "shop", "--against", "auto"
    )
    assert done.returncode == 0, done.stderr


def test_adopted_results_without_those_of_the_base(shop: Checkout, tmp_path: Path) -> None:
    shop.commit({"rubric-ci.yaml": RUNNER + FAIL})
    shop.commit({"src/prompt.txt": "Be short\n"})
    shop.write({"results.csv": RESULTS})
    variables = pull_request(shop, tmp_path)
    done = adopt(shop, **variables)
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"rubric-ci: gate.on_weaker_grading: fail: it is {UNKNOWN}there is no baseline\n"
    )
    adopt(shop, "--output-dir", "main")
    done = adopt(shop, "--baseline", "main/report.json", **variables)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("setting", ["on_weaker_grading", "on_changed_grading"])
def test_results_that_git_tracks(shop: Checkout, setting: str) -> None:
    """Who writes a change writes them: every output says so, and a strict gate refuses them."""
    shop.commit({".gitignore": ".rubric-ci/\n", "results.csv": RESULTS})
    said = "whether csv gave these marks: results.csv is tracked by git"
    done = adopt(shop, "--reports", "json,markdown,html")
    assert done.returncode == 0, done.stderr
    assert f"It is not known {said}" in plain(done.stdout)
    for name in ("report.json", "summary.md", "report.html"):
        assert said in (shop.root / ".rubric-ci" / name).read_text("utf-8"), name
    shop.write({"rubric-ci.yaml": f"gate: {{{setting}: fail}}\n"})
    done = adopt(shop)
    assert done.returncode == 2
    assert done.stderr.startswith(f"rubric-ci: gate.{setting}: fail: it is not known {said}")


def test_committed_results_of_a_change(shop: Checkout, tmp_path: Path) -> None:
    shop.commit({"src/prompt.txt": "Be short\n"})
    shop.commit({".gitignore": ".rubric-ci/\n", "results.csv": RESULTS})
    adopt(shop, **pull_request(shop, tmp_path))
    assert told(shop) == ["changed results results.csv: as at the base → edited"]


def test_a_runner_that_copies_committed_results(shop: Checkout) -> None:
    forged = RUNNER.replace(f"{sys.executable} tool.py", "cp forged.csv")
    shop.commit({"rubric-ci.yaml": forged, "forged.csv": RESULTS})
    done = invoke(shop.root, ENVIRONMENT, "run", "--target", "shop", "--against", "HEAD~1")
    assert "forged.csv is tracked by git" in plain(done.stdout)
    assert "changed results forged.csv: as at the base → edited" in told(shop)
    shop.write({"rubric-ci.yaml": forged + FAIL})
    done = invoke(shop.root, ENVIRONMENT, "run", "--target", "shop", "--against", "HEAD~1")
    assert done.returncode == 2, done.stdout
