"""The confidence level has one owner, `text/p_values_and_intervals.py`, which all others ask."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rubric_ci.text import p_values_and_intervals as significance
from rubric_ci.text.p_values_and_intervals import CONFIDENCE, PERCENT, SIGNIFICANT, Z

PACKAGE = Path(significance.__file__).parents[1]
DIGITS = r"\d(?:_?\d)*"
NUMBER = re.compile(rf"(?<!\w)(?:{DIGITS})?\.?{DIGITS}(?:[eE][-+]?{DIGITS})?")
LEVELS = {CONFIDENCE, SIGNIFICANT / 2, 1 - SIGNIFICANT / 2, 1.645, 1.96, 2.576}


def own_answers(path: Path) -> Iterator[str]:
    """Yield the numbers and texts of a level; docstrings describe what is asked for."""
    source = path.read_text("utf-8")
    near = PERCENT in source or any(_is_level(float(each)) for each in NUMBER.findall(source))
    tree = ast.parse(source if near else "")  # which takes much longer than to look for a number
    described = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in described:
            continue
        number = isinstance(node.value, float) and _is_level(node.value)
        text = isinstance(node.value, str) and PERCENT in node.value
        if number or text:
            yield f"{path.name}:{node.lineno}: {node.value!s}"


def _is_level(number: float) -> bool:
    return round(number, 3) in LEVELS


def test_only_the_owner_has_the_level() -> None:
    found = {path: list(own_answers(path)) for path in PACKAGE.rglob("*.py")}
    (owner,) = [path for path, each in found.items() if each]
    assert owner == Path(significance.__file__)
    assert [each.partition(": ")[2] for each in found[owner]] == [str(CONFIDENCE)]
    pages = (PACKAGE / "reports/html/templates").glob("*.html")
    assert [path.name for path in pages if PERCENT in path.read_text("utf-8")] == []


@pytest.mark.parametrize("value", ["0.95", ".95", "9_5e-2", "1.959963984540054", "'95 % of'"])
def test_a_level_elsewhere_is_found(value: str, tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(f'"""The 95 % interval."""\ny = 0.5\nx = {value}\n')
    assert len(list(own_answers(path))) == 1


def test_the_values_that_follow() -> None:
    assert (CONFIDENCE, PERCENT, SIGNIFICANT) == (0.95, "95 %", 0.05)
    assert pytest.approx(1.959963984540054) == Z
