"""Coverage of the interval of κ for labels that were drawn, and for several answers of a case.

Drawn labels: a suite has answers with checklist criteria, and `judge label --sample` draws
some of the answers that the judge passes and some that it fails. The true κ is over the whole
suite. Several answers of a case: the person marks them alike and the judge errs on them alike with
a correlation; the true κ is the κ of the table that a single answer is drawn from.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from rubric_ci.parts.lab.agreement import Cell, Pair, interval, kappa

CASES = 400  # in the suite that labels are drawn from
MIN_KAPPA = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A suite that labels are drawn from."""

    criteria: int  # of each case; the judge passes an answer that meets all
    met: float  # share of criteria that the person calls satisfied
    hit: float  # share of these that the judge calls satisfied
    miss: float  # share of the others that the judge calls satisfied
    passes: int  # labelled answers that the judge passes
    fails: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """Cases with several labelled answers each."""

    cases: int
    answers: int  # of each case
    alike: float  # probability that an answer has the marks of its case


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Shares of the repetitions, and mean κ."""

    covered: float
    accepted: float  # with a lower end of at least MIN_KAPPA
    shown: float
    truth: float


SUITES = (
    Suite(criteria=1, met=0.9, hit=0.97, miss=0.45, passes=60, fails=60),
    Suite(criteria=1, met=0.8, hit=0.97, miss=0.4, passes=60, fails=60),
    Suite(criteria=1, met=0.9, hit=0.97, miss=0.45, passes=20, fails=20),
    Suite(criteria=3, met=0.95, hit=0.99, miss=0.4, passes=60, fails=60),
    Suite(criteria=3, met=0.9, hit=0.95, miss=0.3, passes=60, fails=20),
)
CLUSTERS = tuple(
    Clusters(cases=cases, answers=answers, alike=0.8)
    for cases in (20, 40)
    for answers in (2, 3, 4, 5)
)
SINGLE = ((1.0, 1.0, 0.6), (1.0, 0.0, 0.1), (0.0, 1.0, 0.1), (0.0, 0.0, 0.2))
SINGLE_KAPPA = 1 - 0.2 / (2 * 0.7 * 0.3)


def of_suite(suite: Suite, random: Random) -> tuple[list[Pair], float]:
    """Return the drawn pairs, and κ of the whole suite."""
    answers = [_answer(suite, random) for _ in range(CASES)]
    judged = [all(judge for _, judge in cells) for cells in answers]
    groups = (
        ([n for n, passed in enumerate(judged) if passed], suite.passes),
        ([n for n, passed in enumerate(judged) if not passed], suite.fails),
    )
    pairs = []
    for places, wanted in groups:
        drawn = min(wanted, len(places))
        for place in random.sample(places, drawn):
            pairs += list(_pairs(answers[place], place, len(places) / drawn))
    everything = [p for n, cells in enumerate(answers) for p in _pairs(cells, n, 1.0)]
    return pairs, kappa(everything) or 0.0


def of_clusters(clusters: Clusters, random: Random) -> tuple[list[Pair], float]:
    """Return the pairs of cases with several answers, and κ of a single answer."""
    pairs = []
    for case in range(clusters.cases):
        usual = _single(random)
        for answer in range(clusters.answers):
            cell = usual if random.random() < clusters.alike else _single(random)
            name = f"{case}/{answer}"
            pairs.append(
                Pair(criterion="c", kind="checklist", answer=name, case=f"{case}", cell=cell)
            )
    return pairs, SINGLE_KAPPA


def measured(
    make: Callable[[Random], tuple[Sequence[Pair], float]], seed: str, repeats: int, draws: int
) -> Outcome:
    """Draw labels `repeats` times and count the intervals that contain the true κ."""
    random = Random(seed)
    covered = accepted = 0
    shown = truths = 0.0
    for _ in range(repeats):
        pairs, truth = make(random)
        low, high = interval(pairs, lambda shape: random.gammavariate(shape, 1.0), draws) or (0, 0)
        covered += low <= truth <= high
        accepted += low >= MIN_KAPPA
        shown += kappa(pairs) or 0.0
        truths += truth
    return Outcome(
        covered=covered / repeats,
        accepted=accepted / repeats,
        shown=shown / repeats,
        truth=truths / repeats,
    )


def of_drawn(suite: Suite, repeats: int, draws: int = 300) -> Outcome:
    """Return the coverage for drawn labels."""
    return measured(lambda random: of_suite(suite, random), repr(suite), repeats, draws)


def of_cases(clusters: Clusters, repeats: int, draws: int = 300) -> Outcome:
    """Return the coverage for several answers of a case."""
    return measured(lambda random: of_clusters(clusters, random), repr(clusters), repeats, draws)


def _answer(suite: Suite, random: Random) -> list[Cell]:
    person = [random.random() < suite.met for _ in range(suite.criteria)]
    shares = [suite.hit if met else suite.miss for met in person]
    return [(float(p), float(random.random() < s)) for p, s in zip(person, shares, strict=True)]


def _pairs(cells: Sequence[Cell], place: int, weight: float) -> Iterator[Pair]:
    for n, cell in enumerate(cells):
        yield Pair(
            criterion=f"{n}",
            kind="checklist",
            answer=f"{place}",
            case=f"{place}",
            weight=weight,
            cell=cell,
        )


def _single(random: Random) -> Cell:
    cells = [(a, b) for a, b, _ in SINGLE]
    return random.choices(cells, [share for *_, share in SINGLE])[0]


def main() -> None:
    """Print the tables of the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=400, help="per row")
    repeats = parser.parse_args().repeats
    print("| criteria | satisfied | judge | drawn | true kappa | shown | covers | accepted |")
    print("|--:|--:|---|--:|--:|--:|--:|--:|")
    for suite in SUITES:
        found = of_drawn(suite, repeats)
        print(
            f"| {suite.criteria} | {suite.met:.0%} | {suite.hit} / {suite.miss} "
            f"| {suite.passes}+{suite.fails} | {found.truth:.3f} | {found.shown:.3f} "
            f"| {found.covered:.3f} | {found.accepted:.3f} |",
            flush=True,
        )
    print()
    print("| cases | answers of each | true kappa | shown | covers |")
    print("|--:|--:|--:|--:|--:|")
    for clusters in CLUSTERS:
        found = of_cases(clusters, repeats)
        print(
            f"| {clusters.cases} | {clusters.answers} | {found.truth:.3f} | {found.shown:.3f} "
            f"| {found.covered:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
