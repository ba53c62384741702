"""How often the interval of κ that `judge calibrate` shows contains the true κ.

Person and judge are drawn from a table with a known κ, and the interval is computed by rubric-ci's
own code, with fewer draws than `judge calibrate` takes.
"""

import argparse
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from rubric_ci.parts.lab.agreement import Cell, Pair, interval, kappa

ANSWERS = (20, 50, 100)
PREVALENCES = (0.5, 0.8, 0.95)  # share of "satisfied", of the person and of the judge
KAPPAS = (0.0, 0.4, 0.6, 0.8)
POPULATION = 100_000  # marks that the true κ of scores is computed from

Table = list[tuple[Cell, float]]
"""Cells and their cumulative shares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Criteria with a known agreement, and the answers that are labelled."""

    name: str
    kind: str
    tables: Sequence[Table]
    truth: float
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Shares of intervals: with the true κ, and of those without it, on which side it is."""

    inside: float
    below: float  # the true κ is below the interval: the judge is rated too high


def check(prevalence: float, agreement: float) -> Table:
    """Return the table of a checklist criterion."""
    differ = prevalence * (1 - prevalence) * (1 - agreement)
    cells = [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)]
    return cumulative(cells, [prevalence - differ, differ, differ, 1 - prevalence - differ])


def scores(mean: float, spread: float, noise: float, random: Random) -> tuple[Table, float]:
    """Return the table of a 0..10 score, and its κ: the judge is the person with noise."""
    counts: dict[Cell, int] = {}
    for _ in range(POPULATION):
        quality = random.gauss(mean, spread)
        cell = (mark(quality), mark(quality + random.gauss(0, noise)))
        counts[cell] = counts.get(cell, 0) + 1
    pairs = [
        Pair(criterion="s", kind="score-range", answer="", case="", cell=cell)
        for cell, count in counts.items()
        for _ in range(count)
    ]
    shares = [count / POPULATION for count in counts.values()]
    return cumulative(list(counts), shares), kappa(pairs) or 0.0


def mark(quality: float) -> float:
    return min(10, max(0, round(quality))) / 10


def cumulative(cells: Sequence[Cell], shares: Sequence[float]) -> Table:
    return list(zip(cells, accumulate(shares), strict=True))


def settings(random: Random) -> Iterator[Setting]:
    """Yield the grid, then several criteria, then scores."""
    for answers in ANSWERS:
        for prevalence in PREVALENCES:
            for k in KAPPAS:
                name = f"1 check, {prevalence:.0%} satisfied"
                table = check(prevalence, k)
                yield Setting(name=name, kind="checklist", tables=[table], truth=k, answers=answers)
    for count, answers in ((2, 20), (5, 20), (5, 5), (20, 5), (20, 20)):
        tables = [check(0.5 + 0.45 * n / (count - 1), 0.7) for n in range(count)]
        name = f"{count} checks, 50 to 95% satisfied"
        yield Setting(name=name, kind="checklist", tables=tables, truth=0.7, answers=answers)
    for mean, spread, noise in ((5, 2.5, 1.0), (8, 1.5, 0.7), (8, 1.5, 2.0)):
        table, truth = scores(mean, spread, noise, random)
        for answers in ANSWERS:
            name = f"1 score, mean {mean}"
            yield Setting(
                name=name, kind="score-range", tables=[table], truth=truth, answers=answers
            )


def coverage(setting: Setting, random: Random, repeats: int, draws: int) -> Coverage:
    """Draw labels again and again, and count the intervals that contain the true κ."""
    inside = below = 0
    for _ in range(repeats):
        pairs = list(drawn(setting, random))
        found = interval(pairs, lambda shape: random.gammavariate(shape, 1.0), draws)
        inside += found is not None and found[0] <= setting.truth <= found[1]
        below += found is not None and setting.truth < found[0]
    return Coverage(inside=inside / repeats, below=below / repeats)


def drawn(setting: Setting, random: Random) -> Iterator[Pair]:
    for criterion, table in enumerate(setting.tables):
        shares = [share for _, share in table]
        for answer in range(setting.answers):
            place = min(bisect(shares, random.random()), len(table) - 1)
            yield Pair(
                criterion=str(criterion),
                kind=setting.kind,
                answer=str(answer),
                case=str(answer),
                cell=table[place][0],
            )


def main() -> None:
    """Print the table of the README."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--draws", type=int, default=400)
    given = parser.parse_args()
    random = Random(15)
    print("| marks | answers | true kappa | coverage | true kappa below |")
    print("|---|---|---|---|---|")
    for setting in settings(random):
        found = coverage(setting, random, given.repeats, given.draws)
        print(
            f"| {setting.name} | {setting.answers} | {setting.truth:.2f} | {found.inside:.3f} "
            f"| {found.below:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
