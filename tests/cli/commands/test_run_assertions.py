"""`rubric-ci run` on criteria that need no judge: no request, and marks as any other."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sample_project import Project

ALONE = """\
evalcases:
  - id: greeting
    input: Say hello
    rubrics:
      - contains: hello
        ignore_case: true
      - {id: brief, max_words: 3, weight: 2}
      - {id: quiet, contains: "!", not: true, required: false, expected_outcome: Does not shout}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    found = Project(tmp_path)
    found.write("evals/a.eval.yaml", ALONE)
    return found


def criteria(project: Project) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = project.case["evaluators"][0]["criteria"]
    return found


def test_assertions_alone_need_no_judge(project: Project) -> None:
    done = project.run()
    assert (done.returncode, done.stderr) == (0, "[1/1] pass       1.00  greeting\n")
    report = project.report()
    assert (report["totals"]["calls"], report.get("judge")) == (0, None)
    assert [(c["id"], c["kind"], c["mark"], c["line"], c["weight"]) for c in criteria(project)] == [
        ("rubric-1", "assertion", True, 5, 1.0),
        ("brief", "assertion", True, 7, 2.0),
        ("quiet", "assertion", True, 8, 1.0),
    ]
    first, _, last = criteria(project)
    shown = (first["reasoning"], first["evidence"], first["gate"])
    assert shown == ("Contains `hello`: it is in line 1", "Hello", "required")
    assert last["text"] == "Does not shout"


def test_a_missed_assertion_gates(project: Project) -> None:
    project.write("answers.jsonl", '{"id": "greeting", "answer": "Hello to all of you!"}\n')
    done = project.run("--votes", "3")
    assert done.returncode == 1
    case = project.case
    assert (case["score"], case["verdict"], case["gated_by"]) == (0.25, "fail", ["brief"])
    assert case["reason"] == (
        "`brief` is required and not satisfied: Has at most 3 words: it has 5 words"
    )
    assert [c["evidence"] for c in criteria(project)] == ["Hello", "", "!"]


def test_the_annotation_is_at_the_line_of_the_assertion(project: Project) -> None:
    project.write("answers.jsonl", '{"id": "greeting", "answer": "Hello to all of you"}\n')
    done = project.run(GITHUB_ACTIONS="true")
    assert "::error file=evals/a.eval.yaml,line=7," in done.stdout


def test_the_estimate_counts_no_requests(project: Project) -> None:
    assert "request" not in project.run("--list").stderr


def test_a_pattern_that_is_not_re2_is_an_error_at_its_line(project: Project) -> None:
    project.write("evals/a.eval.yaml", f'{ALONE}      - matches: "(?=x)"\n')
    done = project.call("validate", "--format", "json")
    assert done.returncode == 1
    (found,) = json.loads(done.stdout)["problems"]
    assert (found["rule"], found["line"], found["column"]) == ("assertion-value", 9, 18)


def test_a_schema_in_a_file(project: Project) -> None:
    project.write("schemas/a.json", '{"required": ["total"]}')
    case = "{id: greeting, input: Say hello, rubrics: [{json_schema: ../schemas/a.json}]}"
    project.write("evals/a.eval.yaml", f"evalcases: [{case}]\n")
    project.write("answers.jsonl", '{"id": "greeting", "answer": "{\\"total\\": 3}"}\n')
    assert project.run().returncode == 0
    project.write("schemas/a.json", '{"required": ["sum"]}')
    assert project.run().returncode == 1
    assert criteria(project)[0]["reasoning"] == (
        'Is valid by the JSON Schema: "sum" is a required property'
    )


PRINTS = """\
import json, sys
text = {"role": "assistant", "content": "hello"}
call = {"role": "assistant", "tool_calls": [{"tool": "Bash", "input": {"command": sys.argv[1]}}]}
print(json.dumps({"output_messages": [call, text]}))
"""
WORK = """\
targets:
  - {name: default, provider: cli, command_template: "python3 agent.py 'jq .a <<< in; git push'"}
"""


@pytest.mark.parametrize(
    ("assertion", "status"),
    [('{never_called: "Bash(git push*)"}', 1), ('{called: "Bash(git push*)"}', 0)],
)
def test_a_command_may_print_its_calls(project: Project, assertion: str, status: int) -> None:
    project.write("agent.py", PRINTS)
    project.write("rubric-ci.yaml", WORK)
    project.write(
        "evals/a.eval.yaml", f"evalcases: [{{id: a, input: q, rubrics: [{assertion}]}}]\n"
    )
    checked = project.call("validate", "--strict")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert project.run().returncode == status
