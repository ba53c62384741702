"""How often a verdict flips between two runs of the same judge on the same answers.

A gating criterion is a coin that the judge throws: on most criteria it always falls the same
way, on some it does not. The share of criteria that flip between two single runs is set to what
was measured for judges at temperature 0 (22 and 28 %); how the doubt is spread over criteria is
not known, so three spreads are shown. Computed exactly, and simulated with the code that counts
votes (seeded).
"""

from collections.abc import Callable
from functools import partial
from math import comb
from random import Random

from rubric_ci.models.judge.voting import NoMajority, more_votes, tally
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import Check, Judgement, Mark, Rubric, Scored, ScoreRange, score
from rubric_ci.values.scoring import DEFAULT_THRESHOLDS, Verdict

GATES = 4  # gating criteria in a case
FLIPS = (0.22, 0.28)
VOTES = (1, 3, 5)
RUNS = 4000  # pairs of runs per simulated figure
HERE = Span(1, 1, 1, 1)

RUBRIC = Rubric(
    tuple(Check(id=f"gate-{n}", text="x", required=True, span=HERE) for n in range(GATES))
)

Cause = tuple[Rubric, Callable[[Random], Judgement]]
"""A rubric, and how one vote on it is drawn."""

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


def decided(
    rubric: Rubric, votes: int | None, vote: Callable[[], Judgement]
) -> tuple[Verdict | None, int]:
    """Return the verdict of one run, and its votes; `votes` of None is `auto`."""
    panel = [vote() for _ in range(votes or 1)]
    while not votes and (more := more_votes(rubric, panel, len(panel), DEFAULT_THRESHOLDS)):
        panel += [vote() for _ in range(more)]
    return verdict(rubric, panel), len(panel)


def verdict(rubric: Rubric, panel: list[Judgement]) -> Verdict | None:
    """Return the verdict of a panel; None: no majority."""
    elected = tally(rubric, panel, len(panel))
    if isinstance(elected, NoMajority):
        return None
    return score(rubric, elected, DEFAULT_THRESHOLDS).verdict


def simulated(
    criteria: list[tuple[float, float]], votes: int | None, random: Random
) -> tuple[float, float]:
    """Return how often the verdicts of two runs differ, and the votes of a run."""
    flips = asked = 0
    for _ in range(RUNS):
        chances = random.choices([c for _, c in criteria], [s for s, _ in criteria], k=GATES)
        vote = partial(thrown, chances, random)
        (first, some), (second, others) = (decided(RUBRIC, votes, vote) for _ in range(2))
        flips += first != second
        asked += some + others
    return flips / RUNS, asked / RUNS / 2


def thrown(chances: list[float], random: Random) -> Judgement:
    """Return one vote."""
    marks = zip(RUBRIC, chances, strict=True)
    return Judgement({c.id: Mark(value=random.random() < chance) for c, chance in marks})


def computed(criteria: list[tuple[float, float]], votes: int) -> float:
    """Return the chance that the verdicts of two runs differ: 2 P (1 - P), over the spread."""
    passes = [(share, majority(chance, votes)) for share, chance in criteria]
    first, second = (sum(share * p**power for share, p in passes) for power in (1, 2))
    return 2 * (first**GATES - second**GATES)


def checks(count: int, chance: float, *, required: bool) -> Cause:
    """Return a rubric of checks, each satisfied in this share of votes."""
    rubric = Rubric(
        tuple(Check(id=f"{n}", text="x", required=required, span=HERE) for n in range(count))
    )

    def vote(random: Random) -> Judgement:
        return Judgement({c.id: Mark(value=random.random() < chance) for c in rubric})

    return rubric, vote


def scored(mean: float) -> Cause:
    """Return a rubric of one score with a standard deviation of 1."""
    rubric = Rubric((Scored(id="s", ranges=(ScoreRange(low=0, high=10, text="x"),), span=HERE),))

    def vote(random: Random) -> Judgement:
        return Judgement({"s": Mark(value=min(10, max(0, round(random.gauss(mean, 1)))))})

    return rubric, vote


def compared(cause: Cause, random: Random) -> str:
    """Return the row of a rubric: `auto` against five votes, on the same votes."""
    rubric, vote = cause
    passes = same = asked = auto_passes = same_after_one = more_than_one = 0
    for _ in range(RUNS):
        panel = [vote(random) for _ in range(5)]
        five = verdict(rubric, panel)
        auto, votes = decided(rubric, None, iter(panel).__next__)
        passes += five == "pass"
        auto_passes += auto == "pass"
        same += auto == five
        more_than_one += votes > 1
        same_after_one += votes > 1 and auto == five
        asked += votes
    return (
        f"{passes / RUNS:.0%} | {auto_passes / RUNS:.0%} | {same / RUNS:.1%} "
        f"| {same_after_one / more_than_one:.0%} | {asked / RUNS:.1f} | {1 - asked / RUNS / 5:.0%}"
    )


CAUSES: dict[str, Cause] = {
    "3 checks without gates, each satisfied in 90%": checks(3, 0.9, required=False),
    "6 checks without gates, each satisfied in 90%": checks(6, 0.9, required=False),
    "1 gate, satisfied in 95%": checks(1, 0.95, required=True),
    "4 gates, each satisfied in 95%": checks(4, 0.95, required=True),
    "4 gates, each satisfied in 60%": checks(4, 0.6, required=True),
    "1 score, mean 9": scored(9),
    "1 score, mean 7.5": scored(7.5),
    "1 score, mean 5.5": scored(5.5),
}


def main() -> None:
    """Print both tables of the README."""
    random = Random(4)
    print("| doubt lies in | one criterion flips | 1 vote | 3 votes | 5 votes | auto | its votes |")
    print("|---|---|---|---|---|---|---|")
    for name, spread in SPREADS.items():
        for flips in FLIPS:
            criteria = spread(flips)
            cells = [
                f"{computed(criteria, votes):.0%} ({simulated(criteria, votes, random)[0]:.0%})"
                for votes in VOTES
            ]
            auto, asked = simulated(criteria, None, random)
            print(f"| {name} | {flips:.0%} | {' | '.join(cells)} | ({auto:.0%}) | {asked:.1f} |")
    print()
    print("| rubric | 5 pass | auto passes | same | same after 3 | votes | saved |")
    print("|---|---|---|---|---|---|---|")
    for name, cause in CAUSES.items():
        print(f"| {name} | {compared(cause, random)} |")


if __name__ == "__main__":
    main()
