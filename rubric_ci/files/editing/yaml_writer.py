"""Write JSON values as lines of YAML: plain scalars where YAML allows, else quoted."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import yaml

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON

_PLAIN = re.compile(r"(?!---|\.\.\.)[^\s\-?:,\[\]{}#&*!|>'\"%@`=<~](?:.*\S)?|-[^\s\-](?:.*\S)?")
_PLAIN_NEVER = re.compile(r":(?=\s|$)|\s#")
_FLOW_NEVER = re.compile(r"[,\[\]{}?:]")
_OTHER_READERS = re.compile(
    r"[yn]|0o[0-7]+|[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?|[-+]?\.[0-9]+(?:e[-+]?[0-9]+)?",
    re.IGNORECASE,
)
"""Text for PyYAML that YAML 1.2 or strict YAML 1.1 read as a number or a boolean."""
_UNPRINTABLE = re.compile(
    r"[^\t\n\x20-\x7e\xa0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065\u206a-\ud7ff"
    r"\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""Characters that YAML does not allow, and the signs that let a text run in another direction."""
_RESOLVER = yaml.resolver.Resolver()


@dataclass(frozen=True, slots=True)
class ListLayout:
    dash: int = 2  # columns from the key to the dash
    item: int = 2  # columns from the dash to the item


def block_lines(key: str, value: JSON, layout: ListLayout) -> list[str]:
    return [*_entry(f"{scalar(key, in_flow=True)}:", value, layout)]


def flow(value: JSON) -> str:
    return _flow(value, lambda text: scalar(text, in_flow=True))


def flow_json(value: JSON) -> str:
    """Return a value in one line that JSON and YAML both read."""
    return _flow(value, _quoted)


def scalar(text: str, *, in_flow: bool = False) -> str:
    """Return a text as a scalar of one line, quoted only if YAML requires it."""
    if _may_be_plain(text) and not (in_flow and _FLOW_NEVER.search(text)):
        return text
    if "'" not in text and re.search(r'["\\]', text) and not _needs_escapes(text):
        return f"'{text}'"
    return _quoted(text)


def _flow(value: JSON, write: Callable[[str], str]) -> str:
    match value:
        case dict():
            pairs = (f"{write(key)}: {_flow(item, write)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list():
            return "[" + ", ".join(_flow(item, write) for item in value) + "]"
        case str():
            return write(value)
        case _:
            # PyYAML reads an exponent only after a point.
            return re.sub(r"^(-?\d+)e", r"\1.0e", json.dumps(value))


def _entry(head: str, value: JSON, layout: ListLayout) -> Iterator[str]:
    """Write a value after `key:`, or after nothing at the top."""
    match value:
        case list() if value and not all(type(item) is int for item in value):
            yield head
            yield from _indented(layout.dash, chain(*(_item(item, layout) for item in value)))
        case dict() if value:
            yield head
            yield from _indented(2, _pairs(value, layout))
        case str() if _reads_better_as_block(value):
            yield f"{head} {'|' if value.endswith(chr(10)) else '|-'}"
            yield from _indented(2, value.removesuffix("\n").split("\n"))
        case str():
            yield f"{head} {scalar(value)}"
        case _:
            yield f"{head} {flow(value)}"


def _item(value: JSON, layout: ListLayout) -> Iterator[str]:
    match value:
        case dict() if value:
            lines = _pairs(value, layout)
            yield f"-{' ' * (layout.item - 1)}{next(lines)}"
            yield from _indented(layout.item, lines)
        case list():
            yield f"-{' ' * (layout.item - 1)}{flow(value)}"
        case _:
            yield from _entry("-" + " " * (layout.item - 2), value, layout)


def _pairs(value: dict[str, JSON], layout: ListLayout) -> Iterator[str]:
    for key, item in value.items():
        yield from _entry(f"{scalar(key, in_flow=True)}:", item, layout)


def _indented(columns: int, lines: Iterable[str]) -> Iterator[str]:
    return (" " * columns + line if line else "" for line in lines)


def _may_be_plain(text: str) -> bool:
    return (
        _PLAIN.fullmatch(text) is not None
        and not _PLAIN_NEVER.search(text)
        and not _needs_escapes(text)
        and _OTHER_READERS.fullmatch(text) is None
        and _resolves_to_text(text)
    )


def _resolves_to_text(text: str) -> bool:
    # PyYAML's own functions have no types
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return bool(tag == "tag:yaml.org,2002:str")


def _needs_escapes(text: str) -> bool:
    return "\n" in text or "\t" in text or _UNPRINTABLE.search(text) is not None


def _reads_better_as_block(text: str) -> bool:
    """Return True for multi-line text that a literal block represents exactly."""
    lines = text.removesuffix("\n").split("\n")
    return (
        len(lines) > 1
        and not _needs_escapes(text.replace("\n", ""))
        and lines[0] != ""
        and lines[-1] != ""
        and not any(line != line.strip() for line in lines)
    )


def _quoted(text: str) -> str:
    """Write a text in double quotes; characters that JSON allows and YAML does not are escaped."""
    return with_escapes(json.dumps(text, ensure_ascii=False))


def with_escapes(quoted: str) -> str:
    """Return a text in JSON whose signs that YAML does not allow or that turn it are escaped."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)
