"""`rubric-ci adopt` as a user types it, on results that the tools really wrote."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.checkout import ENVIRONMENT
from tests.invoke import invoke

RESULTS = Path(__file__).parent / "results"
LINE = "  The marks come from promptfoo: promptfoo.json.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(RESULTS, tmp_path, dirs_exist_ok=True)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def rubric_ci(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in ENVIRONMENT.items() if not k.startswith(("GITHUB_", "RUBRIC_CI_"))}
    return invoke(folder, clean, *arguments)


def adopt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return rubric_ci(folder, "adopt", "promptfoo.json", "--from", "promptfoo", *arguments)


def edited(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text("utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), "utf-8")


def test_the_gate_fails_by_their_failure_and_their_error_is_no_verdict(folder: Path) -> None:
    done = adopt(folder)
    assert done.returncode == 1, done.stderr
    assert LINE in done.stdout
    assert "Gate fails: 1 of 3 graded cases fails (fail_on: fail) · 1 case errored\n" in done.stdout
    assert "support · misses “javascript: output.length < 10” (promptfoo.json:1)\n" in done.stdout
    assert adopt(folder, "--fail-on", "never").returncode == 3


def test_the_example_runs_as_its_page_says(tmp_path: Path) -> None:
    example = RESULTS.parents[3] / "examples/promptfoo"
    shutil.copytree(example, tmp_path / "examples/promptfoo")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (line,) = re.findall(
        r"^rubric-ci (adopt .*)$", (example / "README.md").read_text(), re.MULTILINE
    )
    done = rubric_ci(tmp_path, *line.split())
    assert done.returncode == 1
    assert "Gate fails: 1 of 3 graded cases fails (fail_on: fail) · 1 case errored\n" in done.stdout


def test_a_waiver_of_their_grader_holds_the_gate(folder: Path) -> None:
    adopt(folder)
    waive = ("--until", "2999-12-31", "--reason", "known", "--owner", "ana")
    done = rubric_ci(folder, "waive", "support/javascript", *waive)
    assert done.stdout == "waivers.yaml: waived support/javascript until 2999-12-31\n", done.stderr
    assert "    tool: promptfoo\n" in (folder / "waivers.yaml").read_text()
    done = adopt(folder)
    assert done.returncode == 3
    waived = (
        "Waived, neither a pass nor a fail\n  support/javascript: known (ana, until 2999-12-31)"
    )
    assert waived in done.stdout
    assert rubric_ci(folder, "validate", "waivers.yaml").returncode == 0


def test_a_waiver_of_another_tool_is_not_reported(folder: Path) -> None:
    adopt(folder)
    waive = ("--until", "2999-12-31", "--reason", "known", "--owner", "ana")
    rubric_ci(folder, "waive", "support/javascript", *waive)
    done = rubric_ci(folder, "adopt", "junit.xml", "--from", "junit")
    assert "waive" not in done.stdout


def test_a_break_since_an_earlier_report_is_found(folder: Path) -> None:
    adopt(folder, "--output-dir", "main")
    edited(folder, "promptfoo.json", '"failureReason": 0', '"failureReason": 1')
    edited(folder, "promptfoo.json", '"success": true', '"success": false')
    done = adopt(folder, "--baseline", "main/report.json", "--fail-on", "regression")
    assert done.returncode == 1
    report = json.loads((folder / ".rubric-ci/report.json").read_text())
    assert {case["id"]: case["change"] for case in report["cases"]} == {
        "refund": "broken",
        "support": "failing-before",
        "invoice": "broken",
        "outage": "not-comparable",
    }


def test_tags_of_their_cases_are_groups_of_the_gate(folder: Path) -> None:
    (folder / "rubric-ci.yaml").write_text("gate: {groups: {sales: {min_pass_rate: 0.01}}}\n")
    done = adopt(folder)
    assert "tag sales: 0 of 1 pass, 1 must" in done.stdout


def test_history_and_formats_take_the_report(folder: Path) -> None:
    adopt(folder, "--reports", "json,markdown,junit,sarif,html")
    assert rubric_ci(folder, "history", "add").returncode == 0
    assert rubric_ci(folder, "history", "show").returncode == 0
    merged = rubric_ci(folder, "compare", ".rubric-ci/report.json", ".rubric-ci/report.json")
    assert merged.returncode == 3, merged.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("junit.xml", "--from", "promptfoo"),
            "rubric-ci: junit.xml: not results of promptfoo: not JSON",
        ),
        (("none.json", "--from", "promptfoo"), "rubric-ci: none.json does not exist"),
        (
            ("promptfoo.json", "--from", "promptfoo", "--grader", "tone"),
            "rubric-ci: --grader: no grader `tone`; there are contains, icontains, javascript,",
        ),
        (("empty.json", "--from", "promptfoo"), "rubric-ci: empty.json: no case in these results"),
    ],
)
def test_unusable_results_are_told(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    (folder / "empty.json").write_text('{"results": {"results": []}}')
    done = rubric_ci(folder, "adopt", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(message)


def test_cases_keep_their_names_under_a_suite_of_ours(folder: Path) -> None:
    adopt(folder, "--suite", "evals/shop")
    report = json.loads((folder / ".rubric-ci/report.json").read_text())
    assert {case["file"] for case in report["cases"]} == {"evals/shop"}
