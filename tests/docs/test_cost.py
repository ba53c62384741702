"""The page of costs shows what the program estimates."""

from pathlib import Path

import pytest

from tests.docs.code_blocks import ROOT, code_blocks
from tests.docs.test_code_blocks import commands
from tests.invoke import invoke

CASES = 40
PAGE = ROOT / "docs/cost.md"
CONFIG = """\
judge: {model: openai/gpt-6-luna, api_key: "${{ OPENAI_API_KEY }}"}
targets: [{name: default, model: openai/gpt-6-luna, api_key: "${{ OPENAI_API_KEY }}"}]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Return a folder with the case of the page, forty times."""
    (block,) = (b for b in code_blocks(PAGE) if b.text.startswith("evalcases:"))
    case = block.text.removeprefix("evalcases:\n")
    cases = (case.replace("id: refund", f"id: refund-{n}") for n in range(CASES))
    (tmp_path / "a.eval.yaml").write_text("evalcases:\n" + "".join(cases), encoding="utf-8")
    (tmp_path / "rubric-ci.yaml").write_text(f"evals: [a.eval.yaml]\n{CONFIG}", encoding="utf-8")
    return tmp_path


def test_the_estimates_are_those_of_the_program(suite: Path) -> None:
    (block,) = (b for b in code_blocks(PAGE) if b.language == "console")
    printed = []
    for arguments in commands(block):
        done = invoke(suite, {}, *arguments)
        assert done.returncode == 0, done.stderr
        estimate = done.stdout.partition(f"\n{CASES} cases\n")[2].splitlines()
        printed += [f"$ rubric-ci {' '.join(arguments)}", *estimate]
    assert printed == block.text.splitlines()


def test_isolated_requests_cost_what_the_page_says(suite: Path) -> None:
    config = (suite / "rubric-ci.yaml").read_text(encoding="utf-8")
    isolated = config.replace("judge: {", "judge: {mode: isolated, ")
    (suite / "rubric-ci.yaml").write_text(isolated, encoding="utf-8")
    done = invoke(suite, {}, "run", "--list")
    assert "about 160 requests to openai/gpt-6-luna" in done.stdout
    assert "120 of 160 requests" in PAGE.read_text(encoding="utf-8")
