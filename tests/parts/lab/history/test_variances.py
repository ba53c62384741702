"""The variances of a suite come back from simulated runs with known ones."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rubric_ci.parts.lab.history.from_report import record_of
from rubric_ci.parts.lab.history.record import RunRecord
from rubric_ci.parts.lab.history.trends import judge_variance, measure
from rubric_ci.text.statistics.power import DEFAULT
from rubric_ci.values.report import JudgeInfo
from rubric_ci.values.results import Trial, Unassessed
from tests.sample_reports import a_criterion, a_report, a_rubric, graded

JUDGE = JudgeInfo(model="gpt", prompt_version="1")


def nights(count: int, trials: int, *, noise: float, move: float) -> Iterator[RunRecord]:
    """Yield runs of 40 cases; `noise` and `move` are standard deviations."""
    chance = random.Random(7)
    level = {f"case-{n}": 0.5 for n in range(40)}
    for night in range(count):
        cases = []
        for name, mean in level.items():
            moved = mean + chance.gauss(0, move)
            scores = [min(1, max(0, moved + chance.gauss(0, noise))) for _ in range(trials)]
            each = tuple(Trial(verdict="pass", score=score) for score in scores)
            cases.append(graded(name, "pass", score=scores[0], trials=each, evaluators=()))
        day = f"2026-01-{night + 1:02}T00:00:00Z"
        yield record_of(a_report(*cases, started_at=day, judge=JUDGE))


@pytest.mark.parametrize("trials", [1, 3])
def test_quiet_nights_show_the_variance_of_a_trial(trials: int) -> None:
    found = measure(list(nights(12, trials, noise=0.1, move=0.0)))
    assert found.trial == pytest.approx(0.01, rel=0.15)
    assert found.cases == pytest.approx(0, abs=0.001)
    assert found.judge / found.trial == pytest.approx(DEFAULT.judge / DEFAULT.trial)
    assert found.runs == 12


def test_cases_that_move_between_runs_have_a_variance_of_their_own() -> None:
    found = measure(list(nights(20, 3, noise=0.05, move=0.1)))
    assert found.trial == pytest.approx(0.0025, rel=0.15)
    assert found.cases == pytest.approx(2 * 0.01, rel=0.2)


def test_a_new_judge_starts_anew() -> None:
    runs = list(nights(12, 3, noise=0.1, move=0.0))
    last = record_of(a_report(graded("a", "pass"), judge=JudgeInfo(model="b", prompt_version="1")))
    assert measure([*runs, last]) == DEFAULT
    assert measure([]) == DEFAULT


def test_a_judge_that_moved_starts_anew() -> None:
    runs = list(nights(12, 3, noise=0.1, move=0.0))
    runs[7] = replace(runs[7], judge_moved=True)
    assert measure(runs).runs == 5


VOTES = {
    "equal votes": ((True, True, True), 0.0),
    "one of three differs": ((True, True, False), 1 / 3 / 3),
    "cannot assess counts 0": ((True, "cannot_assess", True), 1 / 3 / 3),
    "one vote": ((), None),
}


@pytest.mark.parametrize(("votes", "expected"), VOTES.values(), ids=VOTES)
def test_votes_show_the_variance_of_the_judge(
    votes: tuple[bool | str, ...], expected: float | None
) -> None:
    case = graded("a", "fail", a_criterion(votes=votes))
    found = judge_variance([case])
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))


def test_an_evaluator_without_a_result_has_its_part_of_the_score() -> None:
    voted = a_rubric(a_criterion(votes=(True, True, False)))
    lost = Unassessed(name="s", type="code_judge", weight=3.0, line=1, reason="it crashed")
    case = graded("a", "fail", evaluators=(voted, lost))
    assert judge_variance([case]) == pytest.approx((1 / 4) ** 2 / 9, abs=1e-6)
    assert judge_variance([graded("b", "fail", evaluators=(lost,))]) is None


def test_an_evaluator_without_weight_adds_nothing() -> None:
    silent = a_rubric(a_criterion(votes=(True,)), weight=0.0)
    voted = a_rubric(a_criterion(votes=(True, True, False)))
    case = graded("a", "fail", evaluators=(silent, voted))
    assert judge_variance([case]) == pytest.approx(1 / 9, abs=1e-6)


def test_criteria_weigh_as_in_the_score() -> None:
    criteria = (
        a_criterion("a", votes=(True, False, True), weight=3.0),
        a_criterion("b", kind="score-range", votes=(5, 5, 5), weight=1.0),
    )
    case = graded("a", "fail", evaluators=(a_rubric(*criteria),))
    assert judge_variance([case]) == pytest.approx((3 / 4) ** 2 / 9, abs=1e-6)
