"""What is said about each mistake of `mistakes.yaml`: the place, and what to do."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from rubric_ci.files.validation.schema import read_schema
from tests.checkout import start_repository
from tests.invoke import invoke

PROJECT = {
    "rubric-ci.yaml": """\
evals: [evals/*.eval.yaml]
judge: {model: openai/gpt-6-luna, api_key: "${{ OPENAI_API_KEY }}"}
targets:
  - {name: default, provider: recorded, answers: answers.jsonl}
""",
    "evals/a.eval.yaml": """\
evalcases:
  - id: greeting
    input: Say hello
    rubrics: [Greets]
""",
    "answers.jsonl": '{"id": "greeting", "answer": "Hello there"}\n',
}
ROWS: list[dict[str, Any]] = yaml.load(
    Path(__file__).with_name("mistakes.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
TYPES: list[str] = read_schema("eval")["$defs"]["evaluator"]["properties"]["type"]["enum"]
NO_KEY = "no key"
JOB = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_REPOSITORY": "ada/shop",
    "GITHUB_WORKFLOW_REF": "ada/shop/.github/workflows/evals-gate.yml@refs/heads/main",
}
"""The variables of a job, for rows with `job: true`."""


ELSEWHERE = {
    29: ("parts/pytest/test_fixture.py", 'rubric(trials="5")'),
    30: ("parts/pytest/test_fixture.py", "rubric(trial=5)"),
    31: ("parts/pytest/test_fixture.py", "*criteria"),
    41: ("hooks/test_action_ends.py", '"comand"'),
    42: ("hooks/test_action_ends.py", '"fail_on"'),
}
"""The mistakes of a new user, by number, that other tests have."""


def test_each_mistake_of_a_new_user_is_there() -> None:
    """`from` is the number of a mistake that a new user made."""
    assert len({row["mistake"] for row in ROWS}) == len(ROWS)
    assert {*ELSEWHERE, *(row.get("from", 1) for row in ROWS)} == {*range(1, 45)}
    for name, text in ELSEWHERE.values():
        assert text in (Path("tests") / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("row", ROWS, ids=[row["mistake"] for row in ROWS])
def test_what_is_said(row: dict[str, Any], tmp_path: Path) -> None:
    start_repository(tmp_path)
    files = {**PROJECT, **row.get("files", {})}
    for name in files.keys() - {*row.get("without", ())}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(files[name], encoding="utf-8", newline="")
    key = {} if row["mistake"] == NO_KEY else {"OPENAI_API_KEY": "sk-of-a-test"}
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **key}
    environment |= row.get("environment", {})
    if row.get("job"):
        environment |= {**JOB, "GITHUB_WORKSPACE": str(tmp_path)}
    command = row["command"]
    words = command.split() if isinstance(command, str) else command
    done = invoke(tmp_path / row.get("folder", ""), environment, *words)
    said = [*done.stderr.splitlines(), *done.stdout.splitlines()]
    expected = row["says"].replace("{types}", ", ".join(f"`{name}`" for name in TYPES))
    missing = [line for line in expected.splitlines() if line not in said]
    assert (done.returncode, missing) == (row["exit"], []), done.stdout + done.stderr
