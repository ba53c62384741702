"""Mutants of a prompt: one of its rules deleted, inverted or weakened; and a test that ends early.

A rule is a sentence or a list item that demands something. Mutants are made by rules of English.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, comb, log
from typing import Final, Literal, TypeAlias
from zlib import crc32

from rubric_ci.parts.lab.probe.passages import Span, replaced
from rubric_ci.values.config import PromptTemplate
from rubric_ci.values.dataclass import dataclass

Kind: TypeAlias = Literal["deleted", "inverted", "weakened"]
Outcome: TypeAlias = Literal["noticed", "survived", "undecided", "no verdict"]

STEADY: Final = 0.1  # share of failed answers of a case that nothing has changed
BROKEN: Final = 0.5  # share of failed answers of a case that notices
FALSE_NOTICE: Final = 0.05  # probability that a mutant without an effect counts as noticed, at most
FURTHER: Final = 10  # answers to the prompt itself more than to a mutant that seems to be noticed
MISSED: Final = 0.1  # probability that a mutant that breaks a case survives, at most
MOST: Final = 20  # answers per case and mutant; a case without a decision then has none


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A prompt with one changed rule."""

    line: int  # of the rule in the prompt file; 1 if it is not found there
    kind: Kind
    rule: str
    text: str  # in its place; empty: it is deleted
    prompt: PromptTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The answers of one case to one prompt."""

    failed: int = 0
    passed: int = 0
    reason: str = ""  # why an answer has no verdict; then there are no more

    def decision(self, cases: int) -> Outcome:
        """Return the decision of Wald's sequential test; `cases` share the false notices."""
        if self.reason:
            return "no verdict"
        false = FALSE_NOTICE / cases
        evidence = self.failed * log(BROKEN / STEADY) + self.passed * _PER_PASS
        if evidence >= log((1 - MISSED) / false):
            return "noticed"
        return "survived" if evidence <= log(MISSED / (1 - false)) else "undecided"

    def is_open(self, cases: int) -> bool:
        """Return True if another answer can decide."""
        return self.decision(cases) == "undecided" and self.answers < MOST

    @property
    def answers(self) -> int:
        """The number of answers with a verdict."""
        return self.failed + self.passed

    def against(self, itself: "Tally", cases: int) -> Outcome:
        """Return the decision of a case that seems to notice, with answers to the prompt itself.

        Few answers cannot show that a case fails at most `STEADY` of them. So it must fail more
        often than with the prompt itself, by Fisher's exact test.
        """
        if itself.reason:
            return "no verdict"
        p_value = fails_more_often(self, itself)
        return "noticed" if p_value <= FALSE_NOTICE / cases else "undecided"


def fails_more_often(one: Tally, other: Tally) -> float:
    """Return the one-sided p-value of Fisher's exact test that `one` fails no more often."""
    failed, every = one.failed + other.failed, one.answers + other.answers
    ways = (
        comb(one.answers, k) * comb(other.answers, failed - k)
        for k in range(one.failed, min(failed, one.answers) + 1)
    )
    return sum(ways) / comb(every, failed)


_PER_PASS: Final = log((1 - BROKEN) / (1 - STEADY))
FEWEST: Final = ceil(log(MISSED) / _PER_PASS)
"""Answers of a case, all passing, after which it does not notice."""


def outcome(decisions: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a mutant: it is noticed by one case, and survives all of them."""
    order: tuple[Outcome, ...] = ("noticed", "no verdict", "undecided")
    return next((each for each in order if each in decisions), "survived")


def mutants(prompt: PromptTemplate, file: str, base: str) -> tuple[Mutant, ...]:
    """Return the mutants of a prompt, in an order by chance that depends on the rules only.

    `file` is the text of its file; rules that the text `base` has as well are left out.
    """
    found: dict[tuple[tuple[str, str], ...], Mutant] = {}
    known = " ".join(base.split())
    for index, (_, template) in enumerate(prompt.messages):
        for unit in _rules(template):
            rule = _MARKER.sub("", unit.of(template))
            if " ".join(rule.split()) in known:
                continue
            for kind, text in _changes(rule):
                whole = unit.of(template).replace(rule, text) if text else ""
                messages = list(prompt.messages)
                messages[index] = (messages[index][0], replaced(template, {unit: whole}))
                if not messages[index][1]:
                    continue
                mutant = Mutant(
                    line=_line(rule, file),
                    kind=kind,
                    rule=" ".join(rule.split()),
                    text=" ".join(text.split()),
                    prompt=replace(prompt, messages=tuple(messages)),
                )
                found.setdefault(mutant.prompt.messages, mutant)
    return tuple(sorted(found.values(), key=_chance))


def _chance(mutant: Mutant) -> tuple[int, int]:
    # All deleted rules come first: a cap should leave out the other kinds of a rule.
    kinds: tuple[Kind, ...] = ("deleted", "inverted", "weakened")
    return kinds.index(mutant.kind), crc32(mutant.rule.encode())


def _rules(text: str) -> Iterator[Span]:
    """Yield the list items and sentences that demand something, with the marker of the item."""
    start = 0
    for end in [*(match.start() for match in _BREAK.finditer(text)), len(text)]:
        part = text[start:end]
        if stripped := part.strip():
            begin = start + part.index(stripped[0])
            if _DEMAND.match(_MARKER.sub("", stripped)) and not _TEMPLATE.search(stripped):
                yield Span(begin, begin + len(stripped))
        start = end


def _changes(rule: str) -> Iterator[tuple[Kind, str]]:
    yield "deleted", ""
    for word, inverted, weakened in _WORDS:
        if match := word.search(rule):
            before, after = rule[: match.start()], rule[match.end() :]
            yield "inverted", _first_upper(before + inverted + after)
            yield "weakened", _first_upper(before + weakened + after)
            return
    lower = f"{rule[:1].lower()}{rule[1:]}"
    yield "inverted", f"Do not {lower}"
    yield "weakened", f"If it is convenient, {lower}"


def _first_upper(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _line(rule: str, file: str) -> int:
    place = file.find(rule.splitlines()[0])
    return 1 if place < 0 else file.count("\n", 0, place) + 1


_BREAK: Final = re.compile(
    r"\n(?=[^\S\n]*(?:\n|[-*+] |\d{1,3}[.)] |#))|(?<=[.!?])(?<!\d\.)(?=\s)|(?<=[^\n])(?=\n\n)"
)
_MARKER: Final = re.compile(r"^(?:[-*+]|\d{1,3}[.)]) +")
_TEMPLATE: Final = re.compile(r"\{[{%#]|```")
_DEMAND: Final = re.compile(
    r"(?:answer|apolog|ask|avoid|be |begin|cite|confirm|decline|describe|do |don['\u2019]t|end |"
    r"ensure|escalate|explain|follow|format|give|greet|if |ignore|include|keep|limit|list|make |"
    r"mention|name |offer|only|point |prefer|provide|quote|refer|refuse|reject|reply|respond|"
    r"return|say |send|show|speak|start|state|stay|stick|suggest|summar|tell|thank|translate|use |"
    r"verify|wait|warn|write|never|always|no |not )|"
    r".{0,200}\b(?:must|never|always|should|only|may not|cannot|do not|don['\u2019]t)\b",
    re.IGNORECASE | re.DOTALL,
)
_WORDS: Final = tuple(
    (re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE), inverted, weakened)
    for words, inverted, weakened in (
        ("must not|must never|may not|cannot", "must", "should rather not"),
        (r"do not|don['\u2019]t", "do", "try not to"),
        ("should not|should never", "should", "need not"),
        ("never", "always", "rarely"),
        ("always", "never", "sometimes"),
        ("must", "must not", "may"),
        ("should", "should not", "could"),
        ("only", "not only", "mostly"),
        ("avoid", "prefer", "try to avoid"),
        ("no", "any", "little"),
        ("at most", "at least", "about"),
        ("at least", "at most", "about"),
    )
)
"""A word of a rule with its opposite and a weaker one; the first that a rule has counts."""
