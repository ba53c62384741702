"""A repository whose cases lack rubrics, and `generate rubrics` run in it on recorded drafts."""

import json

from click.testing import CliRunner, Result

from rubric_ci.cli.main import main
from rubric_ci.files.project.loaded_project import load_project, open_project
from rubric_ci.services.drafting.drafting_prompt import Wanted, draft_call
from rubric_ci.services.drafting.drafting_reply import Kind
from tests.checkout import ENVIRONMENT, Checkout

CONFIG = """\
evals: [evals/*.yaml]
judge: {model: openai/gpt-6-luna, api_key: "${{ OPENAI_API_KEY }}"}
targets:
  - {name: kept, provider: recorded, answers: answers.jsonl}
  - {name: writer, model: openai/gpt-6.1-sol}
"""
EVAL = """\
# Answers to customers.
evalcases:
  - id: refund # stable
    input: Can I return it?
    expected_outcome: Offers a refund within 30 days

  - id: hours
    input: When are you open?
    expected_outcome: States the opening hours
    rubrics:
      - States the hours
"""
ITEMS = [
    {"id": "limit", "expected_outcome": "Names the 30-day limit", "weight": 2.0, "required": True},
    {"id": "way", "expected_outcome": "Explains the way back", "weight": 1, "required": False},
    {"id": "cost", "expected_outcome": "Says who pays: us", "weight": 1, "required": False},
]
GOOD = json.dumps({"rubrics": ITEMS})
BLOCK = """\
    rubrics:
      - id: limit
        expected_outcome: Names the 30-day limit
        weight: 2.0
        required: true
      - id: way
        expected_outcome: Explains the way back
        weight: 1.0
        required: false
      - id: cost
        expected_outcome: "Says who pays: us"
        weight: 1.0
        required: false
"""
AFTER = EVAL.replace("within 30 days\n", "within 30 days\n" + BLOCK)


class Project:
    """A repository on the branch `topic`, and the command run in it."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.file = checkout.root / "evals/a.yaml"
        self.replay: tuple[str, ...] = (f"--replay={checkout.root.parent / 'replay'}",)
        checkout.commit({"rubric-ci.yaml": CONFIG, "evals/a.yaml": EVAL})
        checkout.git("switch", "--quiet", "--create", "topic")

    def record(self, kind: Kind = "checklist", *paths: str, **replies: str) -> None:
        """Keep a reply for each case of which the id is given; `replay` holds nothing else."""
        loaded = load_project(paths, open_project(None))
        judge = loaded.config.judge
        assert judge
        lines = []
        for file in loaded.files:
            for case in file.cases:
                if case.id in replies:
                    wanted = Wanted(kind, file.of_other_tool)
                    call = draft_call(case, file.cases, judge.endpoint, wanted=wanted, fence="")
                    said = {"key": call.key, "text": replies[case.id], "finish": "stop"}
                    lines.append(json.dumps(said))
        (self.checkout.root.parent / "replay").write_text("\n".join(lines))

    def ask(self, url: str) -> None:
        """Draft with a model behind a URL, for the rest of the test."""
        configured = CONFIG.replace("gpt-6-luna,", f"gpt-6-luna, api_base: {url}/v1,")
        self.checkout.write({"rubric-ci.yaml": configured})
        self.replay = ()

    # A002: `input` is the name of click's runner
    def generate(self, *arguments: str, input: str = "", **environment: str) -> Result:  # noqa: A002
        unset = {"GITHUB_ACTIONS": None, "GITHUB_REPOSITORY": None}
        kept = {**unset, **ENVIRONMENT, "OPENAI_API_KEY": "none", **environment}
        command = ["generate", "rubrics", *self.replay, *arguments]
        return CliRunner().invoke(main, command, input=input, env=kept, catch_exceptions=False)
