"""`rubric-ci run --last-failed`, `--max-failures` and `--list`, as a user types them."""

import json
from pathlib import Path

import pytest

from tests.sample_project import Project

ANSWERS = {"good": "Hello there", "bad": "Go away", "worse": "No"}
CASE = """\
  - id: {name}
    input: Say hello
    execution:
      evaluators:
        - {{name: polite, type: code_judge, script: 'grep -qi hello {{answer_file}}'}}
"""
NOT_RUN = "not run: stopped after 1 failure (--max-failures 1)"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    cases = "".join(CASE.format(name=name) for name in ANSWERS)
    project.write("evals/a.eval.yaml", f"evalcases:\n{cases}")
    answer(project, **ANSWERS)
    return project


def answer(project: Project, **answers: str) -> None:
    lines = (json.dumps({"id": name, "answer": text}) for name, text in answers.items())
    project.write("answers.jsonl", "".join(f"{line}\n" for line in lines))


def ran(project: Project) -> list[tuple[str, str]]:
    return [(case["id"], case["why"]) for case in project.report()["cases"]]


def test_only_cases_without_a_pass_run_again(project: Project) -> None:
    assert project.run().returncode == 1
    answer(project, **ANSWERS | {"bad": "Hello", "worse": "Hello"})
    assert project.run("--last-failed").returncode == 0
    why = "it did not pass in the last run"
    assert ran(project) == [("bad", why), ("worse", why)]
    assert project.report()["notes"] == []


def test_an_errored_case_runs_again(project: Project) -> None:
    answer(project, good="Hello", bad="Hello")
    assert project.run().returncode == 3
    assert project.run("--last-failed").returncode == 3
    assert [name for name, _ in ran(project)] == ["worse"]


def test_without_a_report_every_case_runs(project: Project) -> None:
    project.run("--last-failed")
    assert [name for name, _ in ran(project)] == ["good", "bad", "worse"]
    note = "--last-failed: .rubric-ci/report.json does not exist, so no case is left out."
    assert project.report()["notes"] == [note]


def test_after_a_run_that_passes_every_case_runs(project: Project) -> None:
    project.run("--case", "good")
    project.run("--last-failed")
    assert len(ran(project)) == 3
    assert project.report()["notes"] == [
        "--last-failed: .rubric-ci/report.json has no case without a pass, so no case is left out."
    ]


def test_a_case_that_is_not_selected_any_more_is_noted(project: Project) -> None:
    project.run()
    project.run("--last-failed", "--case", "bad")
    assert [name for name, _ in ran(project)] == ["bad"]
    assert project.report()["notes"] == [
        "--last-failed: 1 case of .rubric-ci/report.json did not pass and is not selected now."
    ]


def test_a_run_stops_after_its_failures(project: Project) -> None:
    done = project.run("--max-failures", "1", "--concurrency", "1")
    assert done.returncode == 1
    report = project.report()
    assert report["scope"] == {
        "complete": False,
        "narrowed_by": ["max-failures"],
        "suite": 3,
    }
    ends = [(case["id"], case["outcome"], case["reason"]) for case in report["cases"]]
    assert ends[0][:2] == ("good", "graded")
    assert ends[1][:2] == ("bad", "graded")
    assert ends[2] == ("worse", "errored", NOT_RUN)


def test_an_errored_case_is_a_failure_too(project: Project) -> None:
    answer(project, good="Hello", worse="No")
    done = project.run("--max-failures", "1", "--concurrency", "1")
    assert done.returncode == 3
    assert project.report()["cases"][2]["reason"] == NOT_RUN


LISTED = """\
evals/a.eval.yaml:2   good   default  every case was asked for
evals/a.eval.yaml:7   bad    default  every case was asked for
evals/a.eval.yaml:12  worse  default  every case was asked for
3 cases
target default: 3 recorded answers, no requests
"""
MODELS = """\
evals: [evals/*.eval.yaml]
judge: {model: openai/gpt-6-luna, api_key: "${{ OPENAI_API_KEY }}"}
targets:
  - {name: default, model: openai/gpt-6.1-sol, api_key: "${{ OPENAI_API_KEY }}"}
"""
ESTIMATED = """\
evals/a.eval.yaml:2  greeting  default  every case was asked for
1 case
target default: 2 requests to openai/gpt-6.1-sol, cost unknown before the answers
about 2 requests to openai/gpt-6-luna, """


def test_the_list_requests_nothing(project: Project) -> None:
    marked = CASE.replace("grep", "touch asked; grep").format(name="good")
    project.write("evals/b.eval.yaml", f"evalcases:\n{marked}")
    done = project.run("--list", "evals/a.eval.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, LISTED, "")
    assert not (project.root / ".rubric-ci").exists()
    project.write("evals/c.eval.yaml", "evalcases: []\n")
    assert project.run("--list").returncode == 2
    assert not (project.root / "evals/asked").exists()


def test_the_list_estimates_requests_without_a_key(project: Project) -> None:
    project.write("rubric-ci.yaml", MODELS)
    project.write(
        "evals/a.eval.yaml",
        "evalcases:\n  - id: greeting\n    input: Say hello\n    rubrics: [Greets]\n",
    )
    done = project.run("--list", "--trials", "2")
    assert done.returncode == 0
    assert done.stdout.startswith(ESTIMATED)
    assert "$0.00" in done.stdout
