"""A repository with an eval file, and the command run in it as a user types it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.checkout import Checkout, start_repository
from tests.invoke import invoke

CONFIG = """\
evals: [evals/*.eval.yaml]
targets:
  - {name: default, provider: recorded, answers: answers.jsonl}
"""
EVAL = """\
evalcases:
  - id: greeting
    input: Say hello
    execution:
      evaluators:
        - {name: polite, type: code_judge, script: 'grep -qi hello {answer_file}'}
"""
RUBRIC = """\
evalcases:
  - id: greeting
    input: Say hello
    rubrics: [Greets]
"""


class Project:
    """A repository of its own, and the command run in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        start_repository(root)
        self.write("rubric-ci.yaml", CONFIG)
        self.write("evals/a.eval.yaml", EVAL)
        self.write("answers.jsonl", '{"id": "greeting", "answer": "Hello there"}\n')

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")

    @property
    def checkout(self) -> Checkout:
        return Checkout(self.root)

    def call(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return invoke(self.root, clean_environment() | environment, *arguments)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self.call("run", *arguments, **environment)

    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.root / ".rubric-ci/report.json").read_text())
        return report

    @property
    def case(self) -> dict[str, Any]:
        """The only case of the report."""
        (case,) = self.report()["cases"]
        found: dict[str, Any] = case
        return found


def clean_environment() -> dict[str, str]:
    """Leave out what would make the command believe that it runs elsewhere."""
    prefixes = ("FORCE_COLOR", "GITHUB_", "RUBRIC_CI_", "OPENAI_", "ANTHROPIC_")
    return {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}
