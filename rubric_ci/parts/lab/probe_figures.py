"""Figures of each criterion from the marks of variants: two shares and one word, and their output.

The output is text, `probe.json`, and one diagnostic per finding.
"""

import json
from collections.abc import Iterator, Sequence
from math import fsum, sqrt
from typing import Final, Literal, TypeAlias

from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.text.p_values_and_intervals import Z, t_quantile
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Diagnostic, Severity, Span

Word: TypeAlias = Literal["sound", "never-fails", "misses-some", "jumpy", "untested"]
"""The property of a criterion that its marks of the variants show, of the worst kind."""

LEAST: Final = 3  # variants from which a share says something
CLEAR: Final = 0.9  # share of the variants, which are noticed or not
JUMPY: Final = 0.2  # share of harmless variants, at least two, whose mark changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One variant, and whether one criterion marked it as it should."""

    case: str
    family: str
    change: str  # in words
    must_notice: bool  # False: the mark must stay
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """How many of some variants were marked as they should be, with a 95 % interval."""

    hit: int
    of: int
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionFigures:
    """One criterion of an eval file and its two shares; never one of them alone."""

    file: str
    line: int
    case: str  # empty: several cases have this criterion
    id: str
    text: str
    required: bool
    noticed: Share
    unmoved: Share
    word: Word
    missed: tuple[Mutation, ...]  # variants that were marked wrongly
    untested: str = ""  # why no variant had to be noticed


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    criteria: tuple[CriterionFigures, ...]
    mutations: tuple[Mutation, ...]  # of all criteria
    answers: int
    variants: int
    not_judged: int  # answers and variants without a judgement


def figures(mutations: Sequence[Mutation]) -> tuple[Share, Share, Word]:
    """Return the shares of noticed and of unmoved variants, and the word for both."""
    noticed = [each for each in mutations if each.must_notice]
    harmless = [each for each in mutations if not each.must_notice]
    return _share(noticed), _share(harmless), word(noticed, harmless)


def word(noticed: Sequence[Mutation], harmless: Sequence[Mutation]) -> Word:
    """Return the word for the marks of a criterion, or of a whole suite."""
    moved = sum(not each.right for each in harmless)
    if moved >= 2 and moved >= JUMPY * len(harmless):
        return "jumpy"
    if len(noticed) < LEAST:
        return "untested"
    found, clear = sum(each.right for each in noticed), CLEAR * len(noticed)
    if found >= clear:
        return "sound"
    return "never-fails" if len(noticed) - found >= clear else "misses-some"


def _share(mutations: Sequence[Mutation]) -> Share:
    by_case: dict[str, list[float]] = {}
    for each in mutations:
        by_case.setdefault(each.case, []).append(float(each.right))
    if not mutations:
        return Share(hit=0, of=0, low=0.0, high=1.0)
    # The variants of one answer are all there is of it; several answers are a sample of answers.
    groups = list(by_case.values())
    clusters = groups if len(groups) > 1 else [[value] for value in groups[0]]
    low, high = share_interval(clusters)
    return Share(hit=sum(each.right for each in mutations), of=len(mutations), low=low, high=high)


def share_interval(clusters: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the Wilson score interval of a share of 0/1 values.

    (p + z²/2n ± z √(p (1 - p) / n + z²/4n²)) / (1 + z²/n) (Wilson, "Probable Inference", Journal of
    the American Statistical Association 22, 1927). With clusters, n is divided by the design
    effect, the variance between clusters over the variance of independent cases (Kish, Survey
    Sampling, 1965); where all values are equal it is unknown, and n is the number of clusters. A
    few clusters measure that variance roughly, so that z is Student's t over clusters.
    """
    k, values = len(clusters), [value for cluster in clusters for value in cluster]
    p = fsum(values) / len(values)
    n = _effective(clusters, p)
    z = Z if k == len(values) else t_quantile(max(1, k - 1))
    middle, scale = p + z * z / (2 * n), 1 + z * z / n
    reach = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (middle - reach) / scale, (middle + reach) / scale
    return min(p, round(max(0.0, low), 4)), max(p, round(min(1.0, high), 4))


def _effective(clusters: Sequence[Sequence[float]], p: float) -> float:
    """Return the number of independent cases that are worth as much."""
    k, n = len(clusters), sum(map(len, clusters))
    if k == n:
        return n
    if k == 1 or p in {0.0, 1.0}:
        return k
    between = k / (k - 1) * fsum(fsum(v - p for v in each) ** 2 for each in clusters) / n**2
    return n / max(1.0, between / (p * (1 - p) / n))


def families(mutations: Sequence[Mutation]) -> Iterator[tuple[str, bool, Share]]:
    """Yield each family, whether it must be noticed, and its share; those that must come first."""
    kinds = dict.fromkeys((each.family, each.must_notice) for each in mutations)
    for name, must in sorted(kinds, key=lambda kind: not kind[1]):
        own = [each for each in mutations if (each.family, each.must_notice) == (name, must)]
        yield name, must, _share(own)


VERSION: Final = 1
SHOWN: Final = 3  # wrongly marked variants per criterion

MEANINGS: Final[dict[Word, str]] = {
    "sound": "it notices what its quotes lose, and nothing else",
    "never-fails": "no variant failed it, not even without the text that it quotes",
    "misses-some": "some variants without the quoted text pass",
    "jumpy": "its mark changes where only the form of the answer does",
    "untested": "too few variants had to be noticed",
}
FINDINGS: Final[frozenset[Word]] = frozenset(MEANINGS) - {"sound", "untested"}


def as_text(found: Measured) -> str:
    """Return the criteria with their wrongly marked variants, and the families that have some."""
    return "\n".join(_lines(found))


def to_json(found: Measured, judge: str) -> str:
    noticed, unmoved, word = figures(found.mutations)
    data = {
        "version": VERSION,
        "judge": judge,
        "answers": found.answers,
        "variants": found.variants,
        "not_judged": found.not_judged,
        "criteria": [_criterion(each) for each in found.criteria],
        "families": [
            {"family": name, "must_notice": must, "right": _numbers(share)}
            for name, must, share in families(found.mutations)
        ],
        "all": {"noticed": _numbers(noticed), "unmoved": _numbers(unmoved), "word": word},
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def findings(found: Measured) -> tuple[Diagnostic, ...]:
    """Return a warning per criterion with a fault, at its line."""
    return tuple(_diagnostic(each) for each in found.criteria if each.word in FINDINGS)


def _lines(found: Measured) -> Iterator[str]:
    for each in found.criteria:
        name = f"{each.case}/{each.id}" if each.case else each.id
        yield log_line(f"{each.file}:{each.line}: {name}: {_words(each.word)}")
        if each.noticed.of:
            yield f"  noticed {_in_words(each.noticed)}, unmoved {_in_words(each.unmoved)}"
        if each.untested:
            yield f"  no variant to notice: {each.untested}"
        for missed in each.missed[:SHOWN]:
            what = "still passes" if missed.must_notice else "the mark changed"
            yield f"  {what}: {missed.family}: {log_line(missed.change)}"
        if more := len(each.missed[SHOWN:]):
            yield f"  and {more} more in probe.json"
    yield from _table(found.mutations)
    yield ""
    yield _summary(found)


def _table(mutations: Sequence[Mutation]) -> Iterator[str]:
    rows = [
        (name, "noticed" if must else "unmoved", _in_words(share))
        for name, must, share in families(mutations)
        if share.hit < share.of
    ]
    if rows:
        yield ""
    width = max((len(name) for name, _, _ in rows), default=0)
    for name, kind, share in rows:
        yield f"{name.ljust(width)}  {kind} {share}"


def _summary(found: Measured) -> str:
    counts = {word: sum(each.word == word for each in found.criteria) for word in MEANINGS}
    shown = ", ".join(f"{count} {_words(word)}" for word, count in counts.items() if count)
    overall = figures(found.mutations)[2]
    judge = "" if overall in {"sound", "untested"} else f"; all together: {_words(overall)}"
    return f"{numbers.plural(len(found.criteria), 'criterion', 'criteria')}: {shown}{judge}"


def _diagnostic(each: CriterionFigures) -> Diagnostic:
    example = next((m for m in each.missed if m.must_notice == (each.word != "jumpy")), None)
    shown = f"; for example {example.family}: {example.change}" if example else ""
    return Diagnostic(
        rule=each.word,
        severity=Severity.WARNING,
        file=each.file,
        span=Span(each.line, 1, each.line, 2),
        message=f"`{each.id}`: {MEANINGS[each.word]} (noticed {_in_words(each.noticed)}, unmoved "
        f"{_in_words(each.unmoved)}){shown}",
        hint="see docs/calibration.md for each word, and good-rubrics.md for better criteria",
    )


def _criterion(each: CriterionFigures) -> dict[str, object]:
    return {
        "file": each.file,
        "line": each.line,
        "case": each.case,
        "id": each.id,
        "text": each.text,
        "required": each.required,
        "noticed": _numbers(each.noticed),
        "unmoved": _numbers(each.unmoved),
        "word": each.word,
        "untested": each.untested,
        "wrong": [
            {"case": m.case, "family": m.family, "change": m.change, "must_notice": m.must_notice}
            for m in each.missed
        ],
    }


def _numbers(share: Share) -> list[float]:
    return [share.hit, share.of, share.low, share.high]


def _in_words(share: Share) -> str:
    return f"{share.hit} of {share.of}"


def _words(word: Word) -> str:
    return word.replace("-", " ")
