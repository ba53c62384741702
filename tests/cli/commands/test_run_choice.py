"""`rubric-ci run --last-failed`, `--max-failures` and `--list`, as a user types them."""

import json
import threading
from pathlib import Path

import pytest

from rubric_ci.models.llm.budget import CUT_NOTE
from tests.http_server import JsonHandler, serving
from tests.sample_project import RUBRIC, Project

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
    why = "it did not pass when it ran last"
    assert ran(project) == [("bad", why), ("worse", why)]
    assert project.report()["notes"] == []


def test_an_errored_case_runs_again(project: Project) -> None:
    answer(project, good="Hello", bad="Hello")
    assert project.run().returncode == 3
    assert project.run("--last-failed").returncode == 3
    assert [name for name, _ in ran(project)] == ["worse"]


def remembered(project: Project) -> list[str]:
    data = json.loads((project.root / ".rubric-ci/last-failed.json").read_text())
    assert data["version"] == 1
    return [each["id"] for each in data["failed"]]


def test_without_an_earlier_run_nothing_is_known(project: Project) -> None:
    done = project.run("--last-failed")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "rubric-ci: --last-failed: .rubric-ci/last-failed.json does not exist",
        "  run `rubric-ci run` first: it remembers the cases that do not pass",
    ]


def test_nothing_failed(project: Project) -> None:
    """It never becomes a run of every case, which would cost."""
    answer(project, **dict.fromkeys(ANSWERS, "Hello"))
    project.run()
    report = (project.root / ".rubric-ci/report.json").read_bytes()
    for options in ((), ("--list",), ("--shard", "1/2")):
        done = project.run("--last-failed", *options)
        assert (done.returncode, done.stdout) == (0, "nothing failed; nothing to run\n")
        assert done.stderr == ""
    assert (project.root / ".rubric-ci/report.json").read_bytes() == report


def test_a_failure_is_remembered_until_it_passes(project: Project) -> None:
    """Runs of other cases forget nothing, as with pytest."""
    project.run()
    assert remembered(project) == ["bad", "worse"]
    project.run("--case", "good")
    assert remembered(project) == ["bad", "worse"]
    answer(project, **ANSWERS | {"bad": "Hello", "good": "No"})
    project.run("--last-failed")
    assert [name for name, _ in ran(project)] == ["bad", "worse"]
    assert remembered(project) == ["worse"]
    project.run("--case", "good", "--max-failures", "1")
    assert remembered(project) == ["good", "worse"]


def test_a_case_that_did_not_run_stays(project: Project) -> None:
    project.run()
    answer(project, **ANSWERS | {"bad": "Hello"})
    project.run("--max-failures", "1", "--concurrency", "1", "--case", "worse", "--case", "bad")
    assert remembered(project) == ["worse"]
    project.run()
    project.run("--offline", "--reuse", "nothing")
    assert remembered(project) == ["worse"]


def test_a_case_that_a_run_did_not_reach_is_remembered(project: Project) -> None:
    answer(project, good="No", bad="Hello", worse="Hello")
    project.run("--max-failures", "1", "--concurrency", "1")
    assert remembered(project) == ["bad", "good", "worse"]
    project.run("--last-failed", "--case", "[bw]*")
    assert remembered(project) == ["good"]


def test_a_case_that_was_removed_is_forgotten(project: Project) -> None:
    project.run()
    project.write("evals/a.eval.yaml", f"evalcases:\n{CASE.format(name='good')}")
    project.run("evals/a.eval.yaml")
    assert remembered(project) == []


def test_no_failed_case_is_selected(project: Project) -> None:
    project.run()
    done = project.run("--last-failed", "--case", "good")
    shown = "nothing to run: 2 cases did not pass, and none of them is selected\n"
    assert (done.returncode, done.stdout) == (0, shown)


def test_a_case_that_is_not_selected_any_more_is_noted(project: Project) -> None:
    project.run()
    project.run("--last-failed", "--case", "bad")
    assert [name for name, _ in ran(project)] == ["bad"]
    assert project.report()["notes"] == [
        "--last-failed: 1 case did not pass and is not selected now."
    ]


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "failed": []}', '{"version": 1}'])
def test_a_file_that_is_no_list_of_failed_cases(project: Project, text: str) -> None:
    project.write(".rubric-ci/last-failed.json", text)
    done = project.run("--last-failed")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "rubric-ci: .rubric-ci/last-failed.json: not a list of failed cases",
        "  delete it, then run the suite",
    ]


def test_a_committed_list_is_not_read(project: Project) -> None:
    """A pull request could bring an empty one, so that nothing runs."""
    project.write(".rubric-ci/last-failed.json", '{"version": 1, "failed": []}')
    project.checkout.git("add", "-f", ".rubric-ci")
    done = project.run("--last-failed")
    assert done.returncode == 2
    assert "git tracks .rubric-ci/last-failed.json: a change could choose what runs" in done.stderr


def test_a_run_stops_after_its_failures(project: Project) -> None:
    done = project.run("--max-failures", "1", "--concurrency", "1")
    assert done.returncode == 1
    report = project.report()
    scope = {"complete": False, "narrowed_by": ["max-failures"], "suite": 3, "base": ""}
    assert report["scope"] == scope
    ends = [(case["id"], case["outcome"]) for case in report["cases"]]
    assert ends == [("good", "graded"), ("bad", "graded"), ("worse", "errored")]
    assert report["cases"][2]["reason"] == NOT_RUN


def test_an_errored_case_is_a_failure_too(project: Project) -> None:
    answer(project, good="Hello", worse="No")
    done = project.run("--max-failures", "1", "--concurrency", "1")
    assert done.returncode == 3
    assert project.report()["cases"][2]["reason"] == NOT_RUN


def test_a_request_that_a_stop_cuts_counts_as_sent(project: Project) -> None:
    """It may have reached the server, which may bill it."""
    arrived, end = threading.Event(), threading.Event()
    waits_for = {"quick": arrived, "slow": end}

    class Service(JsonHandler):
        def do_POST(self) -> None:
            name = self.received()["q"]
            if name == "slow":
                arrived.set()
            if name in waits_for:
                waits_for[name].wait(60)
            self.send_json(200, "No" if name == "quick" else "Hello")

    case = "  - {{id: {0}, input: {0}, rubrics: [contains: Hello]}}\n"
    cases = "".join(map(case.format, ("good", "slow", "quick")))
    project.write("evals/a.eval.yaml", f"evalcases:\n{cases}")
    with serving(Service) as server:
        target = f"provider: http, url: '{server.url}', body: {{q: '{{{{ input }}}}'}}"
        project.write("rubric-ci.yaml", f"targets: [{{name: default, {target}}}]\n")
        done = project.run("evals", "--max-failures", "1")
        end.set()
    assert done.returncode == 1, done.stderr
    report = project.report()
    assert [case.get("reason") for case in report["cases"]][1] == NOT_RUN
    assert (report["totals"]["calls"], report["totals"]["unpriced_calls"]) == (3, 3)
    assert CUT_NOTE in report["notes"]


LISTED = """\
evals/a.eval.yaml:2   good   default
evals/a.eval.yaml:7   bad    default
evals/a.eval.yaml:12  worse  default
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
evals/a.eval.yaml:2  greeting  default
1 case
target default: 2 requests to openai/gpt-6.1-sol, about $0.0060 at 300 tokens an answer
about 2 requests to openai/gpt-6-luna, """


def test_only_answers_that_exist_are_recorded(project: Project) -> None:
    answer(project, good="Hello")
    assert project.run("--fail-on", "never").returncode == 3
    assert project.report()["totals"]["recorded_answers"] == 1
    line = "target default: 1 recorded answer, no requests; 2 answers not recorded\n"
    assert line in project.run("--list").stdout


def test_the_list_requests_nothing(project: Project) -> None:
    marked = CASE.replace("grep", "touch asked; grep").format(name="good")
    project.write("evals/b.eval.yaml", f"evalcases:\n{marked}")
    done = project.run("--list", "evals/a.eval.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, LISTED, "")
    assert not (project.root / ".rubric-ci").exists()
    project.write("evals/c.eval.yaml", "evalcases: []\n")
    assert project.run("--list").returncode == 2
    assert not (project.root / "evals/asked").exists()


def test_the_list_shows_an_id_that_reads_as_a_reason(project: Project) -> None:
    case = "{id: no case filter, input: x, rubrics: [contains: y]}"
    project.write("evals/b.eval.yaml", f"evalcases: [{case}]\n")
    row = "evals/b.eval.yaml:1  no case filter  default\n"
    assert project.run("--list", "evals/b.eval.yaml").stdout.startswith(row)


def test_the_list_estimates_requests_without_a_key(project: Project) -> None:
    project.write("rubric-ci.yaml", MODELS)
    project.write("evals/a.eval.yaml", RUBRIC)
    done = project.run("--list", "--trials", "2")
    assert done.returncode == 0
    assert done.stdout.startswith(ESTIMATED)
    assert "$0.00" in done.stdout


CONVERSATIONS = """\
evalcases:
  - {id: script, turns: [Hello, Bye], rubrics: [Greets]}
  - id: user
    turns: [Hello]
    simulated_user: {persona: Anna, goal: Say hello, max_turns: 5}
    rubrics: [Greets]
"""


def test_the_list_counts_turns(project: Project) -> None:
    project.write("rubric-ci.yaml", MODELS)
    project.write("evals/a.eval.yaml", CONVERSATIONS)
    done = project.run("--list", "--trials", "2")
    assert done.returncode == 0
    line = (
        "target default: up to 14 requests to openai/gpt-6.1-sol, cost unknown before the answers; "
        "up to 8 requests for simulated users\n"
    )
    assert line in done.stdout


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["evals/more/b.jsonl"], ["x", "y"]),
        (["evals/more/b.jsonl:2"], ["y"]),
        (["evals/t.csv::one"], ["one"]),
        (["evals/t.csv:2"], ["one"]),
        (["evals/more"], ["x", "y"]),
        (["evals/t.csv", "evals/more"], ["one", "x", "y"]),
        (["evals/b.eval.yaml", "evals/t.csv"], ["one", "x", "y"]),
    ],
    ids=" ".join,
)
def test_files_of_cases_in_a_suite(project: Project, paths: list[str], expected: list[str]) -> None:
    suite = "rubrics: [{contains: Hello}]\nevalcases: [t.csv, 'more/*.jsonl']\n"
    project.write("evals/b.eval.yaml", suite)
    project.write("evals/t.csv", "id,input\none,Hi\n")
    project.write("evals/more/b.jsonl", '{"id": "x", "input": "a"}\n{"id": "y", "input": "b"}\n')
    answer(project, one="Hello", x="Hello", y="Hello")
    assert project.run(*paths).returncode == 0
    assert [name for name, _ in ran(project)] == expected


def test_a_table_of_no_suite_is_named(project: Project) -> None:
    project.write("evals/t.csv", "id,input\none,Hi\n")
    done = project.run("evals/t.csv")
    assert done.returncode == 2
    assert "evals/t.csv is a table that no eval file of its folder or above names" in done.stderr
