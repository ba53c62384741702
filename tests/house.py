"""Counts of the house: lines of core and parts, modules, tests, pages. `python -m tests.house`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, get_args

from rubric_ci.values.targets import Target

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = ROOT / "rubric_ci"
GENERATED: Final = {
    *("action-inputs.md", "configuration.md", "eval-files.md", "rules.md"),
    "what-works-with-what.md",
}
_MADE = re.compile(r"<!-- [\w-]+: made by `make golden` -->.*?<!-- end of [\w-]+ -->", re.DOTALL)
_COMMENT = re.compile(r"^\s*#(?! (?:fmt|noqa|type))", re.MULTILINE)
_RESULTS: Final = frozenset({"Graded", "Errored", "Skipped"})
_TARGETS: Final = frozenset(kind.__name__ for kind in get_args(Target))


def counts() -> dict[str, int]:
    """Return the counts by what they count."""
    modules = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    parts = PACKAGE / "parts"
    core = {path: text for path, text in modules.items() if not path.is_relative_to(parts)}
    tests = [path for path in (ROOT / "tests").rglob("*.py") if "node_modules" not in path.parts]
    pages = [*(ROOT / "docs").glob("*.md")]
    by_hand = [page for page in pages if page.name not in GENERATED]
    return {
        "lines": sum(text.count("\n") for text in modules.values()),
        "lines of the core": sum(text.count("\n") for text in core.values()),
        "modules": len(modules),
        "own-line comments": sum(len(_COMMENT.findall(text)) for text in modules.values()),
        "modules that ask which result it is": len([*_that_ask(modules, _RESULTS)]),
        "modules that ask which target it is": len(modules_that_ask_which_target()),
        "lines of tests": sum(path.read_text("utf-8").count("\n") for path in tests),
        "pages by hand": len(by_hand),
        "words by hand": sum(map(words, by_hand)),
    }


def words(page: Path) -> int:
    """Return the words of a page, without the parts that `make golden` writes."""
    return len(_MADE.sub("", page.read_text("utf-8")).split())


def modules_that_ask_which_target() -> list[str]:
    """Return the modules that ask which kind a target is."""
    named = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    texts = {path: text for path, text in named.items() if any(kind in text for kind in _TARGETS)}
    return [path.relative_to(PACKAGE).as_posix() for path in _that_ask(texts, _TARGETS)]


def _that_ask(modules: dict[Path, str], kinds: frozenset[str]) -> Iterator[Path]:
    """Yield the modules with `isinstance(…, KIND)` or `case KIND():` of these kinds."""
    for path, text in modules.items():
        if any(_asked(node) & kinds for node in ast.walk(ast.parse(text))):
            yield path


def _asked(node: ast.AST) -> set[str]:
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            return {each.id for each in ast.walk(kinds) if isinstance(each, ast.Name)}
        case ast.MatchClass(cls=ast.Name(id=name)):
            return {name}
    return set()


if __name__ == "__main__":
    for name, number in counts().items():
        print(f"{number:7,}  {name}")
