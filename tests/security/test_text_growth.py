"""Texts that freeze what reads them: whole functions take linear time on hostile text."""

from collections.abc import Callable
from time import process_time

import pytest

from rubric_ci.evaluators import code_blocks
from rubric_ci.judge.evidence import _is_quoted_in
from rubric_ci.judge.fence import escaped
from rubric_ci.judge.injection_scan import scan_for_injection
from rubric_ci.judge.json_reply import find_object
from rubric_ci.llm.litellm_client import _without_prefixes
from rubric_ci.text import escape
from rubric_ci.text.globs import matcher
from rubric_ci.yaml_text.outline import count_cases

SIZES = (2_000, 32_000)  # linear: 16 times; quadratic: 256 times
MARGIN = 5
FLOOR = 50e-6


def glob(text: str) -> object:
    return matcher(["**/*a*a*b", "**a**/**c", "**/x/**/*/**/z*"])(text)


READERS: dict[str, Callable[[str], object]] = {
    "suspicions": lambda text: scan_for_injection(text, question="What?", criteria=["Is it so?"]),
    "fence": escaped,
    "evidence": lambda text: _is_quoted_in(text, text),
    "code blocks": code_blocks.extract,
    "reply": find_object,
    "message": _without_prefixes,
    "glob": glob,
    "wildcards": lambda text: matcher([text])("a/b" * 20),
    "cases": lambda text: count_cases("a.yaml", f"evalcases:\n{text}"),
    "markdown": escape.markdown,
    "prose": escape.prose,
    "html prose": escape.html_prose,
    "log line": escape.log_line,
}
UNITS: tuple[str, ...] = (
    "a",
    " ",
    "\n",
    "<",
    "< ",
    "<a",
    "`",
    "```\n",
    "{",
    "[",
    "*",
    "**/",
    "*a",
    "...",
    '"',
    "-\n",
)
UNITS += ("litellm.", "- id: x\n", "  - id: x\n    id: y\n", "é ", "\u200b", "a/", "?", "\\")


@pytest.mark.parametrize("unit", UNITS, ids=repr)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_is_linear(reader: str, unit: str) -> None:
    small, large = ("<" + unit * (size // len(unit)) for size in SIZES)
    bound = max(seconds(reader, small), seconds(reader, small), FLOOR) * MARGIN
    bound *= SIZES[1] / SIZES[0]
    assert any(seconds(reader, large) <= bound for _ in range(3))


def seconds(reader: str, text: str) -> float:
    started = process_time()
    READERS[reader](text)
    return process_time() - started
