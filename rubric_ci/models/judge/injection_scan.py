"""Scan of answers for prompt injection and for text that is not an answer: warnings, never marks.

A heuristic over the text: it finds simple attacks and has false positives. Protection against
the attacks that it misses are the fences of the prompt. Patterns are matched in folded text: lower
case, without accents. Ordinary answers must not match: `set debug to true`, `>>> f(10)`,
`user: root`, `if all conditions are met`.
"""

import base64
import codecs
import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import TypeAlias
from urllib.parse import unquote

from rubric_ci.text.escape import IGNORABLE, SHAPED, without_ignorable
from rubric_ci.values.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A pattern, and hints: each of its matches contains one, and most answers contain none.

    It is compiled when an answer contains one.
    """

    hints: tuple[str, ...]
    pattern: Callable[[], re.Pattern[str]]

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Return the matches in folded text; a search for the hints takes a tenth of the time."""
        for hint in self.hints:
            if hint in text:
                return self.pattern().finditer(text)
        return iter(())


_JUDGE = r"(?:judge|grader|evaluator|examiner)"
_TOP = r"(?:full|top|maximum|maximal|highest|perfect|best)(?:\ possible)?\ (?:mark|score|point)s?"
_ALL = r"(?:all|each|every|everything|both|the\ criteri\w+|this\ answer)"
_MET = r"(?:satisfied|met|fulfilled|passed)"

ORDER = Pattern(
    hints=(
        *("ignore", "disregard", "forget", "override", "satisfied", "met", "fulfilled", "passed"),
        *("mark", "score", "point", "judge", "grader", "evaluator", "examiner", "instruction"),
    ),
    pattern=lambda: re.compile(
        rf"""
    \b(?:
        (?:ignore|disregard|forget|override)\b .{{0,20}} \b(?:rubric|criteri\w+)\b
        | (?:ignore|disregard|forget|override)\b .{{0,20}} \b(?:previous|prior|above|earlier|your)\b
            .{{0,15}} \b(?:instructions?|rules|prompts?|text)\b
        | (?:mark|grade|rate|count)\s+{_ALL}\b .{{0,30}} \b{_MET}\b
        | (?:give|award|assign|output)\b .{{0,40}} \b{_TOP}\b
        | (?:award|give)\ {_TOP}
        | as\ (?:the\ |an?\ )?{_JUDGE},?\ you\b | dear\ {_JUDGE}\b | note\ to\ the\ {_JUDGE}\b
        | {_JUDGE}\ must\b
        | (?:new|final|updated)\ instructions?\b
        | (?:return|set|say)\ satisfied\b
    )
    | ^\W{{0,20}}{_JUDGE}:
    """,
        re.VERBOSE | re.DOTALL | re.MULTILINE,
    ),
)
ROLE = Pattern(
    hints=(
        *("im_start", "im_end", "endoftext", "sys>", "inst]", "system", "developer", "human:"),
        *("assistant:", "judge", "you are ", "stay in character"),
    ),
    pattern=lambda: re.compile(
        r"""
    <(?: \|?/?(?:im_start|im_end|system|endoftext)\|?> | </?sys>> ) | \[/?inst\]
    | ^(?:
        [ \t]*(?:system|developer|human|assistant):\s+\S+\ +\S+\ +\S+
        | [ \t]*\[(?:system|developer|judge)\] | \#+\ *(?:system|judge)\ *$
    )
    | \b(?: you\ are\ (?:now\ an?\b | \w+bot\b) | stay\ in\ character\b )
    """,
        re.VERBOSE | re.MULTILINE,
    ),
)
FENCE = Pattern(
    hints=("_", "</", "<<<", "end ", "begin ", "]]></"),
    pattern=lambda: re.compile(
        r"""
    [<‹⟨〈《«]\s*+(?:/\s*+)?(?:question|expected_outcome|reference_answer|answer|data)_[0-9a-f]{6,}
    | </\s*(?:candidate_|model_)?(?:answer|response|submission)\s*>
    | <<<[^<>\n]{0,60}\b(?:end|begin)\b[^<>\n]{0,60}>>>
    | ^\W{0,20}(?:end|begin)\ (?:of\ )?(?:the\ )?(?:untrusted\ |candidate\ )?
        (?:answer|text|data)\W{0,20}$
    | \]\]></
    """,
        re.VERBOSE | re.MULTILINE,
    ),
)
REPLY = Pattern(
    hints=("satisfied", '"c'),
    pattern=lambda: re.compile(
        r"""
    \bsatisfied["']?\s*[:=]\s*(?:true|satisfied)\b
    | "c\d+"\s*:\s*\{ | "checks"\s*:\s*\[\s*\{
    | =\ satisfied,
    """,
        re.VERBOSE,
    ),
)
CLAIM = Pattern(
    hints=("criteri", "self-", "10 "),
    pattern=lambda: re.compile(
        rf"""
    \b(?:all|both|every|each)\b .{{0,20}} \bcriteri\w+ .{{0,20}} \b{_MET}\b
    | \bself-(?:assessment|grade|score)\b
    | \b(?:score|scored|rating|answer)\b .{{0,20}} \b10\ (?:/|out\ of)\ 10\b
    """,
        re.VERBOSE | re.DOTALL,
    ),
)
OPENING = re.compile(
    r"(?:thought process|solution|(?:final )?answer|解答?)"
    r"|(?:let|think)"
    r"(?: (?:s|us|me|solve|think|work|this|it|the|problem|through|about|step|by|out))*"
)


_SIGN = r"[A-Za-z0-9+/_-]"
_BASE64 = re.compile(rf"{_SIGN}{{8,}}+(?:\s{{1,2}}+{_SIGN}{{8,}}+)*+(?:\s{{1,2}}+{_SIGN}++)?+")
_SHORTEST_BASE64 = 20  # characters, in pieces or whole
_DIGIT = r"[0-9a-fA-F]"  # the first ones are written out: `re` then skips to characters like them
_HEX = re.compile(rf"{_DIGIT}{_DIGIT}[ :]?(?:{_DIGIT}{{2}}[ :]?){{11,}}+")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_LEET = str.maketrans("0134578@$", "oieastbas")
_KEYWORDS = ("criteri", "rubric", "instruction", "satisfied", "judge", "grader", "evaluator")
_PLAIN = tuple((word, word) for word in _KEYWORDS)
_ROT13 = tuple((word, codecs.encode(word, "rot13")) for word in _KEYWORDS)
_REVERSE = tuple((word, word[::-1]) for word in _KEYWORDS)


def decoded(text: str) -> Iterator[tuple[str, str]]:
    """Yield (encoding, text) for everything that decodes; most of it is not an order."""
    for found in _BASE64.finditer(text):
        if len(found[0]) < _SHORTEST_BASE64:  # most are an ordinary word
            continue
        signs = re.sub(r"\s", "", found[0])
        starts = range(4 if len(signs) < len(found[0]) else 1)  # a long word before it is not part
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
    # A search for the keywords as they are written there takes less time than spelling the text.
    if _has_more(text, _ROT13, text):
        yield "rot13", codecs.encode(text, "rot13")
    spelt = text.translate(_LEET)
    if _has_more(spelt, _PLAIN, text):
        yield "digits for letters", spelt
    if _has_more(text, _REVERSE, text):
        yield "reverse", text[::-1]


def _has_more(spelt: str, codes: Sequence[tuple[str, str]], text: str) -> bool:
    """Return True if the code of a word is in `spelt` more often than the word is in the text."""
    there = [(word, code) for word, code in codes if code in spelt]  # mostly none
    return any(spelt.count(code) > text.count(word) for word, code in there)


def _from_base64(text: str) -> str:
    signs = text.translate(str.maketrans("-_", "+/"))
    whole = signs[: len(signs) // 4 * 4 + len(signs) % 4 // 2 * 4]  # one sign alone is not a byte
    return base64.b64decode(whole + "=" * (-len(whole) % 4)).decode(errors="ignore")


QUOTE_LENGTH = 60
REPEATS = 5
ECHOES = 2  # a single one may be a fact that the answer must state


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionWarning:
    """One finding: its rule, a message, and the text that matched."""

    rule: str
    message: str
    quote: str = ""

    def __str__(self) -> str:
        """Return the finding in one line, as reports show it."""
        return f"{self.rule}: {self.message}" + (f": {self.quote!r}" if self.quote else "")


@dataclass(frozen=True, kw_only=True)
class _ScannedAnswer:
    answer: str
    folded: str  # lower case, compatibility forms resolved, invisible characters gone
    question: str
    criteria: Sequence[str]

    @cached_property
    def words(self) -> str:
        """The words of the folded text, with one space between two."""
        return _bare(self.folded)

    @property
    def repeats_question(self) -> bool:
        """True if the answer has the words of the question, and no others."""
        question = _fold(self.question)  # most differ from the answer in the first word
        first, asked = _FIRST_WORD.search(self.folded), _FIRST_WORD.search(question)
        return bool(first and asked and first[0] == asked[0]) and self.words == _bare(question)

    def has(self, text: str) -> bool:
        """Return True if the answer has all words of a text, one after the other.

        Each is looked for first: the words of the answer take ten times as long.
        """
        words, each = _words(text)
        return all(word in self.folded for word in each) and words in self.words


_Found: TypeAlias = Iterator[tuple[str, str]]
"""Messages, each with the text that matched."""


def scan_for_injection(
    answer: str, *, question: str, criteria: Sequence[str]
) -> tuple[InjectionWarning, ...]:
    """Return the findings in one answer, at most one per rule."""
    folded = _fold(answer)
    scanned = _ScannedAnswer(answer=answer, folded=folded, question=question, criteria=criteria)
    firsts = ((name, next(rule(scanned), None)) for name, rule in _RULES.items())
    return tuple(
        InjectionWarning(rule=name, message=found[0], quote=found[1])
        for name, found in firsts
        if found
    )


def _pattern_matches(wanted: Pattern, message: str, scanned: _ScannedAnswer) -> _Found:
    for match in wanted.matches(scanned.folded):
        yield message, _shorten(match[0])


def _encoded(scanned: _ScannedAnswer) -> _Found:
    for encoding, text in decoded(scanned.answer):
        folded = _fold(text)
        message = f"the answer contains {encoding} that instructs the judge"
        for wanted in _ENCODED:
            if not any(wanted.matches(scanned.folded)):  # else another rule reports it
                yield from ((message, _shorten(match[0])) for match in wanted.matches(folded))


def _invisible(scanned: _ScannedAnswer) -> _Found:
    if scanned.answer.isascii():
        return
    hidden = _HIDDEN.findall(_ORDINARY.sub("", scanned.answer))
    if not _BRAILLE.search(scanned.answer):
        hidden += _BRAILLE_BLANK.findall(scanned.answer)
    struck = len(re.findall("[\u0300-\u036f]", unicodedata.normalize("NFC", scanned.answer)))
    if hidden:
        names = ", ".join(f"U+{ord(c):04X}" for c in sorted(set(hidden))[:3])
        yield f"invisible characters in the answer: {len(hidden):,}", names
    elif struck * 4 > len(scanned.answer):
        yield "the answer is covered by combining characters", ""


def _alphabets(scanned: _ScannedAnswer) -> _Found:
    if scanned.answer.isascii():
        return
    for each in _WORD.findall(scanned.answer):
        if each.isascii():
            continue
        scripts = {unicodedata.name(c, "?").split()[0] for c in each}
        if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK"}:
            yield "a word mixes alphabets with similar letters", each


def _nothing(scanned: _ScannedAnswer) -> _Found:
    first = _FIRST_WORD.search(scanned.folded)
    if not first:
        yield "the answer has no words", scanned.answer
    elif first[0] in _OPENINGS and OPENING.fullmatch(scanned.words):
        yield "the answer is only an introduction", _shorten(scanned.answer)


def _echoes(scanned: _ScannedAnswer) -> _Found:
    criteria = [c for c in scanned.criteria if " " in c]
    if scanned.repeats_question:
        yield "the answer repeats the question", ""
        return
    echoed = [c for c in criteria if scanned.has(c)]
    if len(echoed) >= ECHOES:
        yield f"the answer repeats {len(echoed):,} criteria verbatim", _shorten(echoed[0])


def _repeats(scanned: _ScannedAnswer) -> _Found:
    written = scanned.folded.splitlines()
    if len(written) < REPEATS:
        return
    lines = Counter(line.strip() for line in written if _WORD.search(line))
    line, times = max(lines.items(), key=lambda item: item[1], default=("", 0))
    if times >= REPEATS and times * 2 > lines.total():
        yield f"the same line makes up {times} of {lines.total()} lines", _shorten(line)


_RULES: Mapping[str, Callable[[_ScannedAnswer], _Found]] = {
    "says-nothing": _nothing,
    "echoes": _echoes,
    **{
        rule: partial(_pattern_matches, wanted, message)
        for rule, wanted, message in (
            ("orders-the-judge", ORDER, "the answer instructs the judge"),
            ("plays-a-role", ROLE, "the answer imitates another role"),
            ("forges-a-fence", FENCE, "the answer imitates its own end"),
            ("forges-a-reply", REPLY, "the answer contains a judge's reply"),
            ("marks-itself", CLAIM, "the answer claims a mark"),
        )
    },
    "encodes-an-order": _encoded,
    "hides-characters": _invisible,
    "mixes-alphabets": _alphabets,
    "repeats-itself": _repeats,
}

_ENCODED = (ORDER, ROLE, CLAIM)
_WORD = re.compile(r"\w{2,}")
_FIRST_WORD = re.compile(r"\w+")
_OPENINGS = frozenset(("thought", "solution", "final", "answer", "解", "解答", "let", "think"))
_HIDDEN = re.compile(f"[{IGNORABLE}\ufff9-\ufffb]")
_BRAILLE = re.compile("[\u2801-\u28ff]")
_BRAILLE_BLANK = re.compile("\u2800")
_FILLERS = re.compile("[\u115f\u1160\u2800\u3164\uffa0]")  # as wide as a letter, and empty
_ORDINARY = re.compile(
    "\xad|^\ufeff|\U0001f3f4[\U000e0020-\U000e007f]{1,7}"  # hyphenation, flags of regions
    f"|(?<={SHAPED})[\u034f\u061c\u200c-\u200f\ufe00-\ufe0f\U000e0100-\U000e01ef]{{1,2}}(?![{IGNORABLE}])"
    f"|(?<=[\\s!-/:-@])[\u061c\u200e\u200f](?![{IGNORABLE}])|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    "|\u115f(?=[\u1161-\u11a7])|(?<=[\u1100-\u115e])\u1160"  # old Korean
    "|(?<=[\u1780-\u17d3])[\u17b4\u17b5]|(?<=[\u1820-\u18aa])[\u180b-\u180f]"  # Khmer, Mongolian
)


def _fold(text: str) -> str:
    if text.isascii():  # fast path: most answers are ASCII
        return text.casefold()
    plain = unicodedata.normalize("NFKD", without_ignorable(_FILLERS.sub(" ", text)))
    return "".join(c for c in plain if unicodedata.category(c) != "Mn").casefold()


@lru_cache(maxsize=1_000)
def _words(text: str) -> tuple[str, list[str]]:
    """Return the words of a criterion, which cases may share, and each, the longest first."""
    words = _bare(_fold(text))
    return words, sorted(words.split(" "), key=len, reverse=True)


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


def _shorten(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= QUOTE_LENGTH else one_line[: QUOTE_LENGTH - 1] + "…"
