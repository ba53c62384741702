"""The one comparison of a run: what was asked for, the gate with it, and the notes on it."""

from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.comparison.baseline import with_comparison
from rubric_ci.comparison.reference import Baseline
from rubric_ci.model.gate import GateInfo
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import Against, RunReport
from rubric_ci.model.results import Change
from tests.sample_reports import a_report, graded

GATE = GateInfo(fail_on="regression", passing=0.8, borderline=0.6, holds=False)
SETTINGS = RunSettings(baseline=Path("then.json"))
THEN = Baseline(report=a_report(graded("a", "fail")), ref="then.json")
ALONE = (
    "fail-on is regression and there is no comparison, so every case that fails counts: "
    "set `--against` or `--baseline`"
)
BOTH = (
    "Compared with the commit of `--against`: the baseline then.json was not read, as a run is "
    "compared with one of them."
)


def head(change: Change | None = None, commit: str | None = None) -> RunReport:
    against = None if commit is None else Against(ref="main", commit=commit)
    return replace(a_report(graded("a", "fail", change=change), gate=GATE), against=against)


@pytest.mark.parametrize(
    ("report", "baseline", "source", "holds", "notes"),
    [
        pytest.param(head(), THEN, "report", True, (), id="a report"),
        pytest.param(
            head("broken", "1" * 40),
            None,
            "commit",
            False,
            (BOTH,),
            id="a commit and a report",
        ),
        pytest.param(
            head(),
            None,
            None,
            False,
            ("No comparison: the baseline then.json does not exist.", ALONE),
            id="a report that does not exist",
        ),
        pytest.param(
            head("failing-before"),
            None,
            None,
            True,
            ("No comparison: the baseline then.json does not exist.",),
            id="merged shards that were compared each",
        ),
    ],
)
def test_a_run_is_compared_with_what_was_asked_for(
    report: RunReport,
    baseline: Baseline | None,
    source: str | None,
    *,
    holds: bool,
    notes: tuple[str, ...],
) -> None:
    found = with_comparison(report, baseline, SETTINGS, {})
    assert (found.comparison.source if found.comparison else None) == source
    assert (found.gate.holds, found.notes) == (holds, notes)
