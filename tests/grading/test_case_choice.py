"""`FILE::CASE` and `FILE:LINE`, as pytest has them."""

import subprocess
from pathlib import Path

import pytest

from rubric_ci.values.scope import CasePlace, read_places
from tests.sample_project import Project

CASE = """\
  - id: {name}
    tags: [{tag}]
    input: Say hello
    execution:
      evaluators:
        - {{name: polite, type: code_judge, script: 'true {{answer_file}}'}}
"""
FILES = {"refund": ("period", "shipping"), "order": ("cancel", "period")}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    (tmp_path / "evals/a.eval.yaml").unlink()
    for name, ids in FILES.items():
        cases = "".join(CASE.format(name=each, tag=f"t-{each}") for each in ids)
        project.write(f"evals/{name}.eval.yaml", f"evalcases:\n{cases}")
    project.write("answers.jsonl", "".join(f'{{"id": "{i}", "answer": "a"}}\n' for i in IDS))
    return project


IDS = ("period", "shipping", "cancel")
ORDER, REFUND = "evals/order.eval.yaml", "evals/refund.eval.yaml"


def chosen(project: Project) -> list[str]:
    cases = project.report()["cases"]
    return [f"{case['file'].removeprefix('evals/')[0]}:{case['id']}" for case in cases]


def run(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    return project.run(*words)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([f"{REFUND}::period"], ["r:period"]),
        ([f"{REFUND}::p*"], ["r:period"]),
        ([f"{REFUND}::period", ORDER], ["r:period", "o:cancel", "o:period"]),
        ([f"{REFUND}::period", f"{ORDER}::cancel"], ["r:period", "o:cancel"]),
        ([f"{REFUND}::period", REFUND], ["r:period", "r:shipping"]),
        ([f"{REFUND}:2"], ["r:period"]),
        ([f"{REFUND}:7"], ["r:period"]),
        ([f"{REFUND}:8:3"], ["r:shipping"]),
        ([f"{REFUND}:13"], ["r:shipping"]),
    ],
    ids=" ".join,
)
def test_the_cases_that_run(project: Project, words: list[str], expected: list[str]) -> None:
    done = run(project, *words)
    assert done.returncode == 0, done.stderr
    assert chosen(project) == expected


TABLE, SUITE = "evals/table.csv", "evals/suite.eval.yaml"


@pytest.fixture
def suite(project: Project) -> Project:
    """A suite with one case of its file and two of a table."""
    graded = "execution: {evaluators: [{name: a, type: code_judge, script: 'true {answer_file}'}]}"
    cases = f"  - table.csv\n{CASE.format(name='shipping', tag='x')}"
    project.write(SUITE, f"{graded}\nevalcases:\n{cases}")
    project.write(TABLE, "id,input\nperiod,Hi\ncancel,Hi\n")
    return project


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([f"{SUITE}::cancel"], ["t:cancel"]),
        ([f"{SUITE}::*i*"], ["t:period", "s:shipping"]),
        ([f"{SUITE}:4"], ["s:shipping"]),
        ([f"{TABLE}::cancel"], ["t:cancel"]),
        ([f"{TABLE}:2"], ["t:period"]),
        ([f"{SUITE}::shipping", f"{TABLE}:3"], ["t:cancel", "s:shipping"]),
        ([f"{SUITE}::cancel", ORDER], ["t:cancel", "o:cancel", "o:period"]),
    ],
    ids=" ".join,
)
def test_cases_of_a_suite_and_table(suite: Project, words: list[str], expected: list[str]) -> None:
    done = run(suite, *words)
    assert done.returncode == 0, done.stderr
    assert sorted(chosen(suite)) == sorted(expected)


@pytest.mark.parametrize(
    ("words", "narrowed"),
    [([f"{REFUND}:2"], ["paths", "case"]), (["--case=p*"], ["case"]), (["--case=*"], [])],
    ids=["line", "glob", "a glob of all"],
)
def test_the_scope_says_so(project: Project, words: list[str], narrowed: list[str]) -> None:
    run(project, *words)
    assert project.report()["scope"]["narrowed_by"] == narrowed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([f"{REFUND}::perod"], f"{REFUND}::perod: there is no such case\n  did you mean `period`?"),
        ([f"{REFUND}:1"], f"{REFUND}:1: there is no such case\n  the first case is in line 2"),
        (["evals/refnd.eval.yaml:3"], "evals/refnd.eval.yaml does not exist"),
        ([f"{SUITE}::cancl"], f"{SUITE}::cancl: there is no such case\n  did you mean `cancel`?"),
        ([f"{SUITE}:2"], f"{SUITE}:2: there is no such case\n  the first case is in line 4"),
    ],
    ids=["id", "line", "file", "id of a table", "line of a suite"],
)
def test_what_chooses_no_case(suite: Project, words: list[str], message: str) -> None:
    done = run(suite, *words)
    assert (done.returncode, done.stderr.startswith(f"rubric-ci: {message}")) == (2, True), (
        done.stderr
    )


def test_a_path_with_a_drive_or_a_colon_is_a_path() -> None:
    paths = ("C:\\evals\\a.eval.yaml", "a:3", "a.eval.yaml::x:y")
    assert read_places(paths) == (
        ("C:\\evals\\a.eval.yaml", "a:3", "a.eval.yaml"),
        (CasePlace(file="a.eval.yaml", case="x:y"),),
    )
