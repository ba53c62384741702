"""`show` prints cases of the last report, and asks nothing."""

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests import platforms
from tests.checkout import Checkout
from tests.invoke import invoke

FILES = {
    "rubric-ci.yaml": (
        "evals: [evals/*.eval.yaml]\n"
        "targets: [{name: default, provider: recorded, answers: answers.jsonl}]\n"
    ),
    "evals/a.eval.yaml": """\
evalcases:
  - id: refund
    input: May I return it?
    expected_outcome: Names the period
    rubrics:
      - {id: period, contains: 30 days}
      - {id: kind, contains: glad, required: false}
  - id: hours
    input: When do you open?
    rubrics: [{id: time, contains: "9"}]
  - id: lost
    input: Where is it?
    rubrics: [{id: place, contains: here}]
""",
    "answers.jsonl": (
        '{"id": "refund", "answer": "Yes, within 30 days."}\n{"id": "hours", "answer": "At ten."}\n'
    ),
}
REFUND = """\
✗ fail · refund · 0.50 · evals/a.eval.yaml:2
    Question:
      May I return it?
    Expected outcome:
      Names the period
    Answer:
      Yes, within 30 days.
  ✓ Contains `30 days` · satisfied · required · period · evals/a.eval.yaml:6
      it is in line 1
      “30 days”
  ~ Contains `glad` · not satisfied · kind · evals/a.eval.yaml:7
      it does not occur
"""


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    Checkout.create(tmp_path).commit(FILES)
    assert run(tmp_path, "run").returncode == 1
    for name in ("answers.jsonl", "evals/a.eval.yaml", "rubric-ci.yaml"):
        (tmp_path / name).unlink()  # a report is enough
    return tmp_path


def run(root: Path, *words: str) -> CompletedProcess[str]:
    return invoke(root, {"PATH": "/usr/bin:/bin", "HOME": str(root)}, *words)


@pytest.mark.parametrize("name", ["refund", "ref*", "evals/a.eval.yaml::refund"])
def test_a_case(name: str, graded: Path) -> None:
    done = run(graded, "show", name)
    assert (done.returncode, done.stdout) == (0, REFUND)


def test_a_criterion(graded: Path) -> None:
    done = run(graded, "show", "refund", "--criterion", "kind")
    assert done.stdout == (
        "✗ fail · refund · 0.50 · evals/a.eval.yaml:2\n"
        "  ~ Contains `glad` · not satisfied · kind · evals/a.eval.yaml:7\n"
        "      it does not occur\n"
    )


def test_a_case_without_verdict(graded: Path) -> None:
    assert run(graded, "show", "lost").stdout == (
        "! errored · lost · evals/a.eval.yaml:11\n"
        "  answers.jsonl has no answer for the case `lost` of evals/a.eval.yaml; add a line "
        '{"id": "lost",\n  "answer": "…"}\n'
        "    Question:\n"
        "      Where is it?\n"
    )


def test_the_report(graded: Path) -> None:
    shown = run(graded, "show").stdout
    assert "Gate fails: 2 of 2 graded cases fail" in shown
    assert "│ hours" in shown


def test_data(graded: Path) -> None:
    report = json.loads((graded / ".rubric-ci/report.json").read_text())
    found = json.loads(run(graded, "show", "hours", "--format", "json").stdout)
    assert found == {"cases": [case for case in report["cases"] if case["id"] == "hours"]}
    marks = json.loads(run(graded, "show", "--criterion", "time", "--format", "json").stdout)
    (case,) = marks["cases"]
    assert (case["id"], case["criteria"][0]["mark"]) == ("hours", False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("refnud",),
            "rubric-ci: the last report has no case `refnud`\n  did you mean `refund`?\n",
        ),
        (
            ("refund", "--criterion", "perid"),
            "rubric-ci: no case shown has a criterion `perid`\n  did you mean `period`?\n",
        ),
    ],
)
def test_what_is_not_there(words: tuple[str, ...], said: str, graded: Path) -> None:
    done = run(graded, "show", *words)
    assert (done.returncode, done.stderr) == (2, said)


def test_no_report(tmp_path: Path) -> None:
    done = run(tmp_path, "show", "refund")
    assert done.returncode == 2
    assert "`rubric-ci run` writes it" in done.stderr


@platforms.SHELL
@pytest.mark.parametrize(
    ("words", "job", "starts"),
    [((), "", 1), (("--reuse", "marks"), "", 2), ((), "true", 2)],
    ids=["kept", "fresh", "in CI"],
)
def test_verbose_takes_kept(words: tuple[str, ...], job: str, starts: int, tmp_path: Path) -> None:
    config = (
        "targets: [{name: default, provider: cli, depends_on: [], "
        f"command_template: 'echo x >> {tmp_path}/log; echo within 30 days'}}]\n"
    )
    eval_file = "evalcases: [{id: a, input: When, rubrics: [{contains: 30 days}]}]\n"
    Checkout.create(tmp_path).commit({"rubric-ci.yaml": config, "a.eval.yaml": eval_file})
    assert run(tmp_path, "run", "a.eval.yaml").returncode == 0
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "CI": job}
    shown = invoke(tmp_path, environment, "run", "-v", "a.eval.yaml", *words)
    assert "    within 30 days\n" in shown.stdout
    assert len((tmp_path / "log").read_text().splitlines()) == starts
