"""A run with rubric files, shared criteria and dimensions, in real git with a judge of its own."""

import json
import sys
from pathlib import Path

import pytest

from tests.checkout import Checkout
from tests.cli.commands.test_run_against import report, run

JUDGE = """\
import json, re, sys
prompt = sys.stdin.read()
answer = re.search(r"<answer_(\\w+)>\\n(.*?)\\n</answer_", prompt, re.S)[2]
marks = {}
for alias, name in re.findall(r'"(c\\d+)": .*"(\\w+)": \\.\\.\\.', prompt):
    found = "refund" in answer if name == "present" else True
    marks[alias] = {"evidence": "", "reasoning": "By the word.", name: found}
print(json.dumps(marks))
"""
SAFETY = """\
criteria:
- {id: promise, expected_outcome: Promises money, penalty: 1, tags: [safety]}
- {id: names, expected_outcome: Names the shop, tags: [safety]}
tests:
- {answer: We will refund, marks: {promise: true}}
"""
CASES = """\
evalcases:
- {id: one, input: q, rubrics: [Is short, include: safety]}
- {id: two, input: q, rubrics: [Is short, include: safety]}
- {id: three, input: q, rubrics: [Is short]}
"""
ANSWERS = """\
{"id": "one", "answer": "We will refund you"}
{"id": "two", "answer": "Ask the shop"}
{"id": "three", "answer": "Ask"}
"""
POLITE = "shared_rubrics: [{id: polite, expected_outcome: Is polite, tags: [tone]}]\n"
WRITTEN = '{"expected_outcome": "Is polite", "id": "polite", "tags": ["tone"]}'


@pytest.fixture
def suite(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.chdir(checkout.root)
    line = json.dumps([sys.executable, str(checkout.root / "judge.py")])
    config = (
        f"judge: {{command: {line}, canary: false}}\nevals: [evals/*.eval.yaml]\n"
        "targets: [{name: default, provider: recorded, answers: answers.jsonl}]\n"
        f"{POLITE}"
    )
    files = {
        "judge.py": JUDGE,
        "rubric-ci.yaml": config,
        "rubrics/safety.rubric.yaml": SAFETY,
        "evals/a.eval.yaml": CASES,
        "answers.jsonl": ANSWERS,
    }
    checkout.commit(files)
    return checkout


def rewrite(name: str, old: str, new: str) -> None:
    path = Path(name)
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_report_has_the_file_and_the_penalty_of_a_criterion(suite: Checkout) -> None:
    done = run(suite)
    (evaluator,) = report(suite)["cases"][0]["evaluators"]
    facts = [(c["id"], c["file"], c["line"], c["mark"]) for c in evaluator["criteria"]]
    assert facts == [
        ("rubric-1", "", 2, True),
        ("safety/promise", "rubrics/safety.rubric.yaml", 2, True),
        ("safety/names", "rubrics/safety.rubric.yaml", 3, True),
        ("polite", "rubric-ci.yaml", 4, True),
    ]
    assert evaluator["score"] == 0.666667
    assert "by tag: safety 0.50, tone 1.00" in done.stdout
    assert "present, \N{MINUS SIGN}1 of 3 points" in done.stdout


def test_an_edit_selects_the_cases_that_include_it_and_is_told_once(suite: Checkout) -> None:
    rewrite("rubrics/safety.rubric.yaml", "Promises money", "Promises a sum")
    run(suite, "--changed-since", "HEAD")
    found = report(suite)
    assert [case["id"] for case in found["cases"]] == ["one", "two"]
    changes = [(c["direction"], c["about"], c["file"]) for c in found["grading_changes"]]
    assert changes == [("changed", "safety/promise, 2 cases", "rubrics/safety.rubric.yaml")]


BRIEFED = """\
sees: [answer%s]
guidelines: %s
examples: [{answer: %s, marks: {names: true}}]
"""
EXAMPLES = '[{"answer": "D", "marks": {"safety/names": true}}]'
OWN = "rubrics: {guidelines: Own %s, criteria: [Is short, include: safety]}}"


def test_an_edit_of_what_the_judge_reads_is_told_once(suite: Checkout) -> None:
    file = Path("rubrics/safety.rubric.yaml")
    file.write_text(BRIEFED % ("", "A", "B") + SAFETY, encoding="utf-8")
    case = "rubrics: [Is short, include: safety]}\n- {id: two"
    rewrite("evals/a.eval.yaml", case, f"{OWN % 'A'}\n- {{id: two")
    suite.commit()
    file.write_text(BRIEFED % (", tool_calls", "C", "D") + SAFETY, encoding="utf-8")
    rewrite("evals/a.eval.yaml", "Own A", "Own B")
    run(suite, "--changed-since", "HEAD")
    found = report(suite)["grading_changes"]
    assert [(c["direction"], c["about"], c["file"], c["after"]) for c in found] == [
        ("changed", "one/rubric: guidelines", "evals/a.eval.yaml", "Own B"),
        ("changed", "sees, 2 cases", str(file), "tool_calls"),
        ("changed", "guidelines, 2 cases", str(file), "C"),
        ("changed", "examples, 2 cases", str(file), EXAMPLES),
    ]


def test_a_criterion_that_leaves_a_file_is_weaker(suite: Checkout) -> None:
    written = "- {id: promise, expected_outcome: Promises money, penalty: 1, tags: [safety]}\n"
    rewrite("rubrics/safety.rubric.yaml", SAFETY, SAFETY.replace(written, "").partition("tests")[0])
    run(suite, "--changed-since", "HEAD")
    changes = [(c["direction"], c["about"], c["before"]) for c in report(suite)["grading_changes"]]
    assert changes == [
        ("weaker", "safety/promise, 2 cases", "Promises money"),
        ("changed", "tests", '“We will refund”: {"promise": true}'),
    ]


def test_a_new_test_selects_none(suite: Checkout) -> None:
    rewrite(
        "rubrics/safety.rubric.yaml", "tests:\n", "tests:\n- {answer: a, marks: {names: true}}\n"
    )
    run(suite, "--changed-since", "HEAD")
    assert report(suite)["cases"] == []


EDITED = "shared_rubrics: [{id: polite, expected_outcome: Is very polite, tags: [tone]}]\n"


@pytest.mark.parametrize(
    ("policy", "shared", "told"),
    [
        ("head", EDITED, ("changed", "polite, 3 cases", "Is polite")),
        ("head", "", ("weaker", "polite, 3 cases", "Is polite")),
        ("base", EDITED, ("changed", "shared_rubrics.polite", WRITTEN)),
        ("base", "", ("weaker", "shared_rubrics.polite", WRITTEN)),
    ],
)
def test_an_edit_of_shared_criteria_is_told_once(
    suite: Checkout, policy: str, shared: str, told: tuple[str, str, str]
) -> None:
    """By the cases where the edit counts, else by the setting, which counts after the merge."""
    rewrite("rubric-ci.yaml", POLITE, shared)
    run(suite, "--changed-since", "HEAD", "--policy-from", policy)
    found = report(suite)
    assert len(found["cases"]) == (3 if policy == "head" else 0)
    changes = [(c["direction"], c["about"], c["before"]) for c in found["grading_changes"]]
    assert changes == [told]


@pytest.mark.parametrize(
    ("least", "code", "said"),
    [(0.5, 0, "Gate passes"), (0.9, 1, "Gate fails: criteria tagged safety: 0.50, 0.9 needed")],
)
def test_a_dimension_gates(suite: Checkout, least: float, code: int, said: str) -> None:
    gate = f"gate: {{fail_on: fail, groups: {{safety: {{min_score: {least}}}}}}}\nevals:"
    rewrite("rubric-ci.yaml", "evals:", gate)
    done = run(suite)
    assert (done.returncode, said in done.stdout) == (code, True)
