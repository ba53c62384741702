"""Trends in the records of runs: judge changes, strips of verdicts, flips, and the variances."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import fsum
from statistics import fmean
from typing import Final

from rubric_ci.parts.lab.history.record import GRADED, RunRecord, case_records
from rubric_ci.text.statistics.power import DEFAULT, Variances
from rubric_ci.text.statistics.spread import variance
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import JudgeInfo
from rubric_ci.values.results import Assessed, CaseResult, CriterionResult, Graded
from rubric_ci.values.scoring import (
    ASSERTION,
    CHECKLIST,
    SCORE_RANGE,
    mark_share,
    total_points,
)

ABSENT: Final = "-"  # in a strip: the case was not in that run
_BY_ATTENTION: Final = "fewbps-"  # verdict letters of the latest run, the most urgent first
LATEST: Final = 30  # runs
FEWEST: Final = 3
Scores = Mapping[CaseKey, Sequence[float]]
"""The scores of the trials of each case of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The verdicts of one case over all runs."""

    key: CaseKey
    verdicts: str  # a letter per run, the oldest first
    flips: int  # changes of the verdict from one run to the next that has one
    mixed: int  # runs whose own trials have different verdicts

    @property
    def latest(self) -> str:
        """The letter of the latest run."""
        return self.verdicts[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChange:
    """A run whose judge differs from the one of the run before, by its name or by its marks."""

    run: int  # its index
    text: str  # what changed, in a few words


def in_order(records: Iterable[RunRecord]) -> list[RunRecord]:
    """Return the records without repetitions, the oldest first."""
    return sorted(dict.fromkeys(records), key=lambda record: record.started_at)


def strips(records: Sequence[RunRecord]) -> tuple[Strip, ...]:
    """Return the strip of every case, those that need attention first."""
    letters: dict[CaseKey, list[str]] = {}
    mixed: dict[CaseKey, int] = {}
    empty = ABSENT * len(records)
    for n, record in enumerate(records):
        for key, letter in zip(record.cases, record.results.verdicts, strict=True):
            if key not in letters:
                letters[key] = list(empty)
            letters[key][n] = letter
        for key in _mixed(record):
            mixed[key] = mixed.get(key, 0) + 1
    found = (_strip(key, "".join(row), mixed.get(key, 0)) for key, row in letters.items())
    return tuple(sorted(found, key=_order))


def judge_changes(records: Sequence[RunRecord]) -> tuple[JudgeChange, ...]:
    """Return the runs with another judge than the last run that had one.

    Runs from a move of the judge until `baseline rejudge` are one change.
    """
    judged = [(n, r.judge, r.judge_moved) for n, r in enumerate(records) if r.judge is not None]
    return tuple(
        JudgeChange(run=n, text=_difference(before, after))
        for (_, before, had_moved), (n, after, moved) in pairwise(judged)
        if before != after or (moved and not had_moved)
    )


def same_commit(records: Sequence[RunRecord]) -> Iterator[tuple[bool | None, bool]]:
    """Yield pairs of complete runs of one commit, with its cases and judge: nothing has changed.

    Whether the gate turned red, None where it was; whether a verdict got worse. A run is in one
    pair only, so that the pairs are independent.
    """
    earlier: dict[object, RunRecord] = {}
    for after in records:
        if not after.commit or not after.complete:
            continue
        key = (after.commit, after.judge, after.cases)
        if (before := earlier.pop(key, None)) is None:
            earlier[key] = after
            continue
        pairs = zip(before.results.verdicts, after.results.verdicts, strict=True)
        red = not after.gate_passes if before.gate_passes else None
        yield red, not _WORSE.isdisjoint(pairs)


_WORSE: Final = frozenset({("p", "b"), ("p", "f"), ("p", "w"), ("b", "f"), ("b", "w")})


def _mixed(record: RunRecord) -> Iterator[CaseKey]:
    for key, trials in zip(record.cases, record.results.trials, strict=False):
        if trials.count(trials[:1]) < len(trials):
            yield key


def _strip(key: CaseKey, verdicts: str, mixed: int) -> Strip:
    # A waived fail is a fail: the waiver changes the gate, not the answer.
    graded = [letter for letter in verdicts.replace("w", "f") if letter in GRADED]
    flips = sum(one != other for one, other in pairwise(graded))
    return Strip(key=key, verdicts=verdicts, flips=flips, mixed=mixed)


def _order(strip: Strip) -> tuple[int, int, CaseKey]:
    return _BY_ATTENTION.index(strip.latest), -strip.flips, strip.key


def _difference(before: JudgeInfo, after: JudgeInfo) -> str:
    pairs = (
        ("", before.model, after.model),
        ("prompt ", before.prompt_version, after.prompt_version),
        ("", before.mode, after.mode),
        ("votes ", before.votes, after.votes),
    )
    named = "; ".join(f"{name}{was} → {now}" for name, was, now in pairs if was != now)
    return named or f"{after.model} marks the remembered answers differently"


def measure(records: Sequence[RunRecord]) -> Variances:
    """Return the variances of the newest complete runs with the latest judge, the oldest first.

    Below `FEWEST` such runs they are the defaults. The variance of a trial is the mean over cases
    of the variance among trials of one run; without several trials it is half the mean square of
    the differences from one run to the next (von Neumann, Annals of Mathematical Statistics 12,
    1941). What these differences have beyond that is the variance of cases. The judge's part is
    measured where criteria have several votes, else it is the default's share.
    """
    runs = _comparable(records)
    if len(runs) < FEWEST:
        return DEFAULT
    scores = [_scores(run) for run in runs]
    moves = [_moves(before, after) for before, after in pairwise(scores)]
    squares = [d * d for differences in moves for d, _ in differences]
    within = [variance(trials) for run in scores for trials in run.values() if len(trials) > 1]
    if not squares:
        return DEFAULT
    trial = fmean(within) if within else fmean(squares) / 2
    noise = fmean(trial * share for differences in moves for _, share in differences)
    judge = min(trial, _judge(runs, trial))
    return Variances(
        cases=max(0.0, fmean(squares) - noise), target=trial - judge, judge=judge, runs=len(runs)
    )


def _comparable(records: Sequence[RunRecord]) -> Sequence[RunRecord]:
    complete = [record for record in records if record.complete]
    if not complete:
        return ()
    last = complete[-1].judge
    since = max((change.run for change in judge_changes(complete)), default=0)
    return [record for record in complete[since:] if record.judge == last][-LATEST:]


def _scores(record: RunRecord) -> Scores:
    # Further trials depend on the first ones: they would show more variance than there is.
    return {
        case.key: [t.score for t in case.trials[: len(case.trials) - case.further_trials]]
        for case in case_records(record)
        if case.trials
    }


def _moves(before: Scores, after: Scores) -> list[tuple[float, float]]:
    """Return the difference of the means of each case, and 1/K + 1/L of its trials."""
    return [
        (fmean(after[key]) - fmean(before[key]), 1 / len(after[key]) + 1 / len(before[key]))
        for key in after
        if key in before
    ]


def _judge(runs: Iterable[RunRecord], trial: float) -> float:
    """Return the variance of the judge; without votes, the share that it has of the defaults."""
    known = [run.judge_variance for run in runs if run.judge_variance is not None]
    return fmean(known) if known else trial * DEFAULT.judge / DEFAULT.trial


def judge_variance(cases: Iterable[CaseResult]) -> float | None:
    """Return the mean over cases; None without a case whose criteria all have several votes.

    With K votes on each criterion, the variance of the score is taken as Σ w² s² / (K (Σ w)²),
    where s² is the variance among the votes: criteria are independent, and a majority or median
    varies as a mean does. Assertions do not vary. Levels have no known scale in a report, so their
    cases are left out.
    """
    graded = [case for case in cases if isinstance(case, Graded)]
    known = [found for case in graded for found in _of_case(case)]
    return round(fsum(known) / len(known), 6) if known else None


def _of_case(case: Graded) -> Iterator[float]:
    rubrics = [e for e in case.evaluators if isinstance(e, Assessed) and e.criteria and e.weight]
    total = fsum(e.weight for e in case.evaluators)
    judged = [c for e in rubrics for c in e.criteria if c.kind != ASSERTION]
    if judged and all(map(_is_voted, judged)):
        yield fsum((e.weight / total) ** 2 * _of_rubric(e.criteria) for e in rubrics)


def _of_rubric(criteria: Sequence[CriterionResult]) -> float:
    voted = [(c.weight, [mark_share(vote) for vote in c.votes or (0, 0)]) for c in criteria]
    weighed = [(weight, variance(votes) / len(votes)) for weight, votes in voted]
    total = total_points(c.weighed for c in criteria)
    return fsum((weight / total) ** 2 * each for weight, each in weighed)


def _is_voted(criterion: CriterionResult) -> bool:
    voted = len(criterion.votes) > 1 and not criterion.judges  # judges differ by more than noise
    return voted and criterion.kind in {CHECKLIST, SCORE_RANGE}
