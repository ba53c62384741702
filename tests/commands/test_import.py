"""`rubric-ci import`: cases in are cases out, and what is lost is said with its line."""

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.checkout import ENVIRONMENT, Checkout
from tests.dialects.test_table import AGENTV, SKILL
from tests.invoke import invoke
from tests.peers.tools import SUITES

CLEAN = {k: v for k, v in ENVIRONMENT.items() if not k.startswith(("GITHUB_", "RUBRIC_CI_"))}
PROMPTFOO = """\
prompts:
  - "Answer {{question}} in {{tone}}"
  - raw: "{{question}}"
defaultTest:
  vars: {tone: kind}
  assert: [{type: not-icontains, value: sorry}]
tests:
  - description: Refund period!
    vars: {question: How long?, days: 30}
    assert:
      - {type: contains-any, value: "{{days}} days, a month"}
      - {type: word-count, value: {max: 20}}
      - {type: llm-rubric, value: "Is it {{tone}}?", weight: 2}
      - {type: latency, threshold: 900}
  - vars: {question: Hi}
"""


def run(checkout: Checkout, *arguments: str) -> subprocess.CompletedProcess[str]:
    return invoke(checkout.root, CLEAN, "import", *arguments)


def test_a_case_for_each_test_and_prompt(checkout: Checkout) -> None:
    checkout.write({"promptfooconfig.yaml": PROMPTFOO})
    done = run(checkout, "promptfooconfig.yaml")
    assert (done.returncode, done.stdout) == (0, "wrote promptfooconfig.eval.yaml: 4 cases\n")
    written = yaml.safe_load((checkout.root / "promptfooconfig.eval.yaml").read_text())
    assert [case["id"] for case in written["evalcases"]] == [
        "refund-period-1",
        "refund-period-2",
        "test-2-1",
        "test-2-2",
    ]
    assert written["evalcases"][0] == {
        "id": "refund-period-1",
        "input": "Answer {{question}} in {{tone}}",
        "vars": {"question": "How long?", "tone": "kind"},
        "rubrics": [
            {"contains": "sorry", "ignore_case": True, "not": True},
            {"contains_any": ["30 days", "a month"]},
            {"max_words": 20},
            {"expected_outcome": "Is it kind?", "weight": 2},
        ],
        "evaluators": [{"name": "latency-3", "type": "latency", "threshold": 900}],
    }
    assert invoke(checkout.root, CLEAN, "validate", "promptfooconfig.eval.yaml").returncode == 0


@pytest.mark.parametrize(
    ("name", "text", "cases", "lost"),
    [
        ("evals.json", SKILL, 3, []),
        ("shop.eval.yaml", AGENTV, 1, []),
        (
            "promptfooconfig.yaml",
            (SUITES / "promptfooconfig.yaml").read_text(),
            0,
            ["2:11 a prompt that is no text is not imported, nor are its cases"],
        ),
        (
            "a.yaml",
            PROMPTFOO + "  - file://more.yaml\n  - {assert: [{type: javascript, value: x}]}\n",
            6,
            [
                "16:5 a test in another file is not imported",
                "17:16 the assertion `javascript` has no counterpart",
            ],
        ),
        ("a.yaml", "prompts: [a]\ntests: tests.csv\n", 0, ["2:1 tests in another file are not"]),
        (
            "a.yaml",
            "tests: [{id: a, input: Hi, criteria: Greets, turns: []}]\n",
            1,
            ["1:46 `turns` has no counterpart"],
        ),
    ],
    ids=["skill", "agentv", "file prompt", "javascript", "csv", "turns"],
)
def test_cases_in_are_cases_out_and_the_rest_is_reported(
    checkout: Checkout, name: str, text: str, cases: int, lost: list[str]
) -> None:
    checkout.write({f"theirs/{name}": text, "theirs/SKILL.md": "# Refunds\n"})
    done = run(checkout, f"theirs/{name}", "--output-dir", "theirs/ours")
    written = list((checkout.root / "theirs/ours").glob("*.eval.yaml"))
    found = [case for path in written for case in yaml.safe_load(path.read_text())["evalcases"]]
    assert len(found) == cases
    assert done.returncode == (1 if lost else 0), done.stdout
    for line in lost:
        place, _, message = line.partition(" ")
        assert f"theirs/{name}:{place}: not-supported: {message}" in done.stdout
    if lost:
        count = "1 part" if len(lost) == 1 else f"{len(lost)} parts"
        assert done.stdout.endswith(f"{count} of the files not imported, see above\n")


def test_no_file_is_overwritten_and_no_other_file_is_read(checkout: Checkout) -> None:
    checkout.write({"a.yaml": PROMPTFOO, "a.eval.yaml": "mine", "b.yaml": "evalcases: []\n"})
    assert run(checkout, "a.yaml").stderr.startswith("rubric-ci: a.eval.yaml exists already\n")
    assert Path(checkout.root / "a.eval.yaml").read_text() == "mine"
    done = run(checkout, "b.yaml")
    assert done.returncode == 2
    assert done.stderr.startswith("rubric-ci: b.yaml is no file of Agent Skills, AgentV 2.7 to 5")
