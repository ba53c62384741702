"""Inter-rater agreement: accuracy, κ with a confidence interval, rates, leniency.

κ is Cohen's, with chance counted within each criterion: 1 - observed / expected disagreement, both
summed over the criteria. Two marks disagree by the square of the distance between their normalised
values: for satisfied or not that is Cohen's κ, for scores and levels κ with quadratic weights.
`cannot_assess` disagrees fully with every other mark, and so does each choice, which makes κ of
choices the one without weights.

The answers of a case are a cluster: they are drawn together in the interval.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from math import fsum
from typing import TypeAlias

from rubric_ci.text.p_values_and_intervals import SIGNIFICANT
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.rubric import Check, Chosen, Judged, Mark
from rubric_ci.values.scoring import CANNOT_ASSESS, NOT_APPLICABLE, MarkValue

Position: TypeAlias = float | str | None
"""A mark on its criterion's scale, 0..1; a choice, which has no order; None: `cannot_assess`."""

Cell: TypeAlias = tuple[Position, Position]
"""The marks of two raters."""

DrawGamma: TypeAlias = Callable[[float], float]
"""Given a shape above 0, draw from the gamma distribution. The caller sets the seed."""

DRAWS = 2000
CHECK_PRIOR = 0.5  # answers per cell of a checklist criterion
SCALE_PRIOR = 0.25  # answers in all cells of a score or level together


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two raters' marks of one criterion of one answer."""

    criterion: str  # chance is counted within it
    kind: str
    answer: str
    case: str  # marks of the same case are not independent
    cell: Cell


_Pattern: TypeAlias = tuple[int, ...]
"""The places of the cells of a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """Cells and the distances of their marks, which are the same in every draw."""

    marks: int
    cells: Sequence[tuple[int, int]]  # numbers of marks
    distances: Sequence[float]  # of the marks of each cell
    apart: Sequence[tuple[int, int, float]]  # two different marks and their distance, for chance


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """The cells of one criterion, in their places in a list of weights."""

    places: slice
    grid: _Grid
    cases: float  # effective number
    size: float  # the cases and the prior counts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    """The cells of all criteria, their prior counts, and which cases fall into which cells."""

    tables: Sequence[_Table]
    prior: Sequence[float]
    patterns: Mapping[_Pattern, int]  # of a case -> number of such cases
    scale: float  # weight of a mark


def kappa(pairs: Sequence[Pair]) -> float | None:
    """Return κ of all pairs; None if no disagreement is expected."""
    sums = [
        _disagreement(_grid([p.cell for p in group]), [1.0] * len(group))
        for group in by_criterion(pairs)
    ]
    expected = fsum(chance for _, chance in sums)
    return 1 - fsum(observed for observed, _ in sums) / expected if expected > 0 else None


def interval(
    pairs: Sequence[Pair], draw: DrawGamma, draws: int = DRAWS
) -> tuple[float, float] | None:
    """Return the 95 % interval of κ; None if only one mark of a scale occurs.

    Each draw weighs every case with Gamma(1) and every cell with Gamma(prior count): for one
    checklist criterion with one answer a case these are Dirichlet(count + 1/2) draws of the table.
    """
    tables = _tables(pairs)
    if all(len(table.grid.cells) == 1 for table in tables.tables):
        return None
    values = sorted(_one_draw(tables, draw) for _ in range(draws))
    return _quantile(values, SIGNIFICANT / 2), _quantile(values, 1 - SIGNIFICANT / 2)


def by_criterion(pairs: Sequence[Pair]) -> list[list[Pair]]:
    groups: dict[str, list[Pair]] = {}
    for each in pairs:
        groups.setdefault(each.criterion, []).append(each)
    return list(groups.values())


def _grid(cells: Sequence[Cell]) -> _Grid:
    numbers = {mark: n for n, mark in enumerate(dict.fromkeys(m for cell in cells for m in cell))}
    return _Grid(
        marks=len(numbers),
        cells=[(numbers[a], numbers[b]) for a, b in cells],
        distances=[_distance(a, b) for a, b in cells],
        apart=[(numbers[a], numbers[b], _distance(a, b)) for a, b in permutations(numbers, 2)],
    )


def _disagreement(grid: _Grid, weights: Sequence[float]) -> tuple[float, float]:
    """Return the observed and the expected disagreement of weighted cells, as sums."""
    first, second = [0.0] * grid.marks, [0.0] * grid.marks
    for (a, b), weight in zip(grid.cells, weights, strict=True):
        first[a] += weight
        second[b] += weight
    observed = fsum([n * distance for n, distance in zip(weights, grid.distances, strict=True)])
    products = fsum([first[a] * second[b] * distance for a, b, distance in grid.apart])
    return observed, products / fsum(weights)


def _distance(a: Position, b: Position) -> float:
    if isinstance(a, float) and isinstance(b, float):
        return (a - b) ** 2
    return 0.0 if a == b else 1.0


def _tables(pairs: Sequence[Pair]) -> _Tables:
    groups = by_criterion(pairs)
    prior: list[float] = []
    tables: list[_Table] = []
    places: dict[tuple[str, Cell], int] = {}
    for group in groups:
        start = len(prior)
        counts = _prior_counts(group)
        places |= {(group[0].criterion, cell): start + n for n, cell in enumerate(counts)}
        # The prior is shared by the criteria: it must not outweigh many of few answers.
        prior += [count / len(groups) for count in counts.values()]
        cases = _effective_cases(group)
        tables.append(
            _Table(
                places=slice(start, len(prior)),
                grid=_grid([*counts]),
                cases=cases,
                size=cases + fsum(prior[start:]),
            )
        )
    # The weights of a criterion sum to its effective cases, which the prior counts are added to.
    scale = fsum(table.cases for table in tables) / len(pairs)
    cells: dict[str, list[int]] = {}
    for each in pairs:
        cells.setdefault(each.case, []).append(places[each.criterion, each.cell])
    patterns = Counter(tuple(sorted(found)) for found in cells.values())
    return _Tables(tables=tables, prior=prior, patterns=patterns, scale=scale)


def _effective_cases(group: Sequence[Pair]) -> float:
    """Return (Σ n)² / Σ n² of the answers of each case (Kish, Survey Sampling, 1965)."""
    answers = Counter(each.case for each in group)
    return len(group) ** 2 / sum(n**2 for n in answers.values())


def _prior_counts(group: Sequence[Pair]) -> dict[Cell, float]:
    marks = Counter(position for p in group for position in p.cell)
    if group[0].kind == Check.kind:
        possible = dict.fromkeys((0.0, 1.0, *marks))
        return {(a, b): CHECK_PRIOR for a in possible for b in possible}
    n = marks.total()
    return {
        (a, b): SCALE_PRIOR * times * others / n**2
        for a, times in marks.items()
        for b, others in marks.items()
    }


def _one_draw(tables: _Tables, draw: DrawGamma) -> float:
    weights = [draw(count) for count in tables.prior]
    for pattern, cases in tables.patterns.items():
        drawn = draw(cases)
        for place in pattern:
            weights[place] += drawn * tables.scale
    sums = [_drawn_disagreement(table, weights) for table in tables.tables]
    expected = fsum(chance for _, chance in sums)
    observed = fsum(seen for seen, _ in sums)
    return max(-1.0, 1 - observed / expected) if expected > 0 else -1.0


def _drawn_disagreement(table: _Table, weights: Sequence[float]) -> tuple[float, float]:
    observed, expected = _disagreement(table.grid, weights[table.places])
    # Pairs of a case with itself are in the expected disagreement with a share of
    # 2 / (n + 1); without this correction, criteria with few cases lower κ.
    n = table.size
    if table.cases > 1:
        expected = (expected - 2 / (n + 1) * observed) * (n + 1) / (n - 1)
    return observed, expected


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Interpolate linearly between the two nearest values."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def recall(pairs: "Sequence[MarkPair]", *, mark: bool) -> float | None:
    """Return the share of a person's marks that the judge gives as well; None: there are none."""
    given = [p for p in pairs if p.kind == Check.kind and p.reference == mark]
    return sum(p.other == mark for p in given) / len(given) if given else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkPair(Pair):
    reference: MarkValue
    other: MarkValue
    lenience: float = 0.0  # the value of the other mark less the reference's


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement over all pairs; a number that is undefined for them is None."""

    n: int
    accuracy: float  # the share of identical marks
    kappa: float | None  # None: both raters gave the same mark of a criterion everywhere
    interval: tuple[float, float] | None = None  # 95 %, of κ
    sensitivity: float | None  # of the reference's "satisfied"
    specificity: float | None  # of the reference's "not satisfied"
    leniency: float  # mean of other - reference, in -1..1; above 0: the other is more lenient
    lone_criteria: int  # criteria marked in one answer only: they cannot raise κ


def pair(
    criterion: Judged,
    answer: str,
    reference: MarkValue,
    other: MarkValue,
    *,
    name: str = "",
    case: str = "",
) -> MarkPair:
    """Return two marks with their normalised values.

    `name` is unique to the criterion; without `case`, the answer is the only one of its case.
    """
    worth = [criterion.normalise(Mark(value=value)) for value in (reference, other)]
    return MarkPair(
        criterion=name or criterion.id,
        kind=criterion.kind,
        answer=answer,
        case=case or answer,
        cell=(position(criterion, reference), position(criterion, other)),
        reference=reference,
        other=other,
        lenience=worth[1] - worth[0],
    )


def position(criterion: Judged, value: MarkValue) -> Position:
    """Return the normalised value of a mark, a choice itself, or None for `cannot_assess`."""
    if value == CANNOT_ASSESS:
        return None
    if isinstance(criterion, Chosen) or value == NOT_APPLICABLE:
        return str(value)
    return criterion.normalise(Mark(value=value))


def agreement(
    pairs: Sequence[MarkPair], draw: DrawGamma | None = None, draws: int = DRAWS
) -> Agreement:
    """Return the agreement of one or more pairs; without `draw` it has no interval."""
    return Agreement(
        n=len(pairs),
        accuracy=sum(p.reference == p.other for p in pairs) / len(pairs),
        kappa=kappa(pairs),
        interval=interval(pairs, draw, draws) if draw else None,
        sensitivity=recall(pairs, mark=True),
        specificity=recall(pairs, mark=False),
        leniency=fsum(p.lenience for p in pairs) / len(pairs),
        lone_criteria=sum(len({p.answer for p in group}) == 1 for group in by_criterion(pairs)),
    )


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows of a table, the first column on the left and the others on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])))


def mark_text(value: MarkValue, *, fault: bool = False) -> str:
    """Return a mark as reports and label files write it."""
    if isinstance(value, bool):
        yes = "present" if fault else "satisfied"
        return yes if value else f"not {yes}"
    return str(value)
