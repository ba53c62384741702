"""Secret values, the forms that they take in texts, and texts without them."""

import binascii
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar

T = TypeVar("T")

MASK: Final = "***"
SHORTEST: Final = 6  # characters; a shorter value would mask words and numbers that are not secrets
_SHORTEST_BASE64 = 8

_WITHOUT_TEXT = (type(None), bool, int, float)  # most fields of an answer
_SECRET_NAMES = (
    *("key", "token", "secret", "password", "passwd", "credential", "credentials"),
    *("authorization", "cookie"),
)
_BEFORE_NAME = ("_", "-", "api")
_USERINFO = r"://[^/@\s:]*+:([^/@\s]++)@"
_OURS = "RUBRIC_CI_"  # options, such as RUBRIC_CI_COMMENT_KEY
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_URL_SAFE = str.maketrans("+/", "-_")


class Redactor(NamedTuple):
    """Replaces secrets by `***`, in every form in which they are recognised."""

    needles: tuple[str, ...]  # longest first: a secret may hold another one

    def __call__(self, text: str) -> str:
        for needle in self.needles:
            if needle in text:
                text = text.replace(needle, MASK)
        return text

    def finds_in_json(self, text: str) -> bool:
        """Return True if a string of this JSON text, with no escapes but the needed, has a secret.

        Also if only two strings together look like one: a caller then looks at each.
        """
        return any(needle in text for needle in _in_json(self.needles))


def redacted(value: T, redact: Redactor | Callable[[str], str], kept: Container[str] = ()) -> T:
    """Return a value with every text in it replaced, keys as well, at any depth.

    Fields of dataclasses that are named in `kept` stay as they are.
    """
    found: Any = value
    match value:
        case str():
            found = redact(value)
        case list() | tuple():
            found = type(value)(redacted(item, redact, kept) for item in value)
        case Mapping():
            pairs = value.items()
            found = {redacted(key, redact): redacted(item, redact, kept) for key, item in pairs}
        case _ if hasattr(type(value), "__dataclass_fields__"):
            from dataclasses import fields, replace  # a command without values starts without it

            names = [each.name for each in fields(found) if each.name not in kept]
            every = ((name, getattr(found, name)) for name in names)
            named = {name: each for name, each in every if not isinstance(each, _WITHOUT_TEXT)}
            changed = {name: redacted(each, redact, kept) for name, each in named.items()}
            found = value if changed == named else replace(found, **changed)
    result: T = found
    return result


def is_secret_name(name: str) -> bool:
    """Return True if what has this name is secret: `*_KEY`, `*_TOKEN`, `*_SECRET`, passwords."""
    word = name.casefold()
    ending = next(filter(word.endswith, _SECRET_NAMES), None)
    if ending is None or name.startswith(_OURS):
        return False
    return word == ending or word.removesuffix(ending).endswith(_BEFORE_NAME)


def environment_secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the secret values of an environment: by name, and passwords in addresses."""
    for name, value in environment.items():
        if is_secret_name(name):
            yield value
        if "://" in value and "@" in value:
            yield from re.findall(_USERINFO, value)


def redactor(secrets: Iterable[str]) -> Redactor:
    """Return a function that replaces these values, in every form in which they are recognised."""
    return _compiled(frozenset(secrets))


@lru_cache(maxsize=16)
def _compiled(secrets: frozenset[str]) -> Redactor:
    found = {form for secret in secrets for form in forms(secret)}
    return Redactor(tuple(sorted(found, key=lambda form: (-len(form), form))))


@lru_cache(maxsize=16)
def _in_json(needles: tuple[str, ...]) -> tuple[str, ...]:
    """Return the needles as JSON in UTF-8 writes them inside a string."""
    import json

    texts = (json.dumps(needle, ensure_ascii=False)[1:-1] for needle in needles)
    return tuple(text.encode(errors="backslashreplace").decode() for text in texts)


def forms(secret: str) -> Iterator[str]:
    """Yield a value, its lines, and how JSON, URLs, HTML, Python, a shell and base64 write them."""
    import html  # few processes have a secret, and `validate` starts at each commit
    import json

    pieces = {secret, secret.strip(), " ".join(secret.split()), *map(str.strip, secret.split("\n"))}
    for piece in pieces:
        if len(piece) >= SHORTEST:
            data = piece.encode("utf-8", "surrogatepass")
            yield from (piece, html.escape(piece), repr(piece)[1:-1], piece.replace("'", "'\"'\"'"))
            yield from (json.dumps(piece)[1:-1], json.dumps(piece, ensure_ascii=False)[1:-1])
            yield from (piece.replace("'", "'\\''"), json.dumps(piece)[1:-1].replace("/", "\\/"))
            yield from _percent_encoded(data)
            yield from _base64(data)


def _percent_encoded(data: bytes) -> Iterator[str]:
    """Yield the text in a URL: with and without slashes, `+` for blanks, digits in either case."""
    for kept in (_UNRESERVED, _UNRESERVED | {ord("/")}):
        for digits in ("%{:02X}", "%{:02x}"):
            text = "".join(chr(byte) if byte in kept else digits.format(byte) for byte in data)
            yield from (text, text.replace("%20", "+"))


def _base64(data: bytes) -> Iterator[str]:
    """Yield the base64 forms of the value at each of three offsets, as in `user:value`."""
    for offset, cut in enumerate((0, 2, 3)):
        padded = bytes(offset) + data
        whole = binascii.b2a_base64(padded, newline=False).decode()
        text = whole[cut : len(padded) // 3 * 4 + len(padded) % 3]  # the rest is not its own
        if len(text) >= _SHORTEST_BASE64:
            yield from (text, text.translate(_URL_SAFE))
