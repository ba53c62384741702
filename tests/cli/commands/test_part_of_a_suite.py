"""A run of a part of the suite: every command says so, and none takes it for the whole."""

import json
from pathlib import Path

import pytest

from tests.sample_project import Project

ANSWERS = {"good": "Hello there", "bad": "Go away", "worse": "No", "fine": "Hello"}
CASE = """\
  - id: {name}
    input: Say hello
    tags: [{tag}]
    execution:
      evaluators:
        - {{name: polite, type: code_judge, script: 'grep -qi hello {{answer_file}}'}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    cases = "".join(CASE.format(name=name, tag=name[0]) for name in list(ANSWERS)[:3])
    project.write("evals/a.eval.yaml", f"evalcases:\n{cases}")
    project.write("evals/b.eval.yaml", f"evalcases:\n{CASE.format(name='fine', tag='f')}")
    lines = (json.dumps({"id": name, "answer": text}) for name, text in ANSWERS.items())
    project.write("answers.jsonl", "".join(f"{line}\n" for line in lines))
    return project


def changes(project: Project) -> dict[str, str]:
    report = project.report()
    found = {case["id"]: case["change"] for case in report["cases"]}
    return found | {case["id"]: "removed" for case in report["removed"]}


@pytest.fixture
def base(project: Project) -> str:
    project.call("run", "--output-dir", "base")
    return "base/report.json"


PARTS = [
    pytest.param(["--case", "good"], ["case"], 4, ["good"], id="case"),
    pytest.param(["--tag", "b"], ["tag"], 4, ["bad"], id="tag"),
    pytest.param(["--case", "*", "--tag", "g"], ["tag"], 4, ["good"], id="case of all"),
    pytest.param(["evals/b.eval.yaml"], ["paths"], None, ["fine"], id="paths"),
    pytest.param(["evals"], [], 4, list(ANSWERS), id="paths of all"),
    pytest.param(["--shard", "1/1"], [], 4, list(ANSWERS), id="shard of all"),
    pytest.param(["--offline"], [], 4, list(ANSWERS), id="offline without a request"),
]


@pytest.mark.parametrize(("options", "names", "suite", "ran"), PARTS)
def test_the_report_names_what_narrowed_the_run(
    project: Project, options: list[str], names: list[str], suite: int | None, ran: list[str]
) -> None:
    project.call("run", *options)
    report = project.report()
    assert [case["id"] for case in report["cases"]] == ran
    scope = {"complete": not names, "narrowed_by": names, "suite": suite, "base": ""}
    assert report["scope"] == scope


def test_an_invalid_file_narrows_the_run(project: Project, base: str) -> None:
    project.write("evals/b.eval.yaml", "evalcases: []\n")
    project.call("run", "--baseline", base)
    scope = {"complete": False, "narrowed_by": ["invalid"], "suite": None}
    assert project.report()["scope"] == {**scope, "base": ""}
    before = {"good": "unchanged", "bad": "failing-before", "worse": "failing-before"}
    assert changes(project) == before


def test_what_was_left_out_is_not_gone(project: Project, base: str) -> None:
    """A run and `compare` agree on the same two reports."""
    project.call("run", "--case", "good", "--baseline", base)
    assert changes(project) == {"good": "unchanged"}
    done = project.call("compare", base, ".rubric-ci/report.json")
    assert "removed" not in done.stdout
    note = "This report covers 1 of 4 cases: case filter; the other cases are not compared."
    assert note in done.stdout


def test_cases_that_did_not_fail_are_not_gone(project: Project, base: str) -> None:
    project.call("run")
    project.call("run", "--last-failed", "--baseline", base)
    assert changes(project) == {"bad": "failing-before", "worse": "failing-before"}
    assert project.report()["scope"]["narrowed_by"] == ["last-failed"]


def test_a_new_case_alone_is_compared_with_a_base_that_lacks_it(project: Project) -> None:
    project.checkout.commit()
    project.write("evals/b.eval.yaml", f"evalcases:\n{CASE.format(name='fine', tag='new')}")
    project.write("evals/c.eval.yaml", f"evalcases:\n{CASE.format(name='added', tag='new')}")
    project.write("answers.jsonl", '{"id": "added", "answer": "Hello"}\n')
    done = project.call("run", "--against", "HEAD", "--case", "added")
    assert (done.returncode, changes(project)) == (0, {"added": "new"})


def test_shards_of_a_part_are_that_part(project: Project, base: str) -> None:
    """Sharded and merged, a run says the same as in one piece."""
    chosen = ["--case", "good", "--case", "bad"]
    project.call("run", *chosen, "--baseline", base)
    in_one = project.report()
    for shard in ("1/2", "2/2"):
        project.call("run", *chosen, "--shard", shard, "--output-dir", f"s/{shard[0]}")
    project.call("report", "merge", "s", "--baseline", base)
    merged = project.report()
    assert (merged["scope"], merged["comparison"]) == (in_one["scope"], in_one["comparison"])
    assert changes(project) == {"good": "unchanged", "bad": "failing-before"}


def test_all_shards_of_a_whole_run_are_the_suite(project: Project) -> None:
    for shard in ("1/2", "2/2"):
        project.call("run", "--shard", shard, "--output-dir", f"s/{shard[0]}")
    project.call("report", "merge", "s")
    scope = {"complete": True, "narrowed_by": [], "suite": 4, "base": ""}
    assert project.report()["scope"] == scope


def test_a_part_is_in_no_trend(project: Project) -> None:
    project.call("run", "--case", "good")
    done = project.call("history", "add")
    assert done.stderr.splitlines()[-1] == (
        "the report covers 1 of 4 cases: case filter; trends leave the run out"
    )


@pytest.mark.parametrize("command", [("keep",), ("accept", "--reason", "r")], ids=" ".join)
def test_a_part_becomes_no_reference(project: Project, command: tuple[str, ...]) -> None:
    project.call("run", "--case", "good")
    done = project.call("baseline", *command, ".rubric-ci/report.json", "--baseline", "reference")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-2:] == [
        "rubric-ci: this report covers 1 of 4 cases: case filter",
        "  run the whole suite first",
    ]
    assert not (project.root / "reference").exists()


def test_every_format_says_so(project: Project) -> None:
    formats = "json,markdown,junit,sarif,html"
    options = ("--case", "good", "--reports", formats)
    done = project.call("run", *options, RUBRIC_CI_ANNOTATIONS="true")
    beginning = "Gate passes: the only case passes (fail_on: fail)\n1 passed · average score 1.00"
    assert done.stdout.startswith(f"{beginning}\n1 of 4 cases: case filter · ")
    assert "::notice title=rubric-ci::1 of 4 cases: case filter" in done.stdout
    for name in ("summary.md", "report.html", "junit.xml", "report.sarif"):
        assert "1 of 4 cases: case filter" in (project.root / ".rubric-ci" / name).read_text(), name


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        ("tags: [must], require_rubrics: true", 3, "1 case errored"),
        ("tags: [must], require_verdict: true", 3, "1 case errored"),
        ("not_tags: [must], require_rubrics: true", 0, "Gate passes"),
        ("tags: [none]", 3, "no case decides: the gate is about none"),
        ("tags: [none], fail_on: never", 0, "Gate passes"),
    ],
)
def test_a_case_that_has_no_verdict(project: Project, gate: str, code: int, said: str) -> None:
    config = "evals: ['*.eval.yaml']\ntargets: [{name: default, provider: mock, response: hello}]\n"
    project.write("rubric-ci.yaml", f"{config}gate: {{{gate}}}\n")
    project.write(
        "a.eval.yaml",
        "evalcases:\n"
        "  - {id: a, tags: [must], input: q, expected_outcome: x}\n"
        "  - {id: b, input: q, rubrics: [{contains: hello}]}\n",
    )
    done = project.run()
    assert done.returncode == code, done.stdout
    assert said in " ".join(done.stdout.split())
