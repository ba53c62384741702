"""The notes on a comparison: their conditions, and their words."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.comparison import compared
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import JudgeInfo, RunReport, Sentinel, SentinelItem
from tests.sample_reports import a_report, graded, skipped


def several(*names: str) -> RunReport:
    """Return a report of one case that is asked of these targets."""
    return a_report(*(graded(f"a [{name}]", target=name) for name in names))


def one(case: str, target: str, **facts: Any) -> RunReport:
    return a_report(graded(case, target=target, **facts))


ELSEWHERE = one("a [y]", "y", file="other.yaml")
SKIPPED = a_report(skipped("a"), skipped("b"))
TARGETS: dict[str, tuple[RunReport, RunReport, int, str]] = {
    "the same": (several("x", "y"), several("x", "y"), 2, ""),
    "fewer here": (several("x"), several("z", "x", "y"), 1, "y, z"),
    "more here": (several("x", "y"), several("x"), 1, ""),
    "one target": (one("a", "x"), several("x", "y"), 1, "y"),
    "another target under the same id": (one("a", "x"), one("a", "y"), 0, "y"),
    "a removed case of another target": (one("b", "x"), several("y"), 1, ""),
    "a case of another file": (several("x"), ELSEWHERE, 1, ""),
    "skipped": (a_report(skipped("a")), SKIPPED, 2, ""),
}


@pytest.mark.parametrize(("head", "then", "kept", "lacking"), TARGETS.values(), ids=TARGETS)
def test_targets_not_asked(head: RunReport, then: RunReport, kept: int, lacking: str) -> None:
    assert len(compared.of_asked_targets(head, then)) == kept
    note = f"The baseline also has the targets {lacking}, which this run does not ask."
    assert list(compared.parts_of_suite(head, then)) == ([note] if lacking else [])


CACHED = (
    "1,002 of 2,003 marks are from the cache, perhaps of an earlier judge; "
    "`rubric-ci run --baseline` asks the judge for each."
)


@pytest.mark.parametrize(
    ("pinned", "cached", "shown"), [(True, 0, ""), (False, 2, ""), (True, 1002, CACHED)]
)
def test_cached_marks(*, pinned: bool, cached: int, shown: str) -> None:
    report = a_report()
    totals = replace(report.totals, marks=2003, cached_marks=cached)
    assert "".join(compared.cached_marks(replace(report, totals=totals), pinned=pinned)) == shown


JUDGE = JudgeInfo(model="m", prompt_version="1")
JUDGES: list[tuple[dict[str, Any], str]] = [
    ({"model": "n"}, "m → n"),
    ({"prompt_version": "2"}, "prompt 1 → 2"),
    ({"mode": "isolated"}, "batched → isolated"),
    ({"votes": 3}, "votes 1 → 3"),
    ({"votes": 3, "model": "n"}, "m → n; votes 1 → 3"),
]


@pytest.mark.parametrize(("changes", "said"), JUDGES)
def test_judges_that_differ(changes: dict[str, Any], said: str) -> None:
    then, now = a_report(judge=JUDGE), a_report(judge=replace(JUDGE, **changes))
    noted = f"The judges differ ({said}): score changes may come from the judge."
    assert list(compared.differing_judges(now, then)) == [noted]
    assert compared.why_judge_moved(now, then, pinned=True) == f"The judge changed ({said})"
    assert compared.why_judge_moved(now, then, pinned=False) == ""
    for one, other in ((now, now), (now, a_report()), (a_report(), now)):
        assert list(compared.differing_judges(one, other)) == []
        assert compared.why_judge_moved(one, other, pinned=True) == ""


@pytest.mark.parametrize(
    ("passing", "borderline", "shown"),
    [
        (0.8, 0.6, []),
        (0.9, 0.6, ["The thresholds differ (pass ≥ 0.8, now ≥ 0.9; borderline ≥ 0.6, now ≥ 0.6)."]),
        (0.8, 0.5, ["The thresholds differ (pass ≥ 0.8, now ≥ 0.8; borderline ≥ 0.6, now ≥ 0.5)."]),
    ],
)
def test_thresholds_that_differ(passing: float, borderline: float, shown: list[str]) -> None:
    gate = GateInfo(fail_on="fail", passing=passing, borderline=borderline, holds=True)
    assert list(compared.differing_judges(a_report(gate=gate), a_report())) == shown


ITEM = SentinelItem(
    file="f",
    id="a",
    evaluator="e",
    criterion="c",
    text="t",
    answer="x",
    mark=True,
    repeats=(True, False, True),
    now=(False, False),
)


@pytest.mark.parametrize(
    ("sentinel", "said"),
    [
        (None, ""),
        (Sentinel(items=(ITEM,), p_value=0.5), ""),
        (
            Sentinel(items=(ITEM,), p_value=0.00123, moved=True),
            (
                "The judge moved: 2 of 2 marks of remembered answers differ, "
                "1 of 3 did when the baseline was measured"
            ),
        ),
    ],
)
def test_a_judge_that_the_sentinel_found_moved(sentinel: Sentinel | None, said: str) -> None:
    head = a_report(sentinel=sentinel)
    for pinned in (True, False):
        assert compared.why_judge_moved(head, a_report(), pinned=pinned) == said
