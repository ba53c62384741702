"""Characters above U+FFFF as JSON escapes them: a pair of escapes, which YAML does not know.

The pair is parsed as another one of the same length, so that places stay, and then put back.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

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
