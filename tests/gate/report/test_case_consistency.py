"""What the engine grades never contradicts itself, and every contradiction is named."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.evaluators.rubric import _criterion_result
from rubric_ci.gate.report.consistency import case_problems
from rubric_ci.models.judge.panel import PanelResult
from rubric_ci.values.results import (
    Assessed,
    BaseResult,
    CriterionResult,
    EvaluatorResult,
    Graded,
    Trial,
    Unassessed,
)
from rubric_ci.values.rubric import (
    Check,
    Criterion,
    Judgement,
    Level,
    Levelled,
    Mark,
    Rubric,
    Scored,
    ScoreRange,
    score,
)
from rubric_ci.values.scoring import CANNOT_ASSESS, Score, Thresholds, combine
from rubric_ci.values.trials import median_trial
from rubric_ci.values.usage import NOTHING_USED
from tests.cases import span
from tests.sample_reports import a_criterion, a_rubric, graded

LIMITS = Thresholds()
WEIGHTS = st.floats(0.01, 100) | st.integers(1, 9)
MINIMUM = st.none() | st.integers(0, 10)
RANGES = (ScoreRange(low=0, high=10, text="t"),)
LEVELS = (-3, 0, 7)


def criteria(
    kind: type[Criterion], marks: st.SearchStrategy[Any], **facts: st.SearchStrategy[Any]
) -> st.SearchStrategy[tuple[Criterion, Any]]:
    """Return criteria of a kind, each with a mark."""
    own = st.builds(kind, id=st.just("a"), weight=WEIGHTS, span=st.just(span()), **facts)
    return st.tuples(own, marks)


CRITERIA = st.one_of(
    criteria(Check, st.booleans(), text=st.just("t"), fault=st.booleans()),
    criteria(Scored, st.integers(0, 10), ranges=st.just(RANGES), required_min_score=MINIMUM),
    criteria(
        Levelled,
        st.sampled_from(LEVELS),
        levels=st.just(tuple(Level(level=n, text="t") for n in LEVELS)),
        required_min_level=st.none() | st.sampled_from(LEVELS),
    ),
)


@st.composite
def assessed(draw: st.DrawFn) -> Assessed:
    drawn = draw(st.lists(CRITERIA, min_size=1, max_size=4))
    criteria = tuple(replace(each, id=f"c{at}") for at, (each, _) in enumerate(drawn))
    marks = {
        f"c{at}": Mark(value=CANNOT_ASSESS if draw(st.integers(0, 9)) == 0 else mark)
        for at, (_, mark) in enumerate(drawn)
    }
    marked = PanelResult(
        judgement=Judgement(marks), votes={}, cached=frozenset(), usage=NOTHING_USED
    )
    found = score(Rubric(criteria), marked.judgement, LIMITS)
    return Assessed(
        name="rubric",
        type="rubric",
        weight=draw(WEIGHTS),
        line=1,
        score=found.value,
        verdict=found.verdict,
        gated_by=found.gated_by,
        criteria=tuple(_criterion_result(c, marks[c.id], marked, {}, 1.0) for c in criteria),
    )


@st.composite
def trial(draw: st.DrawFn) -> Graded:
    found = tuple(draw(st.lists(assessed(), min_size=1, max_size=3)))
    parts = [
        (e.weight, Score(value=e.score, verdict=e.verdict, gated_by=e.gated_by)) for e in found
    ]
    whole = combine(parts, LIMITS)
    return Graded(
        file="e.yaml",
        line=1,
        id="x",
        verdict=whole.verdict,
        score=whole.value,
        reason="r",
        gated_by=whole.gated_by,
        evaluators=found,
    )


@given(st.lists(trial(), min_size=1, max_size=5))
def test_what_is_graded_is_consistent(trials: list[Graded]) -> None:
    graded = median_trial(trials)
    assert isinstance(graded, Graded)
    assert list(case_problems(graded, LIMITS)) == []


MET = a_criterion("met", mark=True, normalised=1.0, gated=False)
MISSED = a_criterion("missed")
HALF = a_criterion("half", kind="score-range", mark=5, normalised=0.5, gated=False, gate="")
GOOD = a_rubric(MET, score=1.0, verdict="pass")
LINT = Unassessed(name="lint", type="code_judge", weight=0.0, line=9, reason="broken")


BESIDE: dict[str, tuple[dict[str, Any], str]] = {
    "a value above 1": ({"normalised": 1.5}, "normalised is 1.5, not between 0 and 1"),
    "a value below 0": ({"normalised": -0.5}, "normalised is -0.5, not between 0 and 1"),
    "a rounded value": ({"normalised": 0.9999995}, ""),
    "not the value of a check": ({"normalised": 0.5}, "normalised is 0.5, its mark gives 1.0"),
    "a number for a check": ({"mark": 1, "gate": ""}, "normalised is 1.0, its mark gives 0.0"),
    "not the value of a score": (
        {"kind": "score-range", "mark": 7, "normalised": 0.6, "gate": ""},
        "normalised is 0.6, its mark gives 0.7",
    ),
    "a score above 10": (
        {"kind": "score-range", "mark": 12, "gate": ""},
        "normalised is 1.0, its mark gives 1.1",
    ),
    "a level has any value": ({"kind": "levels", "mark": 3, "normalised": 0.4, "gate": ""}, ""),
    "a missed gate that is not": (
        {"mark": False, "normalised": 0.0, "gate": "required"},
        "gated is false, its mark gives true",
    ),
    "a gate that is none": (
        {"mark": False, "normalised": 0.0, "gate": "", "gated": True},
        "gated is true, its mark gives false",
    ),
    "a minimum that is reached": (
        {"kind": "score-range", "mark": 7, "normalised": 0.7, "gate": "score >= 7", "gated": True},
        "gated is true, its mark gives false",
    ),
    "a minimum that is missed": (
        {"kind": "score-range", "mark": 6, "normalised": 0.6, "gate": "score >= 7"},
        "gated is false, its mark gives true",
    ),
    "a negative minimum that is missed": (
        {"kind": "levels", "mark": -2, "normalised": 0.0, "gate": "level >= -1"},
        "gated is false, its mark gives true",
    ),
    "a gate in other words": ({"mark": False, "normalised": 0.0, "gate": "exact"}, ""),
}


@pytest.mark.parametrize(("facts", "problem"), BESIDE.values(), ids=BESIDE)
def test_a_criterion_that_does_not_count_next_to_one_that_does(
    facts: dict[str, Any], problem: str
) -> None:
    own: dict[str, Any] = {"weight": 0.0, "mark": True, "normalised": 1.0, "gated": False}
    odd: CriterionResult = a_criterion("odd", **{**own, **facts})
    rubric = a_rubric(MET, odd, score=1.0, verdict="fail" if odd.gated else "pass")
    assert problems(rubric) == ([f"criteria.1.{problem}"] if problem else [])


def problems(evaluator: EvaluatorResult) -> list[str]:
    found = case_problems(BaseResult(outcome="graded", evaluators=(evaluator,)), LIMITS)
    return [problem.removeprefix("evaluators.0.") for problem in found]


def accuracy(*criteria: CriterionResult, score: float) -> Assessed:
    verdict = "pass" if score == 1 else "fail"
    return a_rubric(*criteria, type="field_accuracy", score=score, verdict=verdict)


TINY = replace(GOOD, score=1.234567890123456e-05, verdict="fail")
EVALUATORS: dict[str, tuple[EvaluatorResult, str]] = {
    "consistent": (GOOD, ""),
    "without a score": (LINT, ""),
    "no gates": (a_rubric(MISSED, gated_by=()), "gated_by is empty, its criteria give missed"),
    "gates of 100 characters are shown": (
        a_rubric(MISSED, gated_by=("x" * 100,)),
        f"gated_by is {'x' * 100}, its criteria give missed",
    ),
    "gates of 101 characters are cut": (
        a_rubric(MISSED, gated_by=("x" * 101,)),
        f"gated_by is {'x' * 99}…, its criteria give missed",
    ),
    "a verdict": (replace(GOOD, verdict="fail"), "verdict is fail, its score and gates give pass"),
    "a score": (replace(GOOD, score=0.9), "score is 0.9, its criteria give 1.0"),
    "a score of 21 characters is cut": (
        TINY,
        "score is 1.234567890123456e-…, its criteria give 1.0",
    ),
    "a score of 0": (
        a_rubric(HALF, score=0.0, verdict="fail"),
        "score is 0.0, its criteria give 0.5",
    ),
    "a score that a script gave": (replace(GOOD, type="code_judge", score=0.9), ""),
    "no criterion counts": (a_rubric(replace(MET, weight=0.0), score=0.9, verdict="pass"), ""),
    "all or nothing: nothing": (accuracy(HALF, score=0.0), ""),
    "all or nothing: all": (accuracy(MET, score=1.0), ""),
    "all or nothing: not all": (accuracy(HALF, score=1.0), "score is 1.0, its criteria give 0.5"),
    "all or nothing: not nothing": (
        accuracy(MET, score=0.0),
        "score is 0.0, its criteria give 1.0",
    ),
    "fields: a mean": (accuracy(HALF, score=0.5), ""),
    "fields: another mean": (accuracy(HALF, score=0.3), "score is 0.3, its criteria give 0.5"),
}


@pytest.mark.parametrize(("evaluator", "problem"), EVALUATORS.values(), ids=EVALUATORS)
def test_an_evaluator(evaluator: EvaluatorResult, problem: str) -> None:
    assert problems(evaluator) == ([problem] if problem else [])


PASS = graded("x", "pass", MET)
BARE = replace(PASS, evaluators=())
BASE = BaseResult(outcome="graded", verdict="pass", score=1.0, evaluators=(GOOD,))
GONE = Trial(verdict="fail", score=0.0)
KEPT = Trial(verdict="pass", score=1.0)
NO_SCORE = "verdict is pass, but an evaluator that counts has no score"
OTHER_TRIALS = ["verdict is pass, its trials give fail", "score is 1.0, its trials give 0.0"]

CASES: dict[str, tuple[Graded | BaseResult, list[str]]] = {
    "consistent": (PASS, []),
    "evaluators left out": (replace(BARE, gated_by=("c",)), []),
    "a score": (replace(PASS, score=0.9), ["score is 0.9, its evaluators give 1.0"]),
    "a verdict": (replace(PASS, verdict="fail"), ["verdict is fail, its evaluators give pass"]),
    "gates": (
        replace(graded("x", "fail", MISSED), gated_by=()),
        ["gated_by is empty, its evaluators give missed"],
    ),
    "one that does not count has no score": (replace(PASS, evaluators=(GOOD, LINT)), []),
    "one that counts has no score": (
        replace(PASS, evaluators=(GOOD, replace(LINT, weight=1.0))),
        [NO_SCORE],
    ),
    "none counts": (replace(PASS, evaluators=(replace(GOOD, weight=0.0),)), [NO_SCORE]),
    "one that does not count misses a gate": (
        replace(PASS, evaluators=(GOOD, a_rubric(MISSED, weight=0.0))),
        [],
    ),
    "base": (BASE, []),
    "base: a score": (replace(BASE, score=0.9), ["score is 0.9, its evaluators give 1.0"]),
    "base: no score": (replace(BASE, score=None), []),
    "base: no verdict": (replace(BASE, verdict=None), []),
    "base: trials": (replace(BASE, trials=(GONE,)), OTHER_TRIALS),
    "the median of three": (replace(BARE, trials=(KEPT, GONE, KEPT)), []),
    "not the median of three": (replace(BARE, trials=(KEPT, GONE, GONE)), OTHER_TRIALS),
    "not the lower of two": (replace(BARE, trials=(KEPT, GONE)), OTHER_TRIALS),
    "one of two must pass": (replace(BARE, trials=(KEPT, GONE), trials_to_pass=1), []),
    "a trial that missed a gate": (
        replace(BARE, trials=(KEPT, replace(GONE, score=1.0)), trials_to_pass=1),
        [],
    ),
    "a trial that cannot pass": (
        replace(BARE, trials=(replace(KEPT, score=0.1),), trials_to_pass=1),
        ["trials.0.verdict is pass, not possible with its score"],
    ),
}


@pytest.mark.parametrize(("case", "expected"), CASES.values(), ids=CASES)
def test_a_case(case: Graded | BaseResult, expected: list[str]) -> None:
    assert list(case_problems(case, LIMITS)) == expected
