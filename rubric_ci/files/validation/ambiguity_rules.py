"""Rules of what is read in two ways: a scalar by versions of YAML, a criterion by two judges.

Scalars are checked where a field requires text or a number, not in data that is passed through:
`metadata`, `config`, structured contents, tool calls and `x-` keys.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeAlias

from yaml.nodes import MappingNode

from rubric_ci.files.yaml_text.scalars import NOT_FINITE
from rubric_ci.files.yaml_text.source import Source
from rubric_ci.values.problems import Path, Problem, Rule, with_cases, with_rubrics

_PASSED_THROUGH = frozenset(("metadata", "config", "tool_calls", "args"))
_STRUCTURED = frozenset(("content", "expected_output"))
_WORDS = {
    "date": "a date",
    "octal12": "an octal number in YAML 1.2",
    "exponent": "a number in YAML 1.2",
    "octal": "an octal number in YAML 1.1",
    "binary": "a binary number",
    "hexadecimal": "a hexadecimal number",
    "sexagesimal": "a number of base 60 in YAML 1.1",
    "underscores": "a number with underscores in YAML 1.1",
}
_TEXTS = frozenset(("date", "octal12", "exponent"))


AMBIGUOUS_TEXT: Final = Rule(
    id="ambiguous-text",
    switchable=True,
    meaning=(
        "The field requires text, and some YAML versions read the value as a date or a number."
    ),
    hint="quote it",
    bad=with_cases("  - id: 2026-01-31\n    input: Say hello\n    rubrics: [Greets]\n"),
    good=with_cases('  - id: "2026-01-31"\n    input: Say hello\n    rubrics: [Greets]\n'),
)
PLAIN_NUMBER: Final = Rule(
    id="plain-number",
    switchable=True,
    meaning=(
        "YAML 1.1 and 1.2 read octal, sexagesimal and underscored numbers differently: `1:30` is "
        "90 in one and text in the other."
    ),
    hint="write a plain decimal number",
    bad=with_rubrics("- expected_outcome: Greets\n  weight: 1:30"),
    good=with_rubrics("- expected_outcome: Greets\n  weight: 90"),
)


def ambiguous_scalar_problems(source: Source, found: Iterable[Problem]) -> Iterator[Problem]:
    """Yield ambiguous scalars, except at places that have a problem already."""
    known = {problem.path for problem in found}
    paths = source.paths_of((scalar.node for scalar in source.ambiguous), _is_not_checked)
    for kind, node in source.ambiguous:
        path = paths.get(id(node))
        if path is not None and path not in known:
            yield _problem(kind, str(node.value), path)


def _is_not_checked(key: str, node: Any) -> bool:
    structured = key in _STRUCTURED and node.__class__ is MappingNode
    return structured or key in _PASSED_THROUGH or key.startswith("x-")


def _problem(kind: str, text: str, path: Path) -> Problem:
    if kind == "not-finite":
        return Problem(NOT_FINITE, path, f"`{text}` is not a finite number")
    message = f"`{text}` reads as {_WORDS[kind]}"
    if kind in _TEXTS:
        return Problem(AMBIGUOUS_TEXT, path, message, f'quote it: "{text}"')
    return Problem(PLAIN_NUMBER, path, message)


Compiled: TypeAlias = Callable[[], re.Pattern[str]]

MOST: Final = 100  # criteria of a list that are compared with each other
ALIKE: Final = 0.8  # share of common content words from which two criteria are duplicates

WORDING: Final = Rule(
    id="wording",
    severity="notice",
    switchable=True,
    meaning=(
        "Judges mark such a criterion differently from one answer to the next: it checks more than "
        "one thing, counts (`2 of 3`), is vague, negates a negation, refers to a text that the "
        "judge does not get, asks a checklist for a degree, or repeats another criterion. The "
        "words are English; other languages are not checked. `docs/good-rubrics.md` has a bad and "
        "a good example of each."
    ),
    hint="see docs/good-rubrics.md",
    bad=with_rubrics(
        "- Names the limit and explains the procedure\n"
        "- Names at least two of the three documents\n"
        "- Gives a helpful answer\n"
        "- Does not fail to mention the fee\n"
        "- Gives the steps as in the ticket\n"
        "- How well it explains the risk\n"
        "- States the price of shipping\n"
        "- States the shipping price"
    ),
    good=with_rubrics(
        "- Names the limit\n"
        "- Explains the procedure\n"
        "- {expected_outcome: Names the receipt, required: false}\n"
        "- {expected_outcome: Names the form, required: false}\n"
        "- Says which form the customer has to fill in\n"
        "- Mentions the fee of 5 euros\n"
        "- Says to reset the router\n"
        "- Names one risk\n"
        "- States the price of shipping"
    ),
)


class Kind(NamedTuple):
    """A kind of wording. Its patterns are compiled when a criterion has one of its words."""

    name: str
    words: frozenset[str]  # a criterion has one of them, in lower case
    pattern: Compiled
    advice: str  # after the words that were found
    checklist: bool = False  # of checklist criteria only
    unless: Compiled | None = None  # words after it that make it precise
    clause: Compiled | None = None  # words before it that make it a part of one thing


class Wording(NamedTuple):
    kind: str
    message: str


def wording(text: str, *, checklist: bool = True) -> Iterator[Wording]:
    """Yield the findings about one criterion, one of each kind."""
    yield from _wordings_of_kinds(text, words_of(text), checklist=checklist)


def _wordings_of_kinds(text: str, words: set[str], *, checklist: bool) -> Iterator[Wording]:
    if _TRIGGERS.isdisjoint(words):
        return
    for kind in KINDS:
        if kind.words.isdisjoint(words) or (kind.checklist and not checklist):
            continue
        found = kind.pattern().search(text)
        if found and not _is_fine(kind, text, found):
            yield Wording(kind.name, f"“{found.group().strip()}” {kind.advice}")


def _is_fine(kind: Kind, text: str, found: re.Match[str]) -> bool:
    after = kind.unless and kind.unless().search(text, found.end())
    before = kind.clause and kind.clause().search(text, 0, found.start())
    return bool(after or before)


def repeated(texts: Sequence[set[str]]) -> Iterator[tuple[int, int]]:
    """Yield the positions of a criterion and of an earlier one that checks the same, by words.

    Criteria of one word are not compared, and neither is a list of more than `MOST`.
    """
    if len(texts) > MOST:
        return
    content = [words - FILLERS for words in texts]
    for n, m in combinations(range(len(content)), 2):
        one, other = content[n], content[m]
        common = 0 if one.isdisjoint(other) else len(one & other)
        if common > 1 and common >= ALIKE * (len(one) + len(other) - common):
            yield m, n


def words_of(text: str) -> set[str]:
    """Return the words in lower case; a semicolon is a separate word."""
    spaced = text.casefold().replace(";", " ; ").replace(",", " ").replace(":", " ")
    return set(spaced.rstrip(".!?").split())


def wording_problems(criteria: Sequence[Any], path: Path) -> Iterator[Problem]:
    words: list[set[str]] = []
    texts: list[str] = []
    places: list[Path] = []
    for index, criterion in enumerate(criteria):
        key, text = _key_and_text(criterion)
        if not text:
            continue
        where: Path = (*path, index, key) if key else (*path, index)
        checklist = isinstance(criterion, str) or _GRADED.isdisjoint(criterion)
        words.append(words_of(text))
        for found in _wordings_of_kinds(text, words[-1], checklist=checklist):
            yield Problem(WORDING, where, found.message)
        texts.append(text)
        places.append(where)
    for later, first in repeated(words):
        message = f"“{texts[later].strip()}” checks the same as an earlier criterion: remove one"
        yield Problem(WORDING, places[later], message, first=places[first])


def _key_and_text(criterion: Any) -> tuple[str, str]:
    """Return the key and the text of a criterion; empty if it has none."""
    if isinstance(criterion, str):
        return "", criterion
    for key in ("expected_outcome", "description") if isinstance(criterion, dict) else ():
        if isinstance(text := criterion.get(key), str):
            return key, text
    return "", ""


_GRADED: Final = frozenset({"score_ranges", "levels", "choices"})
_VERBS: Final = (
    "acknowledges|apologi[sz]es|asks|avoids|calculates|cites|clarifies|compares|computes|"
    "concludes|contains|covers|defines|demonstrates|describes|explains|gives|has|"
    "identifies|includes|is|justifies|lists|mentions|offers|promises|"
    "provides|recommends|refers|returns|says|shows|specifies|states|suggests|summari[sz]es|"
    "tells|warns"
)
_NUMBER: Final = r"(?:two|three|four|five|six|\d+)"
FILLERS: Final = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "its"}
    | {"of", "on", "or", "that", "the", "to", "with"}
)


_VAGUE_WORDS: Final = frozenset(
    {"good", "great", "nice", "high-quality", "high", "appropriate", "appropriately", "proper"}
    | {"properly", "adequate", "adequately", "reasonable", "reasonably", "satisfactory", "well"}
    | {"satisfactorily", "suitable", "suitably", "helpful", "helpfully", "useful", "usefully"}
    | {"sufficient", "sufficiently", "well-written", "well-structured", "well-explained"}
    | {"well-done"}
)

KINDS: Final = (
    Kind(
        "compound",
        frozenset({"and", "but", "plus", "as", "while", "and/or", ";"}),
        lambda: re.compile(
            rf"\b(?:and|but|plus|as well as|while) (?:also |then )?(?:{_VERBS})\b|\band/or\b|"
            r"[^&\w]\w+; ",
            re.IGNORECASE,
        ),
        "checks a second thing: split it into two criteria",
        clause=lambda: re.compile(r"\b(?:that|which|who|whether|if|when)\b", re.IGNORECASE),
    ),
    Kind(
        "count",
        frozenset({"two", "three", "four", "five", "six", *map(str, range(2, 21))}),
        lambda: re.compile(
            rf"\b(?:at least |any |exactly )?{_NUMBER} (?:out )?of (?:the|these|those|{_NUMBER})\b",
            re.IGNORECASE,
        ),
        "counts: write a criterion for each, or `score_ranges`",
    ),
    Kind(
        "vague",
        _VAGUE_WORDS,
        lambda: re.compile(
            r"\b(?:good|great|nice|high[- ]quality|appropriate(?:ly)?|proper(?:ly)?|"
            r"adequate(?:ly)?|reasonabl[ey]|satisfactor(?:y|ily)|suitabl[ey]|helpful(?:ly)?|"
            r"useful(?:ly)?|sufficient(?:ly)?|well[- ](?:written|structured|done|explained))\b",
            re.IGNORECASE,
        ),
        "is vague: say what the answer must contain",
        unless=lambda: re.compile(r"[:(]|such as|e\.g\.|i\.e\.|for example|that is|\bby \w+ing\b"),
    ),
    Kind(
        "double-negation",
        frozenset({"not", "never", "no", "without", "doesn't", "don't", "cannot"}),
        lambda: re.compile(
            r"\b(?:not|never|without|no|doesn't|don't|cannot) (?:\w+ )?(?:fail(?:s|ing)? to|"
            r"omit(?:s|ting)?|forget(?:s|ting)?|neglect(?:s|ing)?|skip(?:s|ping)?|lack(?:s|ing)?|"
            r"unaware)\b",
            re.IGNORECASE,
        ),
        "negates a negation: say what the answer does",
    ),
    Kind(
        "not-seen",
        frozenset(
            {"ticket", "wiki", "spreadsheet", "jira", "confluence", "slack", "notion", "discussed"}
            | {"agreed", "above", "before", "previous", "earlier"}
        ),
        lambda: re.compile(
            r"\b(?:the (?:ticket|wiki|spreadsheet)|"
            r"(?:in|on|from|see) (?:jira|confluence|slack|notion)|"
            r"as (?:we )?(?:discussed|agreed)|(?:as|see) above|same as (?:above|before)|"
            r"(?:previous|earlier) (?:case|criterion|test)|(?:case|criterion) above)\b",
            re.IGNORECASE,
        ),
        "is not shown to the judge: write what it says",
    ),
    Kind(
        "degree",
        frozenset({"how", "extent", "degree", "rate", "score", "scale"}),
        lambda: re.compile(
            r"\b(?:how (?:well|clearly|completely|good)|to (?:what|which) extent|"
            r"the degree to which|"
            r"on a scale|rate (?:the|how)|score (?:the|how|from))\b",
            re.IGNORECASE,
        ),
        "asks for a degree: use `score_ranges` or `levels`",
        checklist=True,
    ),
)
_TRIGGERS: Final = frozenset[str]().union(*(kind.words for kind in KINDS))
