"""The Markdown of an answer as HTML: the tags of this module around text that is escaped.

Raw HTML stays text. A link shows its target and is one only if that begins with http(s); an image
is its description and address. So an answer can neither load nor run anything. An answer that
would lose a letter, such as a cell beyond the columns of a table, is not rendered.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Final, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from rubric_ci.reports.html_templates import trusted
from rubric_ci.text.escape import html

Span: TypeAlias = tuple[int, int]

_LEFT_OUT = re.compile(r"(?:\.\s?){3,}|…")  # "so ... it is"
_PARTS = re.compile(r"(?P<space>\s+)|(?P<ascii>[!-~]+)|\S")  # signs of ASCII have one form each
_STRAIGHT = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


def quoted(answer: str, quotes: Iterable[str]) -> list[Span]:
    """Return the places of the quotes in an answer: ascending, without overlap.

    White space, case, Unicode forms and text that a quote leaves out are ignored, as in the check
    of quotes (`models/judge/reply_checks.py`). A quote that is not in the answer has no place.
    """
    found: list[Span] = []
    folded: tuple[str, list[Span]] | None = None
    for quote in filter(None, quotes):
        start = answer.find(quote)
        if start >= 0:
            found.append((start, start + len(quote)))
            continue
        folded = folded or _folded(answer)
        found.extend(_pieces(quote, *folded))
    return [*_merged(sorted(found))]


def _pieces(quote: str, text: str, places: list[Span]) -> list[Span]:
    """Return the place of each piece of a quote, or none if one is missing."""
    found, position = [], 0
    for piece in _LEFT_OUT.split(quote):
        words = _folded(piece.strip(" \"'\u201c\u201d"))[0].strip()
        if not words:
            continue
        position = text.find(words, position)
        if position < 0:
            return []
        found.append((places[position][0], places[position + len(words) - 1][1]))
    return found


def _folded(text: str) -> tuple[str, list[Span]]:
    """Return the text in one form, and the place in `text` of each of its characters."""
    letters: list[str] = []
    places: list[Span] = []
    for match in _PARTS.finditer(text):
        start, end = match.span()
        if match.lastgroup == "ascii":
            letters.append(match[0].lower())
            places.extend(zip(range(start, end), range(start + 1, end + 1), strict=True))
            continue
        letter = " " if match.lastgroup == "space" else _letter(match[0])
        letters.append(letter)
        places.extend([(start, end)] * len(letter))
    return "".join(letters), places


def _letter(sign: str) -> str:
    if unicodedata.category(sign) == "Cf":
        return ""
    return unicodedata.normalize("NFKC", sign).translate(_STRAIGHT).casefold()


def _merged(spans: list[Span]) -> Iterator[Span]:
    ends = [*accumulate((end for _, end in spans), max)]
    start = 0
    for position, (begin, _) in enumerate(spans):
        if position and begin > ends[position - 1]:
            yield spans[start][0], ends[position - 1]
            start = position
    if spans:
        yield spans[start][0], ends[-1]


Part: TypeAlias = tuple[str, str]  # HTML and the text that it stands for; or "" and a text to show

LONGEST: Final = 20_000  # characters; some texts take the parser quadratic time
_TAGS: Final = {
    "paragraph": "p",
    "heading": "h5",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    **{name: name for name in ("blockquote", "em", "strong", "s")},
    **{name: name for name in ("table", "thead", "tbody", "tr", "th", "td")},
}
_LITERAL: Final = {"text": "", "code_inline": "code", "fence": "pre", "code_block": "pre"}
_BETWEEN: Final = (" ", "\n")  # blocks
_PLAIN: Final = {"", " ", "<p>", "</p>"}
_SIGNS: Final = re.compile(
    r"[*_`~\[|<]|^ {0,3}(?:[#>+-]|\d+[.)])|^(?: {4}|\t)|^[=-]+ *$", re.MULTILINE
)
_INLINE: Final = re.compile(r"[*_`|]")
_WEB: Final = re.compile(r"https?://[^/]", re.IGNORECASE)


def rendered(answer: str, quotes: Sequence[str]) -> Markup | None:
    """Return an answer with the judge's quotes marked; None if its text is to be shown as it is."""
    if len(answer) > LONGEST or not _SIGNS.search(answer) or _is_data(answer):
        return None
    parts = [*_parts(answer)]
    if {tag for tag, _ in parts} <= _PLAIN or _loses(answer, parts):
        return None
    variants = [variant for quote in filter(None, quotes) for variant in _variants(quote)]
    return trusted("".join(_marked(parts, variants)))


def _is_data(answer: str) -> bool:
    """Return True for JSON and for a text that begins with a tag."""
    if not answer.lstrip().startswith(("{", "[")):
        return answer.lstrip().startswith("<")
    try:
        json.loads(answer)
    except (ValueError, RecursionError):
        return False
    return True


def _loses(answer: str, parts: Sequence[Part]) -> bool:
    """Return True if letters or digits of an answer are not shown."""
    return any(map(str.isalnum, Counter(answer) - Counter(_joined_text(parts))))


def _variants(quote: str) -> Iterator[str]:
    """Yield a quote as it is, as its Markdown reads, and without the signs of cut Markdown."""
    yield quote
    if len(quote) <= LONGEST and _SIGNS.search(quote):
        yield _joined_text([*_parts(quote)]).strip()
        yield _INLINE.sub("", quote)


def _joined_text(parts: Sequence[Part]) -> str:
    return "".join(text for _, text in parts)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    return parser.enable(["table", "strikethrough"]).disable(["reference", "entity"])


def _parts(text: str) -> Iterator[Part]:
    for token in _parser().parse(text):
        yield from _inline(token.children or ()) if token.type == "inline" else _block(token)


def _block(token: Token) -> Iterator[Part]:
    if token.type in _LITERAL:
        yield from _small(token.info) if token.info else ()
        yield from _literal(token)
    elif token.type == "hr":
        yield "<hr>", ""
    elif not token.hidden:  # the paragraph of a list item
        yield _tag(token), f"{token.info}{token.markup} " if token.info else ""
    if token.nesting < 1:
        yield _BETWEEN


def _inline(tokens: Sequence[Token]) -> Iterator[Part]:
    link: Token | None = None
    before = ""
    for token in tokens:
        link = token if token.type == "link_open" else link
        yield from _piece(token, link)
        if link and token.type == "link_close":
            yield from _address(link, "href", before)
        before = token.content


def _piece(token: Token, link: Token | None) -> Iterator[Part]:
    if link and token.type in {"link_open", "link_close"}:
        yield _link(token, str(link.attrs["href"])), ""
    elif token.type == "image":
        yield "", f"image: {token.content}"
        yield from _address(token, "src", "")
    elif token.type in {"softbreak", "hardbreak"}:
        yield "", "\n"
    elif token.type in _LITERAL:
        yield from _literal(token)
    else:
        yield _tag(token), ""


def _literal(token: Token) -> Iterator[Part]:
    tag = _LITERAL[token.type]
    yield from [(f"<{tag}>", "")] if tag else ()
    yield "", token.content
    yield from [(f"</{tag}>", "")] if tag else ()


def _link(token: Token, target: str) -> str:
    if not _WEB.match(target):
        return "<span>" if token.nesting > 0 else "</span>"
    start = f'<a href="{html(target)}" rel="noopener noreferrer nofollow">'
    return start if token.nesting > 0 else "</a>"


def _address(token: Token, attribute: str, before: str) -> Iterator[Part]:
    """Yield the target and the title of a link or an image; the target may be before it."""
    target, title = str(token.attrs[attribute]), str(token.attrs.get("title", ""))
    yield from () if before == target else _small(f" ({target})")
    yield from _small(f" {title}") if title else ()
    if (written := _parser().normalizeLinkText(target)) != target:
        yield " ", written


def _small(text: str) -> Iterator[Part]:
    yield from (("<small>", ""), ("", text), ("</small>", ""))


def _tag(token: Token) -> str:
    """Return a tag; a kind of token that is not known raises."""
    name = _TAGS[token.type.removesuffix("_open").removesuffix("_close")]
    if token.nesting < 0:
        return f"</{name}>"
    start = token.attrs.get("start")
    return f'<{name} start="{int(start)}">' if start is not None else f"<{name}>"


def _marked(parts: Sequence[Part], quotes: Sequence[str]) -> Iterator[str]:
    """Yield the parts as HTML, with quotes that may go on from part to part."""
    spans = quoted(_joined_text(parts), quotes)
    starts = accumulate((len(text) for _, text in parts), initial=0)
    for (tag, text), start in zip(parts, starts, strict=False):
        yield tag or "".join(_highlighted(text, start, spans))


def _highlighted(text: str, start: int, spans: Sequence[Span]) -> Iterator[str]:
    done = 0
    for begin, end in spans:
        first, last = max(begin - start, done), min(end - start, len(text))
        if first < last and text[first:last].strip():
            yield f"{html(text[done:first])}<mark>{html(text[first:last])}</mark>"
            done = last
    yield html(text[done:])
