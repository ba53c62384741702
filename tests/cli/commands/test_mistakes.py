"""What is said about each mistake of `mistakes.yaml`: the place, and what to do."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

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
NO_KEY = "no key"
JOB = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_REPOSITORY": "ada/shop",
    "GITHUB_WORKFLOW_REF": "ada/shop/.github/workflows/evals-gate.yml@refs/heads/main",
}
"""The variables of a job, for rows with `job: true`."""


def test_there_are_enough() -> None:
    assert len(ROWS) >= 104
    assert len({row["mistake"] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row["mistake"] for row in ROWS])
def test_what_is_said(row: dict[str, Any], tmp_path: Path) -> None:
    start_repository(tmp_path)
    for name, text in {**PROJECT, **row.get("files", {})}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    key = {} if row["mistake"] == NO_KEY else {"OPENAI_API_KEY": "sk-of-a-test"}
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **key}
    if row.get("job"):
        environment |= {**JOB, "GITHUB_WORKSPACE": str(tmp_path)}
    command = row["command"]
    words = command.split() if isinstance(command, str) else command
    done = invoke(tmp_path, environment, *words)
    said = [*done.stderr.splitlines(), *done.stdout.splitlines()]
    missing = [line for line in row["says"].splitlines() if line not in said]
    assert (done.returncode, missing) == (row["exit"], []), done.stdout + done.stderr
