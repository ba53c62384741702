"""Batch targets: one process per eval file reads and writes JSON Lines."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.sample_project import Project

pytestmark = platforms.SHELL

TARGETS = f"""\
evals: [evals/*.eval.yaml]
targets:
  - name: default
    provider: cli
    provider_batching: true
    command_template: {sys.executable} runner.py {{EVAL_ID}} {{EVAL_FILE}} {{OUTPUT_FILE}} {{FILES}}
"""
RUNNER = """\
import json, sys
name, eval_file, output, *files = sys.argv[1:]
asked = [json.loads(line) for line in sys.stdin]
with open("runs.jsonl", "a") as log:
    log.write(json.dumps([name, eval_file.rsplit("/", 1)[-1], len(files), asked]) + "\\n")
answer = lambda case: {"id": case["id"], "text": case["prompt"].upper()}
"""
ECHO = 'open(output, "w").write("".join(json.dumps(answer(c)) + "\\n" for c in asked))\n'
CASES = """\
evalcases:
  - id: first
    input:
      - {role: system, content: Be loud.}
      - {role: user, content: [{type: text, value: one}, {type: file, value: note.md}]}
    evaluators: [{name: own, type: code_judge, script: 'grep -q ONE {answer_file}'}]
  - id: second
    input: two
    evaluators: [{name: own, type: code_judge, script: 'grep -q TWO {answer_file}'}]
  - {id: bare, input: three, expected_outcome: Is loud}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write("rubric-ci.yaml", TARGETS)
    made.write("evals/a.eval.yaml", CASES)
    made.write("evals/note.md", "a note\n")
    made.write("runner.py", RUNNER + ECHO)
    return made


def outcomes(project: Project) -> dict[str, Any]:
    cases = project.report()["cases"]
    return {case["id"]: case["score"] if case["outcome"] == "graded" else case for case in cases}


def runs(project: Project) -> list[Any]:
    return [json.loads(line) for line in (project.root / "runs.jsonl").read_text().splitlines()]


def test_one_process_answers_the_cases_of_an_eval_file(project: Project) -> None:
    project.write("evals/b.eval.yaml", CASES)
    done = project.run("--trials", "2", "--concurrency", "1")
    assert done.returncode == 0, done.stderr
    assert [case.get("score") for case in project.report()["cases"]] == [1, 1, None] * 2
    asked = [
        {
            "id": "first",
            "prompt": "[system]\nBe loud.\n\n[user]\none\n\na note\n",
            "guidelines": "Be loud.",
            "files": [str(project.root / "evals/note.md")],
        },
        {"id": "second", "prompt": "two", "guidelines": "", "files": []},
    ]
    each = [["batch", f"{name}.eval.yaml", 1, asked] for name in "aabb"]
    assert sorted(runs(project)) == each


def both(reason: str) -> dict[str, str]:
    return dict.fromkeys(("first", "second"), reason)


BATCH = "the batch of the target `default`"
OUTPUTS = {
    "a case without a line": (
        'open(output, "w").write(json.dumps(answer(asked[0])))',
        {
            "second": f"{BATCH} has no answer for the case `second`; "
            'add a line {"id": "second", "text": "…"} to its output'
        },
    ),
    "lines of other cases": (f'asked.append({{"id": "other", "prompt": "x"}})\n{ECHO}', {}),
    "broken JSON": ('open(output, "w").write("{}\\n\\nno")', both(f"{BATCH}: line 1 has no `id`")),
    "one text for all cases": (
        'open(output, "w").write("ONE TWO")',
        both(f"{BATCH}: line 1 is not a JSON object"),
    ),
    "an id twice": (
        f"asked.append(asked[0])\n{ECHO}",
        both(f"{BATCH}: line 3 repeats the id `first` of line 1"),
    ),
    "a failed process": (f'{ECHO}sys.exit("no database")', both("the target `default` failed: ")),
    "a line without an answer": (
        f'answer = lambda case: {{"id": case["id"], "trace": []}}\n{ECHO}',
        {
            "first": "line 1 has neither `text` nor `output_messages`",
            "second": "line 2 has neither `text` nor `output_messages`",
        },
    ),
}


@pytest.mark.parametrize(("code", "reasons"), OUTPUTS.values(), ids=OUTPUTS)
def test_each_case_has_its_own_line(project: Project, code: str, reasons: dict[str, str]) -> None:
    project.write("runner.py", RUNNER + code)
    project.run()
    for name, found in outcomes(project).items():
        if name in reasons:
            assert found["outcome"] == "errored"
            assert reasons[name] in found["reason"]
        elif name != "bare":
            assert found == 1
    assert len(runs(project)) == 1


def test_messages_and_measurements_belong_to_their_case(project: Project) -> None:
    project.write(
        "evals/a.eval.yaml",
        """\
evalcases:
  - id: called
    input: q
    evaluators:
      - {name: calls, type: tool_trajectory, mode: exact, expected: [{tool: search}]}
      - {name: time, type: latency, threshold: 700}
      - {name: tokens, type: token_usage, max_total: 100}
""",
    )
    line = {
        "id": "called",
        "output_messages": [{"role": "assistant", "tool_calls": [{"tool": "search"}]}],
        "duration_ms": 700,
        "token_usage": {"input": 90, "output": 10},
    }
    project.write("runner.py", f"{RUNNER}print(file=open(output, 'w'), *[{json.dumps(line)!r}])")
    project.run()
    assert [each["score"] for each in project.case["evaluators"]] == [1, 1, 1]
