"""`rubric-ci run` with a runner: another eval tool at head and base, in a real repository."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

pytestmark = platforms.SHELL

TOOL = """\
import json, re, sys
folder, *only = sys.argv[1:]
cases = json.load(open("cases.json"))
with open({log!r}, "a+") as log:
    log.write(" ".join([open("prompt.txt").read().strip(), *only]) + "\\n")
    log.seek(0)
    calls = len(log.readlines())
marks = json.load(open("answers.json"))
rows = ["id,passed,question,reason,error"]
for name, question in cases.items():
    if only and not re.search(only[0], name):
        continue
    mark = marks.get(name, "yes")
    if isinstance(mark, list):
        mark = mark[calls % len(mark)]
    error = "the service is down" if mark == "error" else ""
    rows.append(f"{{name}},{{'' if error else mark}},{{question}},said {{mark}},{{error}}")
if marks:
    with open(folder + "/r.csv", "w") as results:
        results.write("\\n".join(rows) + "\\n")
sys.exit(100)
"""
CONFIG = f"""\
targets:
  - name: shop
    provider: runner
    command_template: "{sys.executable} -S tool.py {{RESULTS}}"
    reads: csv
    only: "{{CASE_REGEX}}"
"""
CASES = {"refund": "How long?", "support": "Which plan?", "invoice": "Invoice?", "late": "Late?"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "calls.txt"


@pytest.fixture
def shop(checkout: Checkout, log: Path) -> Checkout:
    checkout.commit(
        {
            "rubric-ci.yaml": CONFIG,
            "tool.py": TOOL.format(log=str(log)),
            "cases.json": json.dumps(CASES),
            "prompt.txt": "base\n",
            "answers.json": json.dumps({"late": "no"}),
        }
    )
    return checkout


def run(
    checkout: Checkout, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return invoke(checkout.root, ENVIRONMENT | environment, "run", "--target", "shop", *arguments)


def report(checkout: Checkout) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((checkout.root / ".rubric-ci/report.json").read_text())
    return read


def changes(checkout: Checkout) -> dict[str, tuple[str, str]]:
    found = report(checkout)["cases"]
    return {case["id"]: (case["change"], case["change_reason"]) for case in found}


def head(checkout: Checkout, **marks: object) -> None:
    files = {"answers.json": json.dumps({"late": "no", **marks}), "prompt.txt": "head\n"}
    checkout.commit(files)


def test_the_tool_s_results_are_the_report(shop: Checkout) -> None:
    done = run(shop)
    assert done.returncode == 1, done.stderr
    assert "The marks come from csv: target shop.\n" in done.stdout
    assert "Gate fails: 1 of 4 cases fails (fail_on: fail)\n" in done.stdout
    assert {case["file"] for case in report(shop)["cases"]} == {"shop"}


def test_a_break_is_confirmed_by_runs_of_the_suspect_alone(shop: Checkout, log: Path) -> None:
    head(shop, refund="no")
    done = run(shop, "--against", "HEAD~1", "--fail-on", "regression")
    assert done.returncode == 1, done.stderr
    assert changes(shop) == {
        "refund": ("broken", ""),
        "support": ("unchanged", ""),
        "invoice": ("unchanged", ""),
        "late": ("failing-before", ""),
    }
    here, before = "head ^(refund)$", "base ^(refund)$"  # the head leads by two, and both end
    again = [here, *[here, before] * 3, before]
    assert log.read_text().splitlines() == ["head", "base", *again]


def test_chance_is_no_break(shop: Checkout) -> None:
    head(shop, refund=["yes", "no", "yes", "yes"])
    done = run(shop, "--against", "HEAD~1", "--fail-on", "regression")
    assert done.returncode == 0, done.stdout
    assert changes(shop)["refund"] == ("not-confirmed", "")


def test_a_drop_that_is_spread_over_cases_fails_the_gate(shop: Checkout) -> None:
    """Each of twelve cases fails once, in the first run of the head, and none is broken."""
    names = [f"case{n}" for n in range(120)]
    shop.commit({"cases.json": json.dumps({name: f"{name}?" for name in names})})
    head(shop, **{name: ["yes", "no", *["yes"] * 40] for name in names[:12]})
    done = run(shop, "--against", "HEAD~1", "--fail-on", "regression")
    assert done.returncode == 1, done.stdout
    assert {change for change, _ in changes(shop).values()} == {"unchanged", "not-confirmed"}
    assert "Gate fails: 12 more of 120 fail than before" in done.stdout
    together = report(shop)["comparison"]["together"]
    assert (together["worse"], together["again"]) == (True, 0)


def test_a_case_with_another_question_is_not_compared(shop: Checkout) -> None:
    shop.write({"cases.json": json.dumps({**CASES, "refund": "How soon?", "new": "New?"})})
    del_late = {name: text for name, text in CASES.items() if name != "late"}
    shop.write({"cases.json": json.dumps({**del_late, "refund": "How soon?", "new": "New?"})})
    head(shop)
    run(shop, "--against", "HEAD~1")
    assert changes(shop) == {
        "refund": ("not-comparable", "its graders have other criteria at the base"),
        "support": ("unchanged", ""),
        "invoice": ("unchanged", ""),
        "new": ("new", ""),
    }
    assert report(shop)["removed"] == [{"file": "shop", "id": "late"}]


def test_an_error_is_no_break(shop: Checkout) -> None:
    head(shop, refund="error")
    done = run(shop, "--against", "HEAD~1", "--fail-on", "regression")
    assert done.returncode == 3
    assert changes(shop)["refund"] == ("not-comparable", "no verdict: the service is down")


def test_a_base_without_results_is_said(shop: Checkout) -> None:
    shop.commit({"answers.json": "{}"})
    head(shop)
    done = run(shop, "--against", "HEAD~1", "--fail-on", "regression")
    assert done.returncode == 1  # a case fails, and counts as it is
    change, reason = changes(shop)["refund"]
    assert change == "not-comparable"
    assert reason.startswith("no results at the base: target shop: no results in {RESULTS}: exit")


def test_no_results_at_the_head_is_no_verdict(shop: Checkout) -> None:
    shop.commit({"answers.json": "{}"})
    done = run(shop)
    assert done.returncode == 3
    assert done.stderr.startswith(
        "rubric-ci: target shop: no results in {RESULTS}: exit status 100, no output\n"
    )


def test_without_only_no_suspect_is_asked_again(shop: Checkout, log: Path) -> None:
    lines = CONFIG.splitlines(keepends=True)
    without = "".join(line for line in lines if "only:" not in line)
    shop.commit({"rubric-ci.yaml": without})
    head(shop, refund="no")
    run(shop, "--against", "HEAD~1", "--fail-on", "regression")
    assert changes(shop)["refund"] == ("broken", "")
    assert log.read_text().splitlines() == ["head", "base"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("evals",), "PATHS"),
        (("--case", "a"), "--case"),
        (("--trials", "3"), "--trials"),
        (("--votes", "3"), "--votes"),
        (("--list",), "--list"),
    ],
)
def test_an_option_that_the_tool_cannot_follow_is_refused(
    shop: Checkout, arguments: tuple[str, ...], named: str
) -> None:
    done = run(shop, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"rubric-ci: {named} has no effect on the target shop: csv ")


def test_a_cap_says_that_it_does_not_limit_the_tool(shop: Checkout) -> None:
    assert not any("did not limit" in line for line in report_of(shop)["notes"])
    caps = ("--max-calls", "3", "--max-cost-usd", "0.5")
    assert report_of(shop, *caps)["notes"][-1] == (
        "--max-calls and --max-cost-usd did not limit the tool, which sends its own requests."
    )


def report_of(shop: Checkout, *options: str) -> dict[str, Any]:
    run(shop, *options)
    return report(shop)


def test_a_case_of_ours_cannot_be_answered_by_a_runner(shop: Checkout) -> None:
    shop.commit(
        {"a.eval.yaml": "evalcases: [{id: a, input: Hi, target: shop, rubrics: [Greets.]}]\n"}
    )
    done = invoke(shop.root, ENVIRONMENT, "run", "--judge", "openai/x", "a.eval.yaml")
    assert done.returncode == 3
    (case,) = report(shop)["cases"]
    assert case["reason"].startswith("target shop: a runner has its own cases and answers no")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("only: '{CASE}'", "`{CASE}` is not a known placeholder of `only`"),
        ("only: '--all'", "`only` holds no placeholder"),
        ("model: openai/x", "`model` has no effect on a runner"),
    ],
)
def test_validate_checks_a_runner(shop: Checkout, line: str, expected: str) -> None:
    text = CONFIG.replace('    only: "{CASE_REGEX}"\n', f"    {line}\n")
    shop.write({"rubric-ci.yaml": text})
    done = invoke(shop.root, ENVIRONMENT, "validate", "rubric-ci.yaml")
    assert expected in done.stdout
