"""Each sentence with a figure is on the page on method, with its owner and what holds it."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/method.md").read_text(encoding="utf-8")
CLAIM = re.compile(
    r"\bp = …|… interval|\bprobability\b|\bsignificant\b|cannot be excluded|\bcorrelation\b"
    r"|\bkappa (?:is )?…|\bby chance\b|\bno chance\b|\bmore than chance\b"
    r"|`false_alarms` says|effective votes|evidence … of …"
)
"""Words of a claim that a formula makes; `…` is a value that is filled in."""
WORD = re.compile(
    r"p =|interval|probability|significant|excluded|correlation|kappa|chance|false_alarms|votes"
    r"|evidence"
)
"""A word of each claim: a module without one is not parsed."""


def table(header: str) -> list[list[str]]:
    """Return the cells of the rows below a header."""
    _, _, below = PAGE.partition(f"\n{header}\n")
    rows = below.split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


FIGURES = {row[0]: row for row in table("| figure | computed by | assumes | held by |")}
SENTENCES = table("| sentence | written by | figure |")


def literals(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module, with `…` for each value; docstrings are none."""
    nodes = list(ast.walk(tree))
    inner = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    inner |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if id(node) in inner:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def claims() -> tuple[tuple[str, str], ...]:
    return tuple(_claims())


def _claims() -> Iterator[tuple[str, str]]:
    """Yield the module and the text of each claim."""
    for path in sorted((ROOT / "rubric_ci").rglob("*.py")):
        name = path.relative_to(ROOT / "rubric_ci").as_posix()
        source = path.read_text(encoding="utf-8")
        texts = literals(ast.parse(source)) if WORD.search(source) else ()
        yield from ((name, text) for text in texts if CLAIM.search(text))
    for path in sorted((ROOT / "rubric_ci").rglob("*.html")):
        text = re.sub(r"{{.*?}}", "…", path.read_text(encoding="utf-8"))
        yield from ((path.name, line) for line in text.splitlines() if CLAIM.search(line))


def listed(module: str, text: str) -> bool:
    return any(f"`{module}`" == row[1] and row[0].strip("`") in text for row in SENTENCES)


def test_every_sentence_with_a_figure_is_listed() -> None:
    """A new sentence needs a row in the table of sentences, and its figure one in the other."""
    assert [each for each in claims() if not listed(*each)] == []


@pytest.mark.parametrize("row", SENTENCES, ids=lambda row: f"{row[0]} of {row[1]}")
def test_a_listed_sentence_is_written_and_has_a_figure(row: list[str]) -> None:
    sentence, module, figure = row
    assert any(f"`{name}`" == module and sentence.strip("`") in text for name, text in claims())
    assert figure in FIGURES


@pytest.mark.parametrize("row", FIGURES.values(), ids=list(FIGURES))
def test_a_figure_has_an_owner_and_something_that_holds_it(row: list[str]) -> None:
    _, owners, _, held_by = row
    for name in re.findall(r"`([\w/]+\.py)`", owners):
        assert (ROOT / "rubric_ci" / name).exists()
    scripts = re.findall(r"`([\w/]+\.py)`", held_by)
    folder = next(iter(re.findall(r"benchmarks/\w+", held_by)), "")
    assert scripts or folder
    for name in scripts:
        assert (ROOT / name).exists() or (ROOT / folder / name).exists()
    assert not folder or (ROOT / folder / "README.md").exists()
