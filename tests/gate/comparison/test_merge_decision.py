"""What a merge decides about the pinned reference."""

from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.errors import CannotReadReport
from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.comparison.baseline_files import read_baseline, read_log
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.merge_decision import Decided, accept_merge
from rubric_ci.gate.comparison.reference_folder import Acceptance, accept, keep
from rubric_ci.gate.report.decision import concluded
from rubric_ci.values.report import Against, JudgeInfo, RunReport
from rubric_ci.values.results import CaseResult, Change, Graded
from tests.gate.waivers.test_waived import a_waiver
from tests.nights import case, night
from tests.sample_reports import errored

NOW = "2026-02-01T00:00:00+00:00"
FULL = night(1, case("a", 15), case("b", 0, 15), case("flaky", 8, 7))
STAYS = "the reference stays: the merge fixed no case of it and accepted none"


def merged(*cases: CaseResult) -> RunReport:
    """Return the report of the default branch after a merge, on the fourth day."""
    excused = (each for each in cases if isinstance(each, Graded) and each.waived)
    waivers = tuple(a_waiver(case=each.id, criterion="greets") for each in excused)
    run = replace(night(4, *cases), against=Against(ref="auto", commit="3" * 40), waivers=waivers)
    return replace(run, gate=concluded(run.gate, run.cases, run.scope, waivers))


def fixed(name: str, good: int = 5, bad: int = 0) -> Graded:
    """Return a case that a merge fixed, with its first trial and those that confirmed it."""
    count = good + bad - 1
    return replace(changed(case(name, good, bad), "fixed"), further_trials=count)


def changed(each: Graded, change: Change, *, waived: bool = False) -> Graded:
    if not waived:
        return replace(each, change=change)
    excused = tuple(replace(trial, without_waived="pass") for trial in each.trials)
    kept = replace(each, change=change, waived=("greets",), without_waived="pass")
    return replace(kept, trials=excused)


def trials(folder: Path) -> dict[str, str]:
    """Return the trials of each case: P pass, F fail."""
    cases = (each for each in read_baseline(folder).report.cases if isinstance(each, Graded))
    return {each.id: "".join(t.verdict[0].upper() for t in each.trials) for each in cases}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A reference of the first night, and a second night."""
    for report in (FULL, night(2, case("a", 3), case("b", 0, 3), case("flaky", 2, 1))):
        list(keep(report, tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("cases", "line", "moved"),
    [
        pytest.param(
            [fixed("b")],
            "the reference moved to 4444444444 for 1 case (merge: fixed b)",
            {"b": "PPPP"},
            id="fixed",
        ),
        pytest.param(
            [changed(case("a", 0, 3), "broken", waived=True)],
            "the reference moved to 4444444444 for 1 case (merge: accepted a (waived))",
            {"a": "FFF"},
            id="broken and waived",
        ),
        pytest.param(
            [
                changed(case("a", 0, 3), "failing-before", waived=True),
                fixed("b"),
            ],
            "the reference moved to 4444444444 for 2 cases (merge: fixed b; accepted a (waived))",
            {"a": "FFF", "b": "PPPP"},
            id="a waiver for what failed since some nights, and another case fixed",
        ),
        pytest.param([changed(case("b", 5), "fixed")], STAYS, {}, id="fixed, not asked again"),
        pytest.param([fixed("b", 2, 3)], STAYS, {}, id="its further trials do not show it"),
        pytest.param([changed(case("a", 0, 3), "broken")], STAYS, {}, id="broken"),
        pytest.param([changed(case("b", 3), "unchanged")], STAYS, {}, id="a good run"),
        pytest.param([fixed("a")], STAYS, {}, id="fixed before any night"),
        pytest.param([fixed("flaky")], STAYS, {}, id="a flaky case"),
        pytest.param(
            [changed(case("b", 0, 3), "failing-before", waived=True)], STAYS, {}, id="as it was"
        ),
        pytest.param([changed(case("new", 3), "new"), errored("a")], STAYS, {}, id="not there"),
        pytest.param(
            [replace(fixed("b"), change="unchanged")], STAYS, {}, id="asked again, but no fix"
        ),
    ],
)
def test_a_merge(folder: Path, cases: list[CaseResult], line: str, moved: dict[str, str]) -> None:
    before = trials(folder)
    head = merged(*cases, *(each for each in FULL.cases if each.id not in {c.id for c in cases}))
    said = list(accept_merge(head, folder, NOW))
    assert said[0] == line
    assert trials(folder) == before | moved


def test_reports_name_the_move(folder: Path) -> None:
    head = merged(case("a", 3), fixed("b"), case("flaky", 2, 1))
    said = list(accept_merge(head, folder, NOW))
    shown = (
        "Reference: commit `1111111111` of 2026-01-01, {} days old, 15 trials per case "
        "(first run); "
        "1 case since commit `4444444444` of 2026-01-04, {} days old (merge: fixed b)"
    )
    assert said[1] == shown.format(3, 0)
    later = night(6, case("a", 3), case("b", 3), case("flaky", 2, 1))
    assert shown.format(5, 2) in list(phrases.lines(compare(later, read_baseline(folder))))
    list(keep(later, folder))
    assert trials(folder)["b"] == "PPPPPPP"  # the nights add the trials that it lacks


def test_only_the_last_moves_are_named(folder: Path) -> None:
    for day in range(4, 9):
        head = night(day, case("a", 3), case("b", 3), case("flaky", 2, 1))
        accept(head, folder, Acceptance(reason=f"day {day}", cases=("b",), decided_at=NOW))
    compared = compare(head, read_baseline(folder))
    assert phrases.source(compared).split("; ")[1:] == [
        "2 earlier moves of some cases",
        "1 case since commit `6666666666` of 2026-01-06, 2 days old (day 6)",
        "1 case since commit `7777777777` of 2026-01-07, 1 day old (day 7)",
        "1 case since commit `8888888888` of 2026-01-08, 0 days old (day 8)",
    ]


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        (merged(case("a", 3), fixed("b")), True),
        (merged(changed(case("a", 0, 3), "broken", waived=True), case("b", 0, 3)), False),
    ],
    ids=["fixed", "accepted"],
)
def test_evidence_of_a_slide_outlives_a_rise_only(
    folder: Path, head: RunReport, kept: bool
) -> None:
    list(accept_merge(head, folder, NOW))
    log = read_log(folder)
    assert log
    assert [bool(each.log_products) for each in log.nights] == [False, kept]


def test_a_reason_names_five_cases() -> None:
    keys = tuple(("e.yaml", name) for name in "abcdefg")
    assert Decided(fixed=keys[:5], accepted=()).reason == "merge: fixed a, b, c, d, e"
    assert Decided(fixed=keys[6:], accepted=keys[:6]).reason == (
        "merge: fixed g; accepted a, b, c, d, e and 1 more (waived)"
    )


def test_another_judge_moves_nothing(folder: Path) -> None:
    head = merged(fixed("b"))
    other = replace(head, judge=JudgeInfo(model="other", prompt_version="1"))
    before = trials(folder)
    assert list(accept_merge(other, folder, NOW)) == [
        "the reference stays: this run has another judge or other thresholds"
    ]
    assert trials(folder) == before


def test_before_the_first_night(tmp_path: Path) -> None:
    said = list(accept_merge(merged(case("a", 3)), tmp_path / "none", NOW))
    assert said == ["no reference yet: the first night starts it"]


def test_a_run_without_a_base_is_refused(folder: Path) -> None:
    with pytest.raises(CannotReadReport, match="no comparison with the commit before the merge"):
        list(accept_merge(night(4, case("b", 3)), folder, NOW))
