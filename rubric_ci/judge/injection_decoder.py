"""Encodings that a judge can read and a pattern cannot: what an answer holds in them."""

import base64
import codecs
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote

_SIGN = r"[A-Za-z0-9+/_-]"
_BASE64 = re.compile(rf"{_SIGN}{{8,}}+(?:\s{{1,2}}+{_SIGN}{{8,}}+)*+(?:\s{{1,2}}+{_SIGN}++)?+")
_SHORTEST_BASE64 = 20  # characters, in pieces or whole
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){12,}+")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_LEET = str.maketrans("0134578@$", "oieastbas")
_KEYWORDS = ("criteri", "rubric", "instruction", "satisfied", "judge", "grader", "evaluator")


def decoded(text: str) -> Iterator[tuple[str, str]]:
    """Yield (encoding, text) for everything that decodes; most of it is no order."""
    for found in _BASE64.finditer(text):
        signs = re.sub(r"\s", "", found[0])
        starts = range(4 if len(signs) < len(found[0]) else 1)  # a long word before it is no part
        if len(signs) >= _SHORTEST_BASE64:
            yield from (("base64", _from_base64(signs[start:])) for start in starts)
    for found in _HEX.finditer(text):
        digits = re.sub("[ :]", "", found[0])
        yield "hexadecimal digits", bytes.fromhex(digits).decode(errors="ignore")
    if "&#" in text:
        yield "character references", html.unescape(text)
    if "%" in text:
        yield "percent encoding", unquote(text)
    if "\\" in text and _ESCAPE.search(text):
        yield "escapes", _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), text)
    yield from _disguised(text.casefold())


def _disguised(text: str) -> Iterator[tuple[str, str]]:
    """Yield other spellings of the whole text, if they have a word of an order in them."""
    for name, spelt in (
        ("rot13", codecs.encode(text, "rot13")),
        ("digits for letters", text.translate(_LEET)),
        ("reverse", text[::-1]),
    ):
        if any(word in spelt and spelt.count(word) > text.count(word) for word in _KEYWORDS):
            yield name, spelt


def _from_base64(text: str) -> str:
    signs = text.translate(str.maketrans("-_", "+/"))
    whole = signs[: len(signs) // 4 * 4 + len(signs) % 4 // 2 * 4]  # one sign alone is no byte
    return base64.b64decode(whole + "=" * (-len(whole) % 4)).decode(errors="ignore")
