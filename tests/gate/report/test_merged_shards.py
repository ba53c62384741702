"""Split and merge: every case in exactly one shard, and the parts are the whole again."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import CannotMerge
from rubric_ci.gate.report.merged_shards import merge
from rubric_ci.values.comparison import Comparison, Together
from rubric_ci.values.report import (
    Against,
    CostEstimate,
    JudgeInfo,
    RemovedCase,
    Responder,
    RunReport,
    ShardInfo,
    totals,
)
from rubric_ci.values.results import CaseResult, Errored, Graded, Skipped
from rubric_ci.values.scope import Scope
from rubric_ci.values.usage import Usage
from rubric_ci.values.waivers import WaiverResult
from tests.sample_reports import a_report

SHARD = Scope(suite=4).narrowed("shard")
COUNTS = st.integers(min_value=1, max_value=6)


def results(count: int) -> tuple[CaseResult, ...]:
    made: list[CaseResult] = []
    for n in range(count):
        facts: dict[str, Any] = {"file": "z.yaml" if n % 2 else "a.yaml", "line": 9, "id": str(n)}
        match n % 4:
            case 0:
                made.append(Errored(**facts, reason="429"))
            case 1:
                made.append(Skipped(**facts, reason="nothing"))
            case _:
                made.append(Graded(**facts, verdict="pass", score=0.9, reason="good"))
    return tuple(made)


def whole(cases: tuple[CaseResult, ...], **facts: Any) -> RunReport:
    report = a_report(*cases, **facts)
    return replace(report, gate=replace(report.gate, holds=report.verdict not in {"fail", "error"}))


def shards_of(report: RunReport, count: int) -> list[RunReport]:
    dealt = [tuple(range(n, len(report.cases), count)) for n in range(count)]
    return [
        replace(
            whole(tuple(report.cases[n] for n in positions)),
            shard=ShardInfo(index=index, count=count, positions=positions),
        )
        for index, positions in enumerate(dealt, start=1)
    ]


@given(st.integers(min_value=0, max_value=24), COUNTS, st.randoms())
def test_merging_the_shards_is_the_run_itself(cases: int, count: int, random: Any) -> None:
    report = whole(results(cases))
    shards = shards_of(report, count)
    random.shuffle(shards)
    assert merge(shards) == report


def test_values_that_differ_between_shards_are_combined() -> None:
    one, two = (
        replace(
            shard,
            started_at=f"2025-01-01T00:00:0{3 - n}+00:00",
            duration_seconds=3.0 * n,
            notes=("a", "b") if n == 1 else ("b", "c"),
            metadata={"event": "push", "run_url": f"{n}"},
            scope=SHARD,
        )
        for n, shard in enumerate(shards_of(whole(results(4)), 2), start=1)
    )
    merged = merge([one, two])
    assert (merged.started_at, merged.duration_seconds) == ("2025-01-01T00:00:01+00:00", 6.0)
    assert (merged.notes, merged.metadata) == (("a", "b", "c"), {"event": "push"})
    assert (merged.scope, merged.shard) == (Scope(suite=4), None)


def passing(count: int) -> list[RunReport]:
    """Return the shards of four passing cases."""
    cases = (replace(results(4)[2], id=str(n)) for n in range(4))
    return shards_of(whole(tuple(cases)), count)


@pytest.mark.parametrize("missing", [1, 2])
def test_a_missing_shard_interrupts_the_run_and_is_named(missing: int) -> None:
    parts = [shard for n, shard in enumerate(passing(3), start=1) if n != missing]
    merged = merge(parts[::-1])
    assert merged.notes == (f"Shard {missing}/3 is missing: its cases have no verdict.",)
    assert (merged.scope.unfinished, merged.verdict, merged.gate.holds) == (True, "error", False)
    assert merged.covers == f"{len(merged.cases)} cases: --shard, interrupted"
    assert merged.totals == totals(tuple(case for part in parts for case in part.cases))


def test_an_interrupted_shard_interrupts_the_run() -> None:
    one, two = passing(2)
    ended = Scope().narrowed("interrupted")
    for parts in ([replace(one, scope=ended), two], [one, replace(two, scope=ended)]):
        merged = merge(parts)
        assert (merged.scope.unfinished, merged.gate.holds, merged.notes) == (True, False, ())
        assert merged.verdict == "error"
    assert (merge([one, two]).scope, merge([one, two]).verdict) == (Scope(), "pass")


def test_the_preflights_of_all_shards_count() -> None:
    parts = [replace(part, beyond_cases=Usage(calls=2)) for part in shards_of(whole(results(4)), 2)]
    merged = merge(parts)
    assert merged.beyond_cases == Usage(calls=4)
    assert merged.totals.calls == 4 + totals(merged.cases).calls


def test_a_replayed_shard_marks_the_run() -> None:
    one, two = shards_of(whole(results(4)[2:]), 2)
    assert merge([one, replace(two, scope=Scope().narrowed("replay"))]).scope.replayed
    assert not merge([one, two]).scope.replayed


def test_fail_on_replaces_the_gate_of_the_shards() -> None:
    one, two = shards_of(whole(results(4)[2:]), 2)
    assert merge([one, two]).gate.fail_on == "fail"
    assert merge([one, two], "never").gate.fail_on == "never"


def changed(report: RunReport, **facts: Any) -> RunReport:
    return replace(report, **facts)


def base_side(**sums: Any) -> Against:
    return Against(ref="main", commit="a" * 40, **sums)


def test_all_cases_together_are_worse_if_a_shard_is() -> None:
    quiet = Together(cases=200, clusters=200, fewer_pass=1, more_fail=1, p_value=0.4, worse=False)
    worse = replace(quiet, p_value=0.5, worse=True)
    shards = shards_of(whole(results(4)[2:]), 2)
    for pair, kept in (((None, None), None), ((quiet, worse), worse), ((quiet, None), quiet)):
        parts = [base_side(together=each) for each in pair]
        merged = merge([replace(s, against=p) for s, p in zip(shards, parts, strict=True)])
        assert merged.against
        assert merged.against.together == kept


def test_files_that_one_shard_could_not_read_spoil_the_whole() -> None:
    one, two = shards_of(whole(results(4)[2:]), 2)
    broken = replace(one, scope=Scope(suite=1).narrowed("invalid"))
    assert merge([broken, replace(two, scope=Scope(suite=2))]).verdict == "error"


COUNTED = {"further_trials": 2, "asked": 3, "reused": 4, "recorded": 5, "shared": 6}
MORE = {name: count + 10 for name, count in COUNTED.items()}
SUMS = {name: COUNTED[name] + MORE[name] for name in COUNTED} | {"further_trials": 12}
PART = base_side(**COUNTED, usage=Usage(calls=1))
A, B = Responder(requested="m", model="a", replies=2), Responder(requested="m", replies=5)
IDLE = WaiverResult(
    state="not-run", case="x", criterion="c", line=1, reason="r", owner="o", until="2030-01-01"
)
MET = replace(IDLE, state="unneeded")
GONE = RemovedCase(file="a", id="x"), RemovedCase(file="a", id="y")
COMBINED: dict[str, tuple[str, Any, Any, Any]] = {
    "no base side": ("against", None, None, None),
    "the base side of one shard": ("against", PART, None, PART),
    "the sums of both base sides": (
        *("against", PART, base_side(**MORE, usage=Usage(calls=2))),
        base_side(**SUMS, usage=Usage(calls=3)),
    ),
    "replies": ("responders", (A,), (B, replace(A, replies=3)), (replace(A, replies=5), B)),
    "the outcome of a waiver where its case ran": ("waivers", (IDLE,), (MET,), (MET,)),
    "removed cases, once": ("removed", GONE[:1], GONE, GONE),
    "a comparison of one shard is none": ("comparison", Comparison(source="report"), None, None),
}


@pytest.mark.parametrize(("name", "one", "two", "expected"), COMBINED.values(), ids=COMBINED)
def test_how_two_shards_are_combined(name: str, one: Any, two: Any, expected: Any) -> None:
    first, second = shards_of(whole(results(4)[2:]), 2)
    merged = merge([changed(first, **{name: one}), changed(second, **{name: two})])
    assert getattr(merged, name) == expected


A_JUDGE = JudgeInfo(model="m", prompt_version="1")
ONE, TWO = shards_of(whole(results(4)), 2)


def numbered(positions: tuple[int, ...], count: int = 2) -> RunReport:
    return changed(TWO, shard=ShardInfo(index=2, count=count, positions=positions))


COMMITS = [changed(shard, metadata={"head_sha": sha}) for shard, sha in ((ONE, "a"), (TWO, "b"))]
NARROWED = [changed(ONE, scope=SHARD), changed(TWO, scope=SHARD.narrowed("case", "tag"))]
DIFFERENT = "the reports have different"
SHOWN = "model=m prompt_version=1 mode=batched votes=1"
MISFITS: dict[str, tuple[list[RunReport], str]] = {
    "none": ([], "no report to merge"),
    "whole": ([whole(())], "a report was made without --shard: there is nothing to merge"),
    "twice": ([ONE, ONE], "shard 1/2 was passed twice"),
    "version": (
        [ONE, changed(TWO, tool="rubric-ci 9")],
        f"{DIFFERENT} versions of rubric-ci: {ONE.tool}, rubric-ci 9",
    ),
    "count": ([ONE, numbered((1, 3), 3)], f"{DIFFERENT} counts of shards: 2, 3"),
    "commit": (COMMITS, f"{DIFFERENT} commits: a, b"),
    "judge": ([ONE, changed(TWO, judge=A_JUDGE)], f"{DIFFERENT} judges: {SHOWN}, none"),
    "gate": (
        [changed(ONE, gate=replace(ONE.gate, passing=0.9)), TWO],
        f"{DIFFERENT} gates: passing=0.8, passing=0.9",
    ),
    "suite": (
        [ONE, changed(TWO, scope=Scope(suite=9))],
        f"{DIFFERENT} sizes of the suite: 9, none",
    ),
    "selection": (NARROWED, f"{DIFFERENT} selections: case and tag, every case"),
    "same position": ([ONE, numbered((0, 1))], "two shards contain the case at position 0"),
    "case missing": ([ONE, numbered((1, 2, 3))], "shard 2/2 lists 3 positions for 2 cases"),
    "positions missing": ([ONE, numbered(())], "shard 2/2 lists 0 positions for 2 cases"),
}


@pytest.mark.parametrize(("reports", "message"), MISFITS.values(), ids=MISFITS)
def test_reports_that_are_not_of_one_run(reports: list[RunReport], message: str) -> None:
    with pytest.raises(CannotMerge) as caught:
        merge(reports)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("costs", "cost"), [((0.1, 0.2), 0.3), ((0.1, None), None)], ids=["known", "partly unknown"]
)
def test_what_was_reckoned_is_added_up(
    costs: tuple[float | None, float | None], cost: float | None
) -> None:
    parts = [
        replace(
            a_report(),
            shard=ShardInfo(index=n, count=3),
            forecast=None
            if n == 3
            else CostEstimate(requests=n, input_tokens=10, output_tokens=1, cost_usd=costs[n - 1]),
        )
        for n in (1, 2, 3)
    ]
    expected = CostEstimate(requests=3, input_tokens=20, output_tokens=2, cost_usd=cost)
    assert merge(parts).forecast == expected
    assert merge([replace(part, forecast=None) for part in parts]).forecast is None
