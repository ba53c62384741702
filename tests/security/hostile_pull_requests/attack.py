"""One hostile pull request as a row: what its head changes, and how the run must end."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.security.hostile_pull_requests.generator import Files

CONFIG = """\
judge: {model: openai/gpt-6-luna, api_base: "JUDGE/v1", api_key: "${{ OPENAI_API_KEY }}"}
targets:
  - {name: default, provider: recorded, answers: answers.jsonl}
gate: {fail_on: fail, on_weaker_grading: fail}
"""
"""JUDGE and ATTACKER stand for the addresses of the two servers."""

RUBRIC = "rubrics: [{id: greets, expected_outcome: Greets}, {id: kind, expected_outcome: Kind}]"
CASE = f"  - id: one\n    input: Say hello\n    {RUBRIC}\n"
EVALS = f"evalcases:\n{CASE}"
OTHER = EVALS.replace("id: one", "id: two")


def answers(**texts: str) -> str:
    """Return recorded answers by the id of their case."""
    return "".join(json.dumps({"id": i, "answer": text}) + "\n" for i, text in texts.items())


BASE: Files = {
    ".gitignore": ".rubric-ci/\n",
    "rubric-ci.yaml": CONFIG,
    "evals/a.eval.yaml": EVALS,
    "evals/b.eval.yaml": OTHER,
    "answers.jsonl": answers(one="hello", two="hello"),
}
"""A repository whose two cases pass."""

WORSE = answers(one="go away", two="hello")
"""The answers of a head that broke a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A pull request; its head has the answers `WORSE` unless it brings its own."""

    head: Files
    base: Files = field(default_factory=dict)  # on top of BASE
    code: int = 1
    said: tuple[str, ...] = ()  # in what the command prints
    fork: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    needs_shell: bool = False
    session: tuple[str, ...] = ()  # the workflow's words after `pytest`; none: `rubric-ci run`
