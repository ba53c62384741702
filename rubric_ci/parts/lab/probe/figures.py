"""Figures of each criterion from the marks of variants: two shares, and one word."""

from collections.abc import Iterator, Sequence
from math import fsum, sqrt
from typing import Final, Literal, TypeAlias

from rubric_ci.text.p_values_and_intervals import Z, t_quantile
from rubric_ci.values.dataclass import dataclass

Word: TypeAlias = Literal[
    "sound",
    "never-fails",
    "misses-some",
    "jumpy",
    "untested",
]
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
    """The figures of the examined criteria."""

    criteria: tuple[CriterionFigures, ...]
    mutations: tuple[Mutation, ...]  # of all criteria
    answers: int
    variants: int
    not_judged: int  # answers and variants without a judgement


def figures(
    mutations: Sequence[Mutation],
) -> tuple[Share, Share, Word]:
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


def families(mutations: Sequence[Mutation]) -> Iterator[tuple[str, Share]]:
    """Yield the share of each family, in the order of their first variant."""
    for name in dict.fromkeys(each.family for each in mutations):
        yield name, _share([each for each in mutations if each.family == name])
