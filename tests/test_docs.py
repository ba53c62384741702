"""The examples of the documentation are valid, with the tool's own eyes."""

import re
from pathlib import Path

import pytest

from rubric_ci.files import lookup
from rubric_ci.source.check import check_config, check_evals
from rubric_ci.source.document import Document
from rubric_ci.source.opening import open_source
from rubric_ci.source.switches import switched

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(yaml|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(kind, text, id=f"{page.name}-{number}")
    for page in (ROOT / "docs/evals.md", ROOT / "docs/validate.md")
    for number, (kind, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), start=1)
]


@pytest.mark.parametrize(("kind", "text"), EXAMPLES)
def test_examples_are_valid(kind: str, text: str) -> None:
    if text.startswith("rules:"):
        assert check_config(Document("rubric-ci.yaml", text)) == ()
        return
    source = open_source("evals/a.jsonl" if kind == "json" else "evals/a.yaml", text)
    found = check_evals(source, lookup(ROOT, ROOT / "docs/evals.md"))
    assert switched(found, source.texts(), {}) == ()
