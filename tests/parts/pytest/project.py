"""A repository with eval files and tests, and pytest run in it as a user types it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.answer_judge import AnswerJudge, judging
from tests.checkout import Checkout
from tests.parts.pytest import forked
from tests.sample_project import clean_environment

EVAL = """\
evalcases:
  - id: refund
    input: May I return brake pads?
    tags: [safety-net, "area:returns"]
    rubrics:
      - Names the period of 30 days
      - contains: 30 days
  - id: greeting
    input: Hi
    rubrics: [Greets]
  - id: lost
    input: Hi
    rubrics: [Greets]
  - id: open
    input: Hi
    expected_outcome: A greeting
"""
ANSWERS = """\
{"id": "refund", "answer": "No."}
{"id": "greeting", "answer": "hello you"}
{"id": "open", "answer": "hello you"}
"""
CONFIG = """\
judge: {{model: openai/judge-1, base_url: "{url}/v1", api_key: "${{{{ OPENAI_API_KEY }}}}"}}
evals: [evals/*.eval.yaml]
targets:
  - {{name: default, provider: recorded, answers: answers.jsonl}}
"""


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session of pytest that ended."""

    code: int
    output: str
    errors: str  # standard error

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each node id, as `-v` prints it."""
        percent = r"\[ *\d+%\]"
        alone = rf"^(\S+::.+?) ([A-Z][^(\[]*?)(?: \(.*\)?)? +{percent}$"
        of_worker = rf"^\[gw\d+\] {percent} ([A-Z]\S*) (\S+::.*?) *$"
        found = [(each[1], each[2]) for each in re.finditer(alone, self.output, re.MULTILINE)]
        found += [(each[2], each[1]) for each in re.finditer(of_worker, self.output, re.MULTILINE)]
        return dict(found)

    @property
    def counts(self) -> str:
        """The last line without its time."""
        return re.sub(r" in [\d.]+s.*", "", self.output.rstrip().splitlines()[-1]).strip("= ")


@dataclass(frozen=True, kw_only=True)
class Suite:
    """The repository, and the judge that it asks."""

    checkout: Checkout
    judge: AnswerJudge

    def write(self, name: str, text: str) -> None:
        self.checkout.write({name: text})

    def run(
        self, *arguments: str, option: bool = True, fork: bool = True, **environment: str
    ) -> Session:
        asked = ["--rubric-ci"] if option else []
        variables = {
            **clean_environment(),
            "OPENAI_API_KEY": "key",
            "COLUMNS": "100",
            **environment,
        }
        workers = "-n" in arguments  # of pytest-xdist: one hung once as the child of a fork
        run = forked.run if fork and not workers else forked.start
        done = run((*asked, *arguments), self.checkout.root, variables)
        return Session(code=done.returncode, output=done.stdout, errors=done.stderr)

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            (self.checkout.root / ".rubric-ci/report.json").read_text()
        )
        return found


@contextmanager
def project(checkout: Checkout) -> Iterator[Suite]:
    """Write the repository, and let its judge run."""
    with judging() as judge:
        config = CONFIG.format(url=judge.url)
        checkout.write({"rubric-ci.yaml": config, "answers.jsonl": ANSWERS})
        yield Suite(checkout=checkout, judge=judge)
