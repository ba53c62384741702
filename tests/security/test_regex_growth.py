"""Regular expressions that freeze: each one of the package takes linear time on hostile text.

The patterns are collected from the source, from the modules as they are when the program runs, and
from the schemas, so that a new one is tested as soon as it is written. None is left out.
Functions that take text are in `test_text_growth.py`.

Texts that a pattern cannot tell apart are measured once, and no text is much longer than what a
pattern looks at from one place of it: from there on, each sign takes as long as the one before.
"""

import ast
import importlib.util
import json
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import inf
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined] # has no stub
from time import process_time
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
SOURCES = (*sorted((ROOT / "rubric_ci").rglob("*.py")), ROOT / "hooks" / "action.py")
SCHEMAS = tuple(sorted((ROOT / "schemas").glob("*.json")))
FUNCTIONS = {"compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub"}
ANCHORED = {"match", "fullmatch"}

# Linear: 512 times from the first size to the last; quadratic: 262,144 times.
SIZES = (25, 200, 1_600, 12_800)  # the last one where the growth before it is suspect
UNITS = range(4, 33, 4)  # of texts that show exponential growth before it takes hours
LONG = 0.02  # seconds that no text of so few units takes
MARGIN = 10
STILL = 3  # as MARGIN, from one size to the next: quadratic 8, once a limit is reached 1
FLOOR = 2.5e-6  # seconds: what the clock and one call may cost
ENDINGS = ("", " \0\n")  # with the second one, a pattern for a whole text fails at its end
REPEATS = 5  # of a measurement that shows growth: a busy machine shows it now and then
PUMPS = ("a", " ", "\n", "<", '"', "'", "`", "[", "{", "0", ":", "a ")
SIGNS = (
    *("a", "A", "0", "é", " ", "\t", "\n", "\r\n", "x\n", " \n", "a ", "a\n", "\\", "\\a"),
    *"<>\"'`()[]{}#-.:/=,_*@!?|&;%$~",
)
SAMPLES = (" ", "a", "0", "\n", *map(chr, range(33, 127)), *map(chr, (0x0, 0x300, 0x85)))
SAMPLES += tuple(map(chr, (0x200C, 0x2028, 0xE0020)))
TEXT = {"LITERAL", "RANGE"}
CATEGORIES = {
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
}

# The names that patterns are built from while the program runs, with values as they are there.
BUILT: dict[str, dict[str, object]] = {
    "rubric_ci/files/validation/schema_errors.py": {"pattern": "^x-"},
    "rubric_ci/parts/bring/dialects/promptfoo_targets.py": {"match": ("", "json")},
    "rubric_ci/files/yaml_text/csv_cases.py": {"each": ";"},
    "rubric_ci/gate/selection/prefilter.py": {"dash": "  ", "keys": "    "},
    "rubric_ci/text/escape.py": {"sign": "`"},
    "rubric_ci/text/globs.py": {"negated": "^", "literal": "a-z"},
}


@dataclass(frozen=True, slots=True)
class Used:
    """A pattern of the package and how it is applied."""

    pattern: str | bytes
    flags: int
    method: str

    def seconds(self, text: str) -> float:
        """Return the processor time that one text takes."""
        compiled = re.compile(self.pattern, self.flags)
        subject: Any = text if isinstance(self.pattern, str) else text.encode()
        started = process_time()
        if self.method in ANCHORED:
            getattr(compiled, self.method)(subject)
        else:
            deque(compiled.finditer(subject), maxlen=0)
        return process_time() - started

    def tree(self) -> Any:
        """Return the parsed pattern."""
        text = self.pattern if isinstance(self.pattern, str) else self.pattern.decode()
        return parser.parse(text, self.flags & ~int(re.LOCALE))


Placed = tuple[str, Used]
"""A pattern and where it is."""


@cache
def collected() -> Mapping[Path, list[Placed]]:
    """Return every pattern of the source once for each way in which it is applied."""
    found: defaultdict[Path, list[Placed]] = defaultdict(list)
    for path in SOURCES:
        name = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text())
        for call in calls(tree):
            pattern, flags = evaluated(call, {**vars(loaded(path)), **BUILT.get(name, {})})
            for method in sorted(methods(tree, call)):
                used = Used(pattern, flags, method)
                found[path].append((f"{name}:{call.lineno}:{call.col_offset}", used))
    return found


@cache
def loaded(path: Path) -> ModuleType:
    """Import a file of the package under its own name."""
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    if name.startswith("rubric_ci"):
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls of the functions of `re`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=attr)):
                if attr in FUNCTIONS:
                    yield node


def methods(tree: ast.Module, call: ast.Call) -> set[str]:
    """Return how the pattern of a call is applied; one that is passed on is searched for."""
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr != "compile":
        return {call.func.attr}
    names = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is call
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    uses = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and (node.value is call or (isinstance(node.value, ast.Name) and node.value.id in names))
        and node.attr in FUNCTIONS
    }
    return uses or {"search"}


LOCAL = {"either": "/tmp/work|/tmp/home", "word": "word", "name": "name"}
"""Values of local names in patterns: the folders of a trial, and single words."""


def evaluated(call: ast.Call, names: dict[str, Any]) -> tuple[str | bytes, int]:
    """Return the pattern and the flags that a call is given."""
    assert isinstance(call.func, ast.Attribute)
    flags = [word.value for word in call.keywords if word.arg == "flags"]
    if call.func.attr == "compile":
        flags += call.args[1:2]
    values = [
        eval(compile(ast.Expression(each), "", "eval"), names, LOCAL)
        for each in (call.args[0], *flags)
    ]
    return values[0], int(sum(values[1:]))


def beginnings(tree: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield what leads to each part that repeats, and what it repeats."""
    for kind, value in tree:
        for part in branches(value):
            if "REPEAT" in str(kind):
                yield before, sample(part)
            yield from beginnings(part, before)
        before += sample([(kind, value)])
    yield before, before


def branches(value: Any) -> Iterator[Any]:
    """Yield the parts of the pattern that a node holds."""
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from branches(each)


def sample(tree: Any) -> str:
    """Return a text that a part of a pattern takes."""
    return "".join(_sample(str(kind), value) for kind, value in tree)


def _sample(kind: str, value: Any) -> str:
    match kind:
        case "LITERAL":
            return chr(value)
        case "ANY" | "NOT_LITERAL":
            return "a" if value != ord("a") else "b"
        case "IN":
            own = (chr(v if k == "LITERAL" else v[0]) for k, v in map(_named, value) if k in TEXT)
            return next(sign for sign in (*SAMPLES, *own, "é") if _is_in(value, sign))
        case "ASSERT" | "ASSERT_NOT" | "AT" | "GROUPREF":
            return ""
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return sample(value[2]) * max(int(value[0]), 1)
        case _:
            below = list(branches(value))
            return "".join(map(sample, below[:1] if kind == "BRANCH" else below))


def _named(member: tuple[Any, Any]) -> tuple[str, Any]:
    return str(member[0]), member[1]


def _is_in(members: Any, sign: str) -> bool:
    found = False
    for kind, value in members:
        match str(kind):
            case "LITERAL":
                found |= ord(sign) == value
            case "RANGE":
                found |= value[0] <= ord(sign) <= value[1]
            case "CATEGORY":
                found |= bool(re.match(CATEGORIES[str(value)], sign))
    return found != (str(members[0][0]) == "NEGATE")


def nodes(tree: Any) -> Iterator[tuple[str, Any]]:
    """Yield all parts of a pattern, with the members of its sets."""
    for kind, value in tree:
        yield str(kind), value
        if str(kind) == "IN":
            yield from map(_named, value)
        for part in branches(value):
            yield from nodes(part)


def reach(tree: Any) -> float:
    """Return how many signs a pattern looks at from one place of a text, at most."""
    parts = list(nodes(tree))
    if any("REPEAT" in kind and value[1] == parser.MAXREPEAT for kind, value in parts):
        return inf
    looks = [value[1] for kind, value in parts if kind in {"ASSERT", "ASSERT_NOT"}]
    return float(sum(each.getwidth()[1] for each in (tree, *looks)))


def is_nested(tree: Any) -> bool:
    """Return whether something that repeats has a choice in it: what exponential growth needs."""
    repeated = [value[2] for kind, value in nodes(tree) if "REPEAT" in kind]
    choices = {"BRANCH", "MAX_REPEAT", "MIN_REPEAT"}
    return any(kind in choices for part in repeated for kind, _ in nodes(part))


def alphabet(tree: Any) -> dict[int, str]:
    """Return, for each sign, the first one that the pattern cannot tell from it."""
    parts = list(nodes(tree))
    if any("GROUPREF" in kind for kind, _ in parts):
        return {}
    own = {chr(value).casefold() for kind, value in parts if kind.endswith("LITERAL")}
    ranges = [value for kind, value in parts if kind == "RANGE"]
    first: dict[object, str] = {}
    return {
        ord(sign): first.setdefault(sign if sign.casefold() in own else _traits(sign, ranges), sign)
        for sign in map(chr, range(128))
    }


def _traits(sign: str, ranges: list[tuple[int, int]]) -> tuple[bool, ...]:
    return (
        sign == "\n",
        *(bool(re.match(each, sign)) for each in CATEGORIES.values()),
        *(low <= ord(s) <= top for low, top in ranges for s in (sign, sign.lower(), sign.upper())),
    )


def hostile(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield what a text begins with and what is repeated after it."""
    yield from product(("", *PUMPS), SIGNS)
    for before, repeated in dict.fromkeys(beginnings(tree)):
        for unit in filter(None, (repeated, *PUMPS)):
            yield before, unit
            yield "", before + unit
            yield "\n", unit + before
            yield unit, before or unit


def different(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield one of the hostile texts that are the same to the pattern."""
    table = alphabet(tree)
    yield from dict.fromkeys((a.translate(table), b.translate(table)) for a, b in hostile(tree))


@cache
def growth(used: Used) -> str:
    """Return how the time grows where it does faster than the text; nothing where it does not."""
    tree = used.tree()
    nested = is_nested(tree)
    most = next((size for size in SIZES if size >= 3 * reach(tree)), SIZES[-1])
    for (beginning, unit), ending in product(different(tree), ENDINGS):
        text = f"{beginning!r} + {unit!r} * n + {ending!r}: "
        if nested and (bad := explodes(used, beginning, unit, ending)):
            return text + bad
        if bad := grows(used, (beginning, unit, ending), most):
            return text + bad
    return ""


def explodes(used: Used, beginning: str, unit: str, ending: str) -> str:
    """Return the time of a short text that takes long."""
    for count in UNITS:
        text = beginning + unit * count + ending
        if all(used.seconds(text) > LONG for _ in range(REPEATS)):
            return f"{used.seconds(text):.4f} s at {len(text)}"
    return ""


def grows(used: Used, parts: tuple[str, str, str], most: int) -> str:
    """Return how the time grows up to a size where it does faster than the text."""
    (beginning, unit, ending), base, before = parts, 0.0, 0.0
    for size in SIZES[: SIZES.index(most) + 1]:
        text = beginning + unit * (size // len(unit) + 1) + ending
        seconds = used.seconds(text)
        base = base or max(min(seconds, used.seconds(text), used.seconds(text)), FLOOR)
        bound = base * MARGIN * size / SIZES[0]
        slow = max(bound, before * STILL * SIZES[1] / SIZES[0])
        if seconds > bound and all(used.seconds(text) > slow for _ in range(REPEATS)):
            return f"{seconds:.4f} s at {size}, {base:.6f} at first"
        if size == SIZES[-2] and seconds < 2 * bound / MARGIN:
            return ""
        before = seconds
    return ""


def compiled_at_import(path: Path) -> Iterator[Placed]:
    """Yield the patterns that a module holds and that the source shows in parts only."""
    shown = {used.pattern for placed in collected().values() for _, used in placed}
    for name, value in vars(loaded(path)).items():
        for pattern in patterns_in(value):
            if pattern.pattern not in shown:
                place = f"{path.relative_to(ROOT).as_posix()}:{name}"
                yield place, Used(pattern.pattern, pattern.flags, "search")


def patterns_in(value: object) -> Iterator["re.Pattern[Any]"]:
    """Yield the patterns in a value of a module and in what it holds."""
    match value:
        case re.Pattern():
            yield value
        case list() | tuple() | set() | frozenset():
            for each in value:
                yield from patterns_in(each)
        case dict():
            yield from patterns_in(list(value.values()))
        case _ if type(value).__module__.startswith("rubric_ci"):
            names = getattr(type(value), "__slots__", ())
            yield from patterns_in([getattr(value, name, None) for name in names])


def in_schemas(value: Any, place: str) -> Iterator[Placed]:
    """Yield the patterns of a schema, which the explanation of an invalid file searches for."""
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if key == "pattern" and isinstance(each, str):
            yield f"{place}:pattern", Used(each, 0, "search")
        elif isinstance(each, dict | list):
            yield from in_schemas(each, f"{place}:{key}")


FOLDERS = sorted({path.parent.relative_to(ROOT).as_posix() for path in SOURCES})


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_pattern_is_linear(folder: str) -> None:
    files = [path for path in SOURCES if path.parent == ROOT / folder]
    shown = [placed for path in files for placed in collected().get(path, [])]
    held = [placed for path in files for placed in compiled_at_import(path)]
    assert {place: bad for place, used in shown + held if (bad := growth(used))} == {}


def test_every_pattern_of_a_schema_is_linear() -> None:
    found = [
        placed for path in SCHEMAS for placed in in_schemas(json.loads(path.read_text()), path.name)
    ]
    assert len(found) > 1
    assert {place: bad for place, used in found if (bad := growth(used))} == {}


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(?m)^\s*x:", "search"),
        (r"<(?=\s*/?\s*answer_)", "search"),
        (r"\s#\s*ignore\[([^\]\n]*)\]", "search"),
        (r'"id"\s*:.*"input"', "search"),
        (r"\w+Error: ", "search"),
        (r"(?:[^/]*a){2}[^/]*b", "fullmatch"),
        (r"\[[^]/]*\]|.", "findall"),
        (r"(a|a)*b", "search"),
        (r"(?:[a-z]+\d?)+_", "match"),
        (r"^(([a-z])+.)+[A-Z]([a-z])+$", "fullmatch"),
        (r"(?:a{0,50}){0,50}b", "search"),
        (r"(?<!a)b(?=.*c)", "search"),
        (r"[0-9]+\.?[0-9]*", "fullmatch"),
        (r"\S*/\S*|x", "fullmatch"),
    ],
)
def test_growth_is_seen(pattern: str, method: str) -> None:
    assert growth(Used(pattern, 0, method))


@pytest.mark.parametrize(
    ("source", "applied"),
    [
        ("re.search('a', text)", {"search"}),
        ("use(re.compile('a'))", {"search"}),
        ("whole = re.compile('a').fullmatch", {"fullmatch"}),
        ("A = re.compile('a')\nA.match(text)\nA.sub('', text)", {"match", "sub"}),
    ],
)
def test_it_is_seen_how_a_pattern_is_applied(source: str, applied: set[str]) -> None:
    tree = ast.parse(source)
    assert methods(tree, next(calls(tree))) == applied


class Curve(Used):
    """A pattern whose time is known."""

    def seconds(self, text: str) -> float:
        size = len(text)
        return 1e-8 * size * (min(size, 400) if self.pattern == "limit" else size)


@pytest.mark.parametrize(("name", "seen"), [("limit", False), ("square", True)])
def test_a_limit_that_is_reached_is_no_growth(name: str, *, seen: bool) -> None:
    assert bool(grows(Curve(name, 0, "search"), ("", "a", ""), SIZES[-1])) is seen
