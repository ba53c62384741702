"""The YAML in the documentation is valid."""

import re
from pathlib import Path
from textwrap import indent

import pytest

from rubric_ci.files.project.loader import load, load_targets
from rubric_ci.files.yaml_text.source import open_config
from rubric_ci.values.references import Found

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def existing(name: str) -> Found:
    """Return a file that exists; one with a text is the prompt of a judge."""
    return Found(name, "{{ answer }}" if name.endswith(".md") else "")


def blocks(name: str) -> list[str]:
    return _BLOCK.findall((DOCS / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("block", blocks("evaluators.md"))
def test_evaluators(block: str) -> None:
    reference = "{supplier: {name: Acme}, lines: [{amount: 3}], due: 2025-01-15}"
    head = f"evalcases:\n- id: a\n  input: q\n  expected_output: {reference}\n"
    head += "  execution:\n    evaluators:\n"
    text = block if block.startswith("evalcases") else head + indent(block, "    ")
    loaded = load("evals/a.yaml", text, existing)
    assert loaded.diagnostics == ()
    assert loaded.eval_file is not None
    assert loaded.eval_file.cases[0].evaluators


@pytest.mark.parametrize("block", blocks("targets.md"))
def test_targets(block: str) -> None:
    loaded = load_targets(open_config("rubric-ci.yaml", "targets:\n" + block))
    assert loaded.diagnostics == ()
    assert loaded.targets
