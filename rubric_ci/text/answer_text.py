"""What the text of an answer holds: the code of its fenced blocks, or a whole conversation.

A conversation is written and read without loss: each text follows a line `[user]` or `[assistant]`.
Such a line inside a text gets a backslash.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from rubric_ci.values.dataclass import dataclass

_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n]*)$")
_SUFFIXES = {
    "bash": ".sh",
    "c++": ".cpp",
    "csharp": ".cs",
    "golang": ".go",
    "javascript": ".js",
    "kotlin": ".kt",
    "markdown": ".md",
    "python": ".py",
    "python3": ".py",
    "ruby": ".rb",
    "rust": ".rs",
    "shell": ".sh",
    "typescript": ".ts",
    "yaml": ".yaml",
    "yml": ".yaml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The text of a program and the file suffix of its language."""

    text: str
    suffix: str


def extract_code(answer: str) -> Code:
    """Return the blocks in the language of the longest one, in order; without a block, all text.

    Blocks of other languages (an installation line, sample output) are not part of the program.
    """
    blocks = list(fenced_blocks(answer))
    if not blocks:
        return Code(text=answer, suffix=".txt")
    language = max(blocks, key=lambda block: len(block[1]))[0]
    return Code(
        text="\n".join(text for spoken, text in blocks if spoken == language),
        suffix=_suffix(language),
    )


def fenced_blocks(answer: str) -> Iterator[tuple[str, str]]:
    """Yield (language, text) per fenced block; one that is never closed runs to the end."""
    fence, language, lines = "", "", list[str]()
    for line in answer.splitlines(keepends=True):
        match = _FENCE.match(line.rstrip("\r\n"))
        if not fence:
            if match and not (match["fence"][0] == "`" and "`" in match["info"]):
                fence, language, lines = match["fence"], _language(match["info"]), []
        elif match and match["fence"].startswith(fence) and not match["info"].strip():
            yield language, "".join(lines)
            fence = ""
        else:
            lines.append(line)
    if fence:
        yield language, "".join(lines)


def _language(info: str) -> str:
    words = info.strip().lower().split()
    return words[0].strip("{}.") if words else ""


def _suffix(language: str) -> str:
    if language in _SUFFIXES:
        return _SUFFIXES[language]
    return f".{language}" if re.fullmatch(r"[a-z0-9]{1,8}", language) else ".txt"


_HEADING: Final = re.compile(r"(?:\A|\n\n)\[(user|assistant)\]\n")
_LIKE_HEADING: Final = re.compile(r"^(?=\\*\[(?:user|assistant)\]$)", re.MULTILINE)
_SLASH: Final = r"\\"
_ESCAPED: Final = re.compile(r"^\\(?=\\*\[(?:user|assistant)\]$)", re.MULTILINE)


class Exchange(NamedTuple):
    """A message of the user, and the answer to it."""

    user: str
    answer: str


def transcript(exchanges: Iterable[Exchange]) -> str:
    return "\n\n".join(
        f"[user]\n{_LIKE_HEADING.sub(_SLASH, each.user)}\n\n"
        f"[assistant]\n{_LIKE_HEADING.sub(_SLASH, each.answer)}"
        for each in exchanges
    )


def read_exchanges(text: str) -> tuple[Exchange, ...]:
    """Return the conversation of a text; empty if it is not one."""
    before, *found = _HEADING.split(text)
    roles, texts = found[::2], [_ESCAPED.sub("", each) for each in found[1::2]]
    if before or roles != ["user", "assistant"] * (len(roles) // 2):
        return ()
    return tuple(map(Exchange, texts[::2], texts[1::2]))
