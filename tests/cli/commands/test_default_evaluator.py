"""Cases with an expected outcome and no evaluator: counted, skipped, or graded by the judge."""

import json

import pytest

from tests.aimock import says
from tests.cli.commands.test_run_judged import Judged, judged

__all__ = ["judged"]
EVALS = """\
evalcases:
  - {id: bare, input: Say hello, expected_outcome: Greets}
  - {id: older, input: Say hello, outcome: Greets}
  - id: graded
    input: Say hello
    evaluators: [{name: own, type: code_judge, script: 'true {code_file}'}]
"""
REPLY = says('{"reasoning": "It greets.", "score": 0.9}')
NOTE = (
    "2 cases have an expected outcome and no evaluator, and no verdict: run `rubric-ci generate "
    "rubrics`, or set `default_evaluator: llm_judge` in rubric-ci.yaml"
)
NOTICE = (
    "evals/a.eval.yaml:2:10: notice: ungraded-cases: 2 of 3 cases have an expected outcome and no "
    "evaluator, and will not be graded; run `rubric-ci generate rubrics evals/a.eval.yaml`, or set "
    "`default_evaluator: llm_judge` in rubric-ci.yaml"
)


@pytest.fixture
def bare(judged: Judged) -> Judged:
    judged.write("evals/a.eval.yaml", EVALS)
    names = ("bare", "older", "graded")
    answers = (json.dumps({"id": name, "answer": "Hello"}) for name in names)
    judged.write("answers.jsonl", "\n".join(answers))
    return judged


def configure(project: Judged, default: str) -> None:
    path = project.root / "rubric-ci.yaml"
    project.write("rubric-ci.yaml", f"default_evaluator: {default}\n{path.read_text()}")


def test_they_are_skipped_and_counted(bare: Judged) -> None:
    assert bare.run().returncode == 0
    assert bare.report()["notes"] == [NOTE]
    assert [case["outcome"] for case in bare.results()] == ["skipped", "skipped", "graded"]
    done = bare.call("validate", "evals")
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if "notice:" in line] == [NOTICE]


def test_the_judge_grades_them_by_default_if_configured(bare: Judged) -> None:
    configure(bare, "llm_judge")
    bare.server.script(REPLY, REPLY)
    bare.run()
    assert bare.report()["notes"] == []
    scores = [(case["id"], case["score"]) for case in bare.results()]
    assert scores == [("bare", 0.9), ("older", 0.9), ("graded", 1.0)]
    names = [each["name"] for case in bare.results() for each in case["evaluators"]]
    assert names == ["llm_judge", "llm_judge", "own"]
    done = bare.call("validate")
    assert "ungraded-cases" not in done.stdout


@pytest.mark.parametrize("suite", ["evaluator: rubric", "evaluator: llm_judge"])
def test_the_suite_comes_before_the_configuration(bare: Judged, suite: str) -> None:
    configure(bare, "llm_judge" if "rubric" in suite else "none")
    bare.write("evals/a.eval.yaml", f"{suite}\n{EVALS}")
    bare.server.script(REPLY, REPLY)
    bare.run()
    graded = "skipped" if "rubric" in suite else "graded"
    assert [case["outcome"] for case in bare.results()] == [graded, graded, "graded"]


def test_an_unknown_default_is_an_error(bare: Judged) -> None:
    configure(bare, "rubric")
    done = bare.call("validate")
    assert done.returncode == 1
    assert "must be one of `llm_judge`, `none`, not the text `rubric`" in done.stdout


def test_a_changed_default_selects_the_cases_that_it_grades(bare: Judged) -> None:
    bare.checkout.commit()
    configure(bare, "llm_judge")
    bare.server.script(REPLY, REPLY)
    bare.run("--changed-since", "HEAD")
    assert [case["id"] for case in bare.results()] == ["bare", "older"]
