"""Code of an answer: its fenced Markdown blocks."""

import re
from collections.abc import Iterator

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


def extract(answer: str) -> Code:
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
