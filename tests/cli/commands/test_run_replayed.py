"""`run --record` keeps answers with their work; `run --replay` starts and requests nothing."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import platforms
from tests.answer_judge import AnswerJudge, judging
from tests.checkout import Checkout
from tests.cli.commands.test_work_kept import WorkJudge, rubric_ci

pytestmark = platforms.SHELL

PROGRAM = """\
import json, sys
with open({log!r}, "a") as log:
    log.write(" ".join(sys.argv[1:2]) + "\\n")
kind = sys.argv[1]
if kind == "agent":
    call = {{"tool": "Bash", "input": {{"command": "pytest -q"}}, "output": "2 passed"}}
    with open("fix.py", "w") as fix:
        fix.write("total = 2\\n")
    said = {{"role": "assistant", "content": "I fixed it"}}
    messages = [{{"role": "assistant", "tool_calls": [call]}}, said]
    print(json.dumps({{"output_messages": messages, "cost_usd": 0.5}}))
elif kind == "fails":
    print("out of tools", file=sys.stderr)
    sys.exit(3)
else:
    print("hello")
"""
RUN = "{python} -S {program}"
CONFIG = f"""\
judge: {{{{model: openai/m, api_key: "${{{{{{{{ OPENAI_API_KEY }}}}}}}}", api_base: "{{url}}/v1"}}}}
targets:
  - name: agent
    provider: cli
    command_template: "{RUN} agent"
    workspace: {{{{setup: "{RUN} setup", keep: [diff, "*.py"]}}}}
    depends_on: []
  - name: plain
    provider: cli
    command_template: "{RUN} plain"
    healthcheck: {{{{type: command, command_template: "{RUN} health"}}}}
  - {{{{name: fails, provider: cli, command_template: "{RUN} fails"}}}}
  - {{{{name: model, model: openai/target, api_key: none, api_base: "{{url}}/v1"}}}}
"""
EVALS = """\
evalcases:
  - id: work
    input: Fix it
    target: agent
    rubrics:
      sees: [answer, tool_calls, file_changes, files]
      criteria:
        - {id: tested, expected_outcome: Runs the tests}
        - {called: "Bash(pytest*)"}
        - {exists: fix.py}
        - {command: "PROGRAM check"}
  - {id: plain, input: Greet, target: plain, rubrics: [{contains: hello}]}
  - {id: talk, turns: [Hi, Bye], target: plain, rubrics: [{contains: hello}]}
  - {id: fails, input: Fail, target: fails, rubrics: [{contains: hello}]}
  - id: folder
    input: Look at it
    target: model
    workspace: {setup: "PROGRAM setup"}
    rubrics: [{contains: hello}]
"""


@pytest.fixture
def judge() -> Iterator[AnswerJudge]:
    server = WorkJudge(targets={"target": lambda _: "hello"})
    with judging(server) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, judge: AnswerJudge) -> Path:
    Checkout.create(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(log=str(tmp_path / "started.txt")))
    named = {"python": sys.executable, "program": program}
    (tmp_path / "rubric-ci.yaml").write_text(CONFIG.format(url=judge.url, **named))
    (tmp_path / "a.eval.yaml").write_text(EVALS.replace("PROGRAM", RUN.format(**named)))
    return tmp_path


def cases(project: Path) -> dict[str, dict[str, Any]]:
    report = json.loads((project / ".rubric-ci/report.json").read_text())
    names = ("outcome", "verdict", "score", "reason", "answer", "trace", "file_changes")
    return {each["id"]: {name: each.get(name) for name in names} for each in report["cases"]}


def test_a_replay_starts_nothing_and_marks_the_same(project: Path, judge: AnswerJudge) -> None:
    done = rubric_ci(project, "run", "--record", "all.jsonl")
    assert done.returncode == 3, done.stderr + done.stdout
    recorded = cases(project)
    verdicts = {name: each["verdict"] or each["outcome"] for name, each in recorded.items()}
    assert verdicts == {
        **dict.fromkeys(("work", "plain", "talk", "folder"), "pass"),
        "fails": "errored",
    }
    log = project / "started.txt"
    assert {*log.read_text().split()} == {*("agent", "setup", "plain", "health", "fails", "check")}
    log.unlink()
    judge.out = True
    asked = len(judge.seen) + len(judge.asked)
    again = rubric_ci(project, "run", "--replay", "all.jsonl")
    assert again.returncode == 3, again.stderr
    assert cases(project) == recorded
    assert not log.exists()
    assert len(judge.seen) + len(judge.asked) == asked
    assert recorded["fails"]["reason"] == "the target `fails` failed: exit status 3: out of tools"


def test_a_case_that_was_not_recorded_is_errored(project: Path) -> None:
    assert rubric_ci(project, "run", "--record", "all.jsonl").returncode == 3
    (project / "started.txt").unlink()
    text = (project / "a.eval.yaml").read_text()
    (project / "a.eval.yaml").write_text(text.replace("input: Greet,", "input: Salute,"))
    assert rubric_ci(project, "run", "--replay", "all.jsonl").returncode == 3
    found = cases(project)
    assert found["plain"]["reason"] == (
        "no recorded answer of the target `plain` to this case, and --replay starts nothing; "
        "record again with --record: the case or the target changed"
    )
    assert found["talk"]["verdict"] == "pass"
    assert not (project / "started.txt").exists()


def test_answers_of_several_targets_are_told_apart(project: Path) -> None:
    line = "provider: cli, command_template: 'echo hello', cache: false, env: [PLACE]"
    (project / "rubric-ci.yaml").write_text(
        "targets:\n"
        f"  - {{name: one, {line.replace('hello', 'hello one')}}}\n"
        f"  - {{name: other, {line.replace('hello', 'hello other')}}}\n"
    )
    (project / "a.eval.yaml").write_text(
        "evalcases: [{id: a, input: Greet, rubrics: [{contains: hello}]}]\n"
    )
    options = ("--target", "one", "--target", "other")
    done = rubric_ci(project, "run", *options, "--record", "all.jsonl", PLACE="here")
    assert done.returncode == 0, done.stderr
    recorded = cases(project)
    assert [each["answer"] for each in recorded.values()] == ["hello one", "hello other"]
    assert rubric_ci(project, "run", *options, "--replay", "all.jsonl").returncode == 0
    assert cases(project) == recorded


def test_both_sides_of_a_change_are_recorded(project: Path) -> None:
    Checkout(project).commit()
    program = (project / "program.py").read_text()
    (project / "program.py").write_text(program.replace('print("hello")', 'print("bye")'))
    options = ("--against", "HEAD", "--case", "plain", "--fail-on", "never")
    assert rubric_ci(project, "run", *options, "--record", "all.jsonl").returncode == 0

    def sides() -> tuple[str, str, str]:
        report = json.loads((project / ".rubric-ci/report.json").read_text())
        (case,) = report["cases"]
        return case["answer"], case["before"]["answer"], case["change"]

    there = sides()
    (project / "started.txt").unlink()
    assert rubric_ci(project, "run", *options, "--replay", "all.jsonl").returncode == 0
    assert sides() == there
    assert not (project / "started.txt").exists()


@pytest.mark.parametrize("option", ["--record", "--replay"])
def test_another_tool_is_neither_recorded_nor_replayed(project: Path, option: str) -> None:
    (project / "all.jsonl").write_text("")
    (project / "rubric-ci.yaml").write_text(
        "targets: [{name: shop, provider: runner, command_template: 'true {RESULTS}', "
        "reads: junit}]\n"
    )
    no_effect = "has no effect on the target shop: junit chooses its cases and judges"
    done = rubric_ci(project, "run", "--target", "shop", option, "all.jsonl")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-2:] == [
        f"rubric-ci: {option} {no_effect}",
        "  set it in the configuration of the tool, or in the target's `command_template`",
    ]
