"""Coverage of the interval of κ for several answers of a case.

The person marks them alike and the judge errs on them alike with a correlation; the true κ is the κ
of the table that a single answer is drawn from.
"""

import argparse
from dataclasses import dataclass
from random import Random

from rubric_ci.parts.lab.agreement import Cell, Pair, interval, kappa


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Cases with several labelled answers each."""

    cases: int
    answers: int  # of each case
    alike: float  # probability that an answer has the marks of its case


CLUSTERS = tuple(
    Clusters(cases=cases, answers=answers, alike=0.8)
    for cases in (20, 40)
    for answers in (2, 3, 4, 5)
)
SINGLE = ((1.0, 1.0, 0.6), (1.0, 0.0, 0.1), (0.0, 1.0, 0.1), (0.0, 0.0, 0.2))
SINGLE_KAPPA = 1 - 0.2 / (2 * 0.7 * 0.3)


def covered(clusters: Clusters, repeats: int, draws: int = 300) -> tuple[float, float]:
    """Return the share of intervals that contain the true κ, and the mean κ that is shown."""
    random = Random(repr(clusters))
    inside, shown = 0, 0.0
    for _ in range(repeats):
        pairs = drawn(clusters, random)
        low, high = interval(pairs, lambda shape: random.gammavariate(shape, 1.0), draws) or (0, 0)
        inside += low <= SINGLE_KAPPA <= high
        shown += kappa(pairs) or 0.0
    return inside / repeats, shown / repeats


def drawn(clusters: Clusters, random: Random) -> list[Pair]:
    pairs = []
    for case in range(clusters.cases):
        usual = _single(random)
        for answer in range(clusters.answers):
            cell = usual if random.random() < clusters.alike else _single(random)
            name = f"{case}/{answer}"
            pairs.append(
                Pair(criterion="c", kind="checklist", answer=name, case=f"{case}", cell=cell)
            )
    return pairs


def _single(random: Random) -> Cell:
    cells = [(a, b) for a, b, _ in SINGLE]
    return random.choices(cells, [share for *_, share in SINGLE])[0]


def main() -> None:
    """Print the table of the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=400, help="per row")
    repeats = parser.parse_args().repeats
    print("| cases | answers of each | true kappa | shown | covers |")
    print("|--:|--:|--:|--:|--:|")
    for clusters in CLUSTERS:
        covers, shown = covered(clusters, repeats)
        print(
            f"| {clusters.cases} | {clusters.answers} | {SINGLE_KAPPA:.3f} | {shown:.3f} "
            f"| {covers:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
