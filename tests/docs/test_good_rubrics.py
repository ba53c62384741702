"""The bad examples of the page of rubrics get the warning that they name, the good ones none."""

from runpy import run_path
from textwrap import indent

import pytest

from rubric_ci.files.project.loader import load
from rubric_ci.services.drafting.draft_check import lint
from rubric_ci.values.evals import RubricSpec
from tests.docs.code_blocks import ROOT, CodeBlock, code_blocks
from tests.docs.test_code_blocks import existing

BLOCKS = [b for b in code_blocks(ROOT / "docs/good-rubrics.md") if b.language == "yaml"]


def warnings(block: CodeBlock) -> set[str]:
    """Return the rules of the linter that a block breaks."""
    whole = "evalcases:" in block.text
    text = block.text if whole else "evalcases:\n- id: a\n  input: q\n" + indent(block.text, "  ")
    loaded = load("a.eval.yaml", text, existing)
    assert {each.rule for each in loaded.diagnostics} <= {"wording"}
    assert loaded.eval_file is not None
    (case,) = loaded.eval_file.cases
    rubrics = [s.rubric for s in case.evaluators if isinstance(s, RubricSpec)]
    return {warning.split(": ")[1] for rubric in rubrics for warning in lint(rubric, case)}


def test_the_figures_are_those_of_the_script() -> None:
    table = run_path(str(ROOT / "benchmarks/good_rubrics/measure.py"))["table"]()
    page = ROOT / "benchmarks/good_rubrics/README.md"
    assert table in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_an_example_gets_the_warning_that_it_names(block: CodeBlock) -> None:
    title = block.text.splitlines()[0]
    assert title.startswith(("# bad", "# good"))
    _, _, rule = title.partition(": ")
    assert warnings(block) == ({rule} if rule else set())
