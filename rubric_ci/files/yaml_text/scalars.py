"""The meaning of a plain YAML scalar: YAML 1.1 as PyYAML's safe loader reads it, as JSON types.

Scalars that YAML versions read differently also get a *kind of ambiguity*, such as "date". JSON
escapes a character above U+FFFF as a pair of escapes, which YAML does not know: the pair is parsed
as another one of the same length, so that places stay, and then put back.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_ci.files.yaml_text.syntax_errors import split_lines
from rubric_ci.values.problems import LocatedProblem, Rule, with_rubrics

_PAIR: Final = re.compile(
    r"(?<!\\)(?P<before>(?:\\\\)*+)"
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_IN_PLACE: Final = r"\uf8f0\uf8f1"  # of private use
_READ: Final = "\uf8f0\uf8f1"


def parseable(text: str) -> str:
    """Return a text of the same length in which YAML can read every pair of escapes."""
    if "\\u" not in text:
        return text
    return _PAIR.sub(lambda found: found["before"] + _IN_PLACE, text)


def put_back(root: Any, text: str) -> bool:
    """Give the scalars below a node their characters; False: one cannot be told from another."""
    return all(_restored(node, text) for node in scalar_nodes(root))


def _restored(node: Any, text: str) -> bool:
    written = text[node.start_mark.index : node.end_mark.index]
    pairs = [found["pair"] for found in _PAIR.finditer(written)]
    if not pairs:
        return True
    is_quoted = node.style == '"'
    *parts, last = node.value.split(_READ if is_quoted else _IN_PLACE)
    if len(parts) != len(pairs):
        return False
    shown = [_character(pair) if is_quoted else pair for pair in pairs]
    node.value = "".join([part + pair for part, pair in zip(parts, shown, strict=True)]) + last
    return True


def _character(pair: str) -> str:
    high, low = int(pair[2:6], 16), int(pair[8:], 16)
    return chr(0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00)


def scalar_nodes(root: Any) -> Iterator[Any]:
    """Yield each scalar below a node once, in no order; aliases may form cycles."""
    todo, seen = [root], set[int]()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        match node:
            case ScalarNode():
                yield node
            case SequenceNode():
                todo += node.value
            case MappingNode():
                todo += [each for pair in node.value for each in pair]


Scalar: TypeAlias = bool | int | float | str | None

WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
}
CORE_WORDS: Final = {
    word: value
    for word, value in WORDS.items()
    if word.lower() in ("", "~", "null", "true", "false")
}
"""The words of the core schema of YAML 1.2, which libraries of JavaScript read."""

NUMBER_STARTS: Final = frozenset("0123456789+-.")
MAX_DIGITS: Final = 300  # int() rejects more than 4,300

# Patterns are compiled when a file first needs them, to keep start-up short.
_INT = r"[-+]?(?:0|[1-9][0-9]*)"
_FLOAT = r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?|\.[0-9]+(?:[eE][-+][0-9]+)?"
_NOT_FINITE = {
    f"{sign}.{word}": float(f"{sign}{word.lower()}")
    for word in ("inf", "Inf", "INF")
    for sign in ("", "+", "-")
} | {f".{word}": float("nan") for word in ("nan", "NaN", "NAN")}
_AMBIGUOUS = r"""(?x)
    (?P<date> [0-9]{4}-[0-9]{2}-[0-9]{2}
        | [0-9]{4}-[0-9]{1,2}-[0-9]{1,2} (?:[Tt]|[ \t]+) [0-9]{1,2}:[0-9]{2}:[0-9]{2} (?:\.[0-9]*)?
          (?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))? )
    | (?P<sexagesimal> [-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+
        | [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]* )
    | (?P<binary> [-+]?0b_*[01][01_]* )
    | (?P<octal> [-+]?0[0-7_]+ )
    | (?P<hexadecimal> [-+]?0x_*[0-9a-fA-F][0-9a-fA-F_]* )
    | (?P<underscores> [-+]?[0-9][0-9_]*(?:\.[0-9_]*(?:[eE][-+][0-9]+)?)? | \.[0-9][0-9_]* )
    | (?P<exponent> [-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+ )
    | (?P<octal12> 0o[0-7]+ )
    """


NOT_FINITE: Final = Rule(
    id="not-finite",
    meaning="Weights and limits are finite numbers.",
    hint="write a finite number",
    bad=with_rubrics("- expected_outcome: Greets\n  weight: .inf"),
    good=with_rubrics("- expected_outcome: Greets\n  weight: 100"),
)


class TooManyDigits(ValueError):
    """A number of more than `MAX_DIGITS` digits."""


def is_short_decimal(text: str) -> bool:
    """Return True for a plain integer of a usual size: the quick check for most numbers."""
    return (
        text.isdigit() and len(text) < 16 and (len(text) == 1 or text[0] != "0") and text.isascii()
    )


def resolve(text: str) -> tuple[Scalar, str]:
    """Return the value of a plain scalar that starts like a number, and its ambiguity or ""."""
    if is_short_decimal(text):
        return int(text), ""
    if _is_short_fraction(text):
        return float(text), ""
    if not text.lstrip("+-.")[:1].isdigit():
        return (_NOT_FINITE[text], "not-finite") if text in _NOT_FINITE else (text, "")
    return _resolve_digits(text)


def resolve_core(text: str) -> tuple[Scalar, str]:
    """Return the value as the core schema of YAML 1.2 has it; a date stays ambiguous."""
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return _bounded(text), ""
    if re.fullmatch(r"0o[0-7]+|0x[0-9a-fA-F]+", text):
        return int(text[:MAX_DIGITS], 0), ""
    if re.fullmatch(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", text):
        return float(text), ""
    _, ambiguity = resolve(text)
    if ambiguity == "not-finite":
        return float(text.replace(".", "")), ambiguity
    return text, ambiguity if ambiguity == "date" else ""


def _is_short_fraction(text: str) -> bool:
    """Return True for a number such as 2.0 or 0.25: the quick check for most others."""
    whole, _, fraction = text.partition(".")
    return whole.isdigit() and fraction.isdigit() and len(text) < 16 and text.isascii()


def _resolve_digits(text: str) -> tuple[Scalar, str]:
    if re.fullmatch(_FLOAT, text):
        value = float(text)
        return value, "" if math.isfinite(value) else "not-finite"
    if re.fullmatch(_INT, text):
        return _bounded(text), ""
    found = re.fullmatch(_AMBIGUOUS, text)
    if found is None:
        return text, ""
    kind = str(found.lastgroup)
    return _ambiguous_number(kind, text.replace("_", "")) if kind not in _TEXTS else text, kind


_TEXTS = frozenset(("date", "exponent", "octal12"))  # text for PyYAML's safe loader
_BASES = {"binary": 2, "octal": 8, "hexadecimal": 16}


def _bounded(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise TooManyDigits
    return int(text)


def _ambiguous_number(kind: str, text: str) -> int | float:
    if len(text) > MAX_DIGITS:
        raise TooManyDigits
    if kind in _BASES:
        return int(text, _BASES[kind])
    if kind == "underscores":
        return float(text) if "." in text else int(text)
    sign = -1 if text.startswith("-") else 1
    total: int | float = 0
    for part in text.lstrip("+-").split(":"):
        total = total * 60 + (float(part) if "." in part else int(part))
    return sign * total


_ITEM = re.compile(r"[ \t]*- ")
_NUMBER = re.compile(r"#\d")  # of an issue or an order
_HASH = re.compile(r"[ \t]+(#[^\s#!]\S*)")


YAML_ITEM_IN_TEXT: Final = Rule(
    id="yaml-item-in-text",
    switchable=True,
    meaning=(
        "A line that starts with `- ` and is indented deeper than the text above it is not a list "
        "item: YAML appends it to that text."
    ),
    hint="start it in the column of the item above, or quote the text",
    bad=with_rubrics("- Greets\n - Says goodbye"),
    good=with_rubrics("- Greets\n- Says goodbye"),
)
YAML_COMMENT_IN_TEXT: Final = Rule(
    id="yaml-comment-in-text",
    switchable=True,
    meaning=(
        "In text without quotes, ` #` starts a comment, so the text ends before it. A comment with "
        "a blank after its `#` is not reported."
    ),
    hint="quote the text, or write a blank after `#` if it is a comment",
    bad=with_rubrics("- Names the issue #12"),
    good=with_rubrics('- "Names the issue #12"'),
)


def plain_scalar_problems(root: Any, text: str) -> Iterator[LocatedProblem]:
    """Yield list items that became text, and texts that end at a `#`, in the order of the file."""
    lines = split_lines(text)
    plain = (node for node in scalar_nodes(root) if not node.style)
    for scalar in sorted(plain, key=lambda node: node.start_mark.index):
        yield from _items(scalar, lines)
        yield from _comment(scalar, lines)


def _items(scalar: Any, lines: list[str]) -> Iterator[LocatedProblem]:
    for number in range(scalar.start_mark.line + 1, scalar.end_mark.line + 1):
        found = _ITEM.match(lines[number])
        if found:
            message = "this list item is part of the text above it"
            yield _problem(YAML_ITEM_IN_TEXT, number, found.end() - 2, len(lines[number]), message)


def _comment(scalar: Any, lines: list[str]) -> Iterator[LocatedProblem]:
    end = scalar.end_mark
    found = _HASH.match(lines[end.line], end.column) if _is_text(scalar.value) else None
    if found and " " not in scalar.value and not _NUMBER.match(found[1]):
        found = None  # `2 #two`, `input #of the case`
    if found:
        message = f"`{found[1]}` starts a comment and is not part of the text"
        yield _problem(YAML_COMMENT_IN_TEXT, end.line, found.start(1), found.end(1), message)


def _is_text(value: str) -> bool:
    """Return True for words, also for one that is no word of YAML."""
    return " " in value or (value.isalpha() and value not in WORDS)


def _problem(rule: Rule, line: int, start: int, end: int, message: str) -> LocatedProblem:
    return LocatedProblem(rule, line + 1, start + 1, line + 1, end + 1, message)
