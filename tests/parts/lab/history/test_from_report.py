"""The intervals of a run, which clusters widen."""

import time
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.parts.lab.history.from_report import (
    mean_interval,
    rate_interval,
    record_of,
)
from rubric_ci.parts.lab.history.record import Interval
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Trial
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.usage import Usage
from tests.nights import FAIL, PASS, case, night
from tests.sample_reports import a_report, errored, graded

INTERVALS = {
    "one case": ([[0.5]], Interval(value=0.5)),
    "equal scores": ([[1.0]] * 20, Interval(value=1.0)),
    "Student's": (
        [[0.2], [0.5], [0.9], [0.6], [0.4]],
        Interval(value=0.52, low=0.1986, high=0.8414),
    ),
}


@given(st.floats(0.1, 50), st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1), min_size=2))
def test_equal_weights_are_none(weight: float, clusters: list[list[float]]) -> None:
    plain = rate_interval(clusters)
    weighted = rate_interval(clusters, [[weight] * len(cluster) for cluster in clusters])
    assert (weighted.value, weighted.low, weighted.high) == pytest.approx(
        (plain.value, plain.low, plain.high), abs=2e-4
    )


@pytest.mark.parametrize(("clusters", "found"), INTERVALS.values(), ids=INTERVALS)
def test_the_interval_of_a_mean(clusters: list[list[float]], found: Interval) -> None:
    assert mean_interval(clusters) == found


RATES = {
    "independent cases": ([[1.0]] * 10 + [[0.0]] * 10, (0.2993, 0.7007)),
    "clusters of equal cases count as their number less one": (
        [[1.0] * 5] * 2 + [[0.0] * 5] * 2,
        (0.0608, 0.9392),
    ),
    "many clusters": ([[1.0] * 2, [0.0] * 2] * 600, (0.4717, 0.5283)),
    "one cluster": ([[1.0, 0.0]], (0.0015, 0.9985)),
    "all pass in two clusters": ([[1.0] * 10] * 2, (0.0122, 1.0)),
}


def test_values_are_rounded() -> None:
    assert mean_interval([[1.0], [0.0], [0.0]]).value == 0.333333
    assert rate_interval([[1.0], [0.0], [0.0]]).value == 0.333333


def test_a_mean_stays_within_its_scale() -> None:
    found = mean_interval([[1.0], [1.0], [0.0]])
    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of the process cannot be set")
def test_a_time_without_a_zone_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        record = record_of(a_report(graded("a"), started_at="2026-01-02T03:04:05"))
    time.tzset()
    assert record.started_at == "2026-01-02T03:04:05+00:00"


def test_the_facts_of_a_run() -> None:
    one, two = graded("a", "pass", evaluators=()), graded("a", evaluators=(), file="other.yaml")
    urls = {"run_url": "https://example.com/1", "head_sha": "abc"}
    report = a_report(one, two, started_at="2026-01-02T03:04:05.678", metadata=urls)
    record = record_of(report)
    assert record.started_at == "2026-01-02T03:04:05+00:00"
    assert (record.commit, record.link) == ("abc", "https://example.com/1")
    assert record_of(report, link="https://mine").link == "https://mine"
    assert record_of(a_report(one)).link == ""
    assert record.pass_rate == rate_interval([[1.0], [0.0]])
    east = replace(report, started_at="2026-01-02T03:04:05+02:00")
    assert record_of(east).started_at == "2026-01-02T01:04:05+00:00"


@pytest.mark.parametrize(("unpriced", "cost"), [(0, 0.25), (1, None)])
def test_a_cost_with_an_unknown_price_is_unknown(unpriced: int, cost: float | None) -> None:
    usage = Usage(calls=2, cost_usd=0.25, unpriced_calls=unpriced)
    assert record_of(a_report(graded("a", usage=usage))).cost_usd == cost


def test_further_trials_do_not_count() -> None:
    """The first trial passes, the median of all fails; a case that errored has none."""
    trials = [Trial(verdict=verdict, score=0.0) for verdict in ("pass", "fail", "fail")]
    case = graded("a", "fail", trials=tuple(trials), further_trials=2, evaluators=())
    record = record_of(a_report(case, errored("b")))
    assert record.pass_rate == rate_interval([[1.0]])
    assert record.results.further_trials == (2, 0)


@pytest.mark.parametrize(
    ("verdicts", "rule", "rate"),
    [
        (("pass", "pass", "fail"), 0, rate_interval([[2 / 3]])),
        (("pass", "pass", "fail"), 2, rate_interval([[1.0]])),
        (("pass", "pass", "fail"), 3, rate_interval([[0.0]])),
    ],
    ids=["a share of trials", "enough trials pass", "too few trials pass"],
)
def test_a_rule_for_trials_decides_whether_a_case_passes(
    verdicts: Sequence[Verdict], rule: int, rate: Interval
) -> None:
    trials = tuple(Trial(verdict=verdict, score=0.5) for verdict in verdicts)
    word: Verdict = "fail" if rule == 3 else "pass"
    found = graded("a", word, trials=trials, trials_to_pass=rule, evaluators=())
    assert record_of(a_report(found)).pass_rate == rate


@pytest.mark.parametrize(("clusters", "ends"), RATES.values(), ids=RATES)
def test_clusters_widen_a_rate(clusters: list[list[float]], ends: tuple[float, float]) -> None:
    found = rate_interval(clusters)
    assert (found.low, found.high) == ends


def test_the_curves_do_not_step_with_the_number_of_trials() -> None:
    """Medians would: of 15 trials of which 0.7 pass, 0.95 are a pass, of three 0.78."""
    random = Random(1)

    def graded_night(day: int, first: int, further: int) -> RunReport:
        trials = ([random.random() < 0.7 for _ in range(first)] for _ in range(400))
        return night(
            day,
            *(
                replace(
                    case(f"c{n}", 0),
                    trials=(*[PASS if good else FAIL for good in each], *[FAIL] * further),
                    further_trials=further,
                )
                for n, each in enumerate(trials)
            ),
        )

    pinned, last = (record_of(graded_night(day, 15 // day, 7 * (day > 1))) for day in (1, 5))
    for measured in (pinned.score, pinned.pass_rate, last.score, last.pass_rate):
        assert measured
        assert measured.value == pytest.approx(0.7, abs=0.04)
