"""The JSON value in an answer: the whole text, a fenced block, or inside prose."""

import json
import re
from collections.abc import Iterator
from itertools import islice

from rubric_ci.model.json_value import JSON, equal
from rubric_ci.text import code_blocks

_DECODER = json.JSONDecoder()
_STARTS = re.compile(r"\{\s*\"|\[")  # `{}` in prose is code
_MAX_STARTS = 2_000  # each that fails costs time in proportion to the length of the text


def json_values(text: str, opening: str = "{[") -> list[JSON]:
    """Return the different JSON values of a text: usually one, none if it has no JSON.

    Fenced blocks are searched before prose. In both, only values that begin with a character of
    `opening` are found.
    """
    whole = list(_whole(text))
    if whole:
        return whole
    blocks = [block for _, block in code_blocks.fenced_blocks(text)]
    fenced = [v for block in blocks if block.lstrip()[:1] in set(opening) for v in _whole(block)]
    return _different(fenced or list(_in_prose(text, opening)))


def _whole(text: str) -> Iterator[JSON]:
    try:
        yield json.loads(text)
    except (ValueError, RecursionError):
        return


def _in_prose(text: str, opening: str) -> Iterator[JSON]:
    """Yield the outermost objects or lists."""
    end = 0
    for start in islice(_STARTS.finditer(text), _MAX_STARTS):
        if start[0][0] not in opening or start.start() < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start.start())
            yield value
        except (ValueError, RecursionError):
            continue


def _different(values: list[JSON]) -> list[JSON]:
    found: list[JSON] = []
    for value in values:
        if not any(equal(value, other) for other in found):
            found.append(value)
    return found
