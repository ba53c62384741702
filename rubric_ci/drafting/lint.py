"""Warnings about drafted criteria in English: compound, vague, duplicate or copied."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from rubric_ci.model.evals import EvalCase
from rubric_ci.model.rubric import Criterion, Rubric

ALIKE = 0.75  # share of common content words from which two criteria are duplicates
COPIED_RUN = 7  # words in a row that are not shared with the reference by chance

_VERBS = (
    "acknowledges|apologi[sz]es|asks|avoids|calculates|cites|clarifies|compares|computes|"
    "concludes|contains|covers|defines|demonstrates|describes|does|explains|gives|handles|has|"
    "identifies|includes|is|justifies|links|lists|mentions|names|notes|offers|points|promises|"
    "provides|quotes|recommends|refers|returns|says|shows|specifies|states|suggests|summari[sz]es|"
    "tells|uses|warns"
)
_COMPOUND = re.compile(
    rf"\b(?:and|but|plus|as well as|while)\s+(?:also\s+|then\s+)?(?:{_VERBS})\b"
    r"|\band/or\b|;\s|(?<!\be\.g)(?<!\bi\.e)[.!?](?=\s+\S)",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(?:good|great|nice|high[- ]quality|quality|appropriate(?:ly)?|proper(?:ly)?|"
    r"adequate(?:ly)?|reasonable|reasonably|satisfactor(?:y|ily)|suitabl[ey]|helpful(?:ly)?|useful(?:ly)?|"
    r"well[- ](?:written|structured|done|explained)|sufficient(?:ly)?|overall)\b",
    re.IGNORECASE,
)
_FILLERS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "its"}
    | {"of", "on", "or", "that", "the", "to", "with"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintWarning:
    """A warning about one criterion, for the person who reviews the draft."""

    criterion: str  # its id
    rule: str  # kebab-case, as of diagnostics
    message: str


def lint(rubric: Rubric, case: EvalCase) -> tuple[LintWarning, ...]:
    """Return the warnings about a draft for this case."""
    single = (warning for c in rubric for warning in (*_wording(c), *_copied(c, case)))
    return (*single, *_alike(rubric.criteria))


def lint_messages(rubric: Rubric, case: EvalCase) -> tuple[str, ...]:
    """Return the same warnings as text, one line each."""
    return tuple(f"{w.criterion}: {w.rule}: {w.message}" for w in lint(rubric, case))


def _wording(criterion: Criterion) -> Iterator[LintWarning]:
    found = _COMPOUND.search(criterion.text)
    if found:
        message = f"checks more than one thing (“{_shown(found)}”): split it into two criteria"
        yield LintWarning(criterion=criterion.id, rule="draft-compound", message=message)
    found = _VAGUE.search(criterion.text)
    if found:
        message = f"“{_shown(found)}” is vague: say what the answer must contain"
        yield LintWarning(criterion=criterion.id, rule="draft-vague", message=message)


def _copied(criterion: Criterion, case: EvalCase) -> Iterator[LintWarning]:
    words = _words(criterion.text)
    if _runs(words) & _runs(_words(case.reference_answer)):
        yield LintWarning(
            criterion=criterion.id,
            rule="draft-restates",
            message="repeats the reference answer word for word; "
            "a good answer in other words would fail",
        )
    if _likeness(words, _words(case.expected_outcome)) >= ALIKE:
        yield LintWarning(
            criterion=criterion.id,
            rule="draft-restates",
            message="repeats the whole expected outcome: split it into parts that can be checked",
        )


def _alike(criteria: Sequence[Criterion]) -> Iterator[LintWarning]:
    for one, other in combinations(criteria, 2):
        if _likeness(_words(one.text), _words(other.text)) >= ALIKE:
            message = f"checks the same as `{one.id}`: remove one of them"
            yield LintWarning(criterion=other.id, rule="draft-duplicate", message=message)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[n : n + COPIED_RUN]) for n in range(len(words) - COPIED_RUN + 1)}


def _likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of content words that both have; 0 where one has none."""
    left, right = set(one) - _FILLERS, set(other) - _FILLERS
    return len(left & right) / len(left | right) if left and right else 0.0


def _shown(found: re.Match[str]) -> str:
    return found.group().strip()
