"""A waiver is unneeded after six runs in a row that meet its criterion."""

from pathlib import Path

import pytest

from rubric_ci.services.last_run import NAME, keep_passes, newly_marked, read_passes, with_passes
from rubric_ci.values.waivers import WaiverResult, WaiverState
from tests.sample_reports import a_rubric, errored, graded


def a_waiver(state: WaiverState, case: str = "c") -> WaiverResult:
    facts = {"file": "a.yaml", "criterion": "x", "reason": "r", "owner": "o", "until": "2030-01-01"}
    return WaiverResult(state=state, case=case, line=1, **facts)


NEW = newly_marked([graded("c", "pass", file="a.yaml"), graded("d", "pass", file="a.yaml")])


def test_a_mark_or_an_answer_from_the_cache_counts_nothing(tmp_path: Path) -> None:
    cached = a_rubric(cached_marks=1)
    assert newly_marked([graded("c", evaluators=(cached,))]) == set()
    assert newly_marked([graded("c", answer_reused=True), errored("d")]) == set()
    for _ in range(8):
        found = with_passes([a_waiver("met")], read_passes(tmp_path), frozenset())
        keep_passes(tmp_path, tmp_path, [a_waiver("met")], frozenset())
    assert found[0].state == "met"


def states(cache: Path, *runs: WaiverState) -> list[WaiverState]:
    """Return the state of a waiver in each of these runs."""
    found = []
    for state in runs:
        waivers = with_passes([a_waiver(state)], read_passes(cache), NEW)
        found.append(waivers[0].state)
        keep_passes(cache, cache, [a_waiver(state)], NEW)
    return found


@pytest.mark.parametrize(
    ("runs", "unneeded"),
    [
        (["met"] * 8, [5, 6, 7]),
        (["met"] * 5 + ["applied"] + ["met"] * 6, [11]),
        (["met"] * 3 + ["not-run"] + ["met"] * 3, [6]),
        (["expired"] * 8, []),
    ],
    ids=["always met", "missed once", "not run once", "not in force"],
)
def test_six_runs_in_a_row(tmp_path: Path, runs: list[WaiverState], unneeded: list[int]) -> None:
    found = states(tmp_path, *runs)
    assert [n for n, state in enumerate(found) if state == "unneeded"] == unneeded


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"a": "b"}'])
def test_a_file_that_cannot_be_read_counts_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / NAME).write_text(text)
    assert read_passes(tmp_path) == {}
    assert read_passes(None) == {}


def test_other_waivers_keep_their_counts(tmp_path: Path) -> None:
    keep_passes(tmp_path, tmp_path, [a_waiver("met"), a_waiver("met", "d")], NEW)
    keep_passes(tmp_path, tmp_path, [a_waiver("applied", "d")], NEW)
    assert sorted(read_passes(tmp_path).values()) == [0, 1]
