"""How often a verdict flips between two runs of the same judge on the same answers.

A gating criterion is a coin that the judge throws: on most criteria it always falls the same
way, on some it does not. The share of criteria that flip between two single runs is set to what
was measured for judges at temperature 0 (22 and 28 %); how the doubt is spread over criteria is
not known, so three spreads are shown. Computed exactly, and simulated with the code that counts
votes (seeded).
"""

from collections.abc import Callable, Iterable
from math import comb
from random import Random

from rubric_ci.judge.voting import more_votes, tally
from rubric_ci.model.diagnostics import Span
from rubric_ci.model.rubric import Check, Judgement, Mark, Rubric
from rubric_ci.model.scoring import DEFAULT_THRESHOLDS

GATES = 4  # gating criteria in a case
FLIPS = (0.22, 0.28)
VOTES = (1, 3, 5)
RUNS = 4000  # pairs of runs per simulated figure

RUBRIC = Rubric(
    tuple(
        Check(id=f"gate-{n}", text="x", required=True, span=Span(1, 1, 1, 1)) for n in range(GATES)
    )
)

Spread = Callable[[float], list[tuple[float, float]]]
"""From the share of flips: pairs of (share of criteria, chance that a vote is "satisfied")."""


def few_in_doubt(flips: float) -> list[tuple[float, float]]:
    """Some criteria are a fair coin, the others never flip."""
    return [(2 * flips, 0.5), (1 - 2 * flips, 1.0)]


def all_in_some_doubt(flips: float) -> list[tuple[float, float]]:
    """Every criterion has the same chance p with 2p(1-p) = flips."""
    return [(1.0, (1 + (1 - 2 * flips) ** 0.5) / 2)]


def most_in_some_doubt(flips: float) -> list[tuple[float, float]]:
    """Three criteria of five share all the doubt, evenly."""
    return [(0.6, (1 + (1 - 2 * flips / 0.6) ** 0.5) / 2), (0.4, 1.0)]


SPREADS: dict[str, Spread] = {
    "few criteria, pure chance": few_in_doubt,
    "three of five, some doubt": most_in_some_doubt,
    "all of them, some doubt": all_in_some_doubt,
}


def majority(chance: float, votes: int) -> float:
    """Return the chance that more than half of the votes say "satisfied"."""
    return sum(
        comb(votes, yes) * chance**yes * (1 - chance) ** (votes - yes)
        for yes in range(votes // 2 + 1, votes + 1)
    )


def auto_votes(criteria: list[tuple[float, float]]) -> float:
    """Return the votes that `auto` asks for on average: three, five where a gate is disputed."""
    agree = sum(share * (chance**3 + (1 - chance) ** 3) for share, chance in criteria)
    return 3 + 2 * (1 - agree**GATES)


def simulated(criteria: list[tuple[float, float]], votes: int | None, random: Random) -> float:
    """Return how often one of the gates flips, with the votes counted as rubric-ci counts them."""
    flips = 0
    for _ in range(RUNS):
        chances = random.choices([c for _, c in criteria], [s for s, _ in criteria], k=GATES)
        flips += decided(chances, votes, random) != decided(chances, votes, random)
    return flips / RUNS


def decided(chances: list[float], votes: int | None, random: Random) -> list[bool]:
    """Return which gates one run finds satisfied; `votes` of None is `auto`."""
    panel: list[Judgement] = []
    wanted = votes or 1
    while wanted:
        panel += [thrown(chances, random) for _ in range(wanted)]
        wanted = 0 if votes else more_votes(RUBRIC, panel, DEFAULT_THRESHOLDS)
    elected = tally(RUBRIC, panel, len(panel))
    return [elected[criterion.id].value is True for criterion in RUBRIC]


def thrown(chances: list[float], random: Random) -> Judgement:
    """Return one vote."""
    marks = zip(RUBRIC, chances, strict=True)
    return Judgement({c.id: Mark(value=random.random() < chance) for c, chance in marks})


def flip(decided: Iterable[tuple[float, float]]) -> float:
    """Return the chance that two runs differ on one criterion."""
    return sum(share * 2 * chance * (1 - chance) for share, chance in decided)


def any_of(flips: float, gates: int = GATES) -> float:
    """Return the chance that at least one of several gating criteria flips."""
    return 1 - (1 - flips) ** gates


def main() -> None:
    """Print the table of the README; each cell computed, then simulated."""
    random = Random(4)
    print("| doubt lies in | one criterion flips | 1 vote | 3 votes | 5 votes | auto | its votes |")
    print("|---|---|---|---|---|---|---|")
    for name, spread in SPREADS.items():
        for flips in FLIPS:
            criteria = spread(flips)
            cells = [
                f"{computed(criteria, votes):.0%} ({simulated(criteria, votes, random):.0%})"
                for votes in (*VOTES, None)
            ]
            print(f"| {name} | {flips:.0%} | {' | '.join(cells)} | {auto_votes(criteria):.1f} |")


def computed(criteria: list[tuple[float, float]], votes: int | None) -> float:
    """Return the chance that one of the gates flips.

    `auto` (None) is as steady as five votes: three that agree are the majority of five whatever
    the other two say.
    """
    return any_of(flip((share, majority(chance, votes or 5)) for share, chance in criteria))


if __name__ == "__main__":
    main()
