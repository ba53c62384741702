"""The folder of a pinned reference, on a disk."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import CannotReadReport
from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.comparison.baseline_files import LOG_FILE, read_baseline, read_log, write_log
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.reference_folder import Acceptance, accept, keep, replace_reports
from rubric_ci.gate.report import json_format
from rubric_ci.gate.report.decision import concluded
from rubric_ci.values.comparison import Comparison, Decision, ReferenceLog
from rubric_ci.values.report import JudgeInfo, RunReport
from rubric_ci.values.results import Graded
from rubric_ci.values.scope import Narrowing, Scope
from tests.gate.waivers.test_waived import a_waiver
from tests.nights import case, night
from tests.sample_reports import errored

NOW = "2026-02-01T00:00:00+00:00"


def kept(folder: Path, *reports: RunReport) -> list[str]:
    """Keep the reports, and return what was said about the last one."""
    lines: list[str] = []
    for report in reports:
        lines = [line.replace(f"{folder.as_posix()}/", "") for line in keep(report, folder)]
    return lines


def trials(folder: Path) -> dict[str, str]:
    """Return the trials of each case: P pass, F fail."""
    cases = (case for case in read_baseline(folder).report.cases if isinstance(case, Graded))
    return {each.id: "".join(t.verdict[0].upper() for t in each.trials) for each in cases}


FULL = night(1, case("a", 15), case("b", 0, 15))


@pytest.mark.parametrize(
    ("reports", "last", "found"),
    [
        pytest.param(
            [FULL],
            ["2 of 2 cases: added trials to the reference", "night 1 in reference.json"],
            {"a": "P" * 15, "b": "F" * 15},
            id="the first run, red as it is",
        ),
        pytest.param(
            [FULL, night(2, case("a", 0, 3), case("b", 3))],
            ["night 2 in reference.json"],
            {"a": "P" * 15, "b": "F" * 15},
            id="no night moves it",
        ),
        pytest.param(
            [FULL, night(2, case("a", 3), case("b", 0, 3), case("c", 3))],
            ["1 of 3 cases: added trials to the reference", "night 2 in reference.json"],
            {"a": "P" * 15, "b": "F" * 15, "c": "PPP"},
            id="a new case",
        ),
        pytest.param(
            [night(1, errored("a"), errored("b"))],
            ["no reference yet: no case of this run was graded"],
            None,
            id="an outage on the first night",
        ),
        pytest.param(
            [night(1, case("a", 15), errored("b")), night(2, case("a", 3), case("b", 3))],
            ["1 of 2 cases: added trials to the reference", "night 2 in reference.json"],
            {"a": "P" * 15, "b": "PPP"},
            id="a case that had no verdict",
        ),
        pytest.param(
            [night(1, case("a", 3)), night(1, case("a", 3))],
            ["night 1 in reference.json"],
            {"a": "PPP"},
            id="the same run twice",
        ),
        pytest.param(
            [FULL, replace(FULL, judge=JudgeInfo(model="m", prompt_version="2"), started_at=NOW)],
            [
                "no trials were added: the reference has another judge or other thresholds",
                "night 2 in reference.json",
            ],
            {"a": "P" * 15, "b": "F" * 15},
            id="another judge",
        ),
    ],
)
def test_keep(
    tmp_path: Path, reports: list[RunReport], last: list[str], found: dict[str, str] | None
) -> None:
    folder = tmp_path / "reference"
    assert kept(folder, *reports) == last
    assert folder.exists() == (found is not None)
    if found is not None:
        assert trials(folder) == found


def test_a_gate_that_fails_for_a_waiver_stays_readable(tmp_path: Path) -> None:
    """The waiver of a criterion that is met fails the gate, also of the part that is kept."""
    waivers = (a_waiver("unneeded", case="a"),)
    run = replace(night(1, case("a", 15)), waivers=waivers)
    kept(tmp_path, replace(run, gate=concluded(run.gate, run.cases, run.scope, waivers)))
    assert trials(tmp_path) == {"a": "P" * 15}


def test_a_folder_of_reports_gets_a_log(tmp_path: Path) -> None:
    kept(tmp_path, FULL)
    (tmp_path / LOG_FILE).unlink()
    kept(tmp_path, night(2, case("a", 3)))
    log = read_log(tmp_path)
    assert log
    assert (log.decision.reason, log.decision.commit) == ("first run", "1" * 40)


@pytest.mark.parametrize(
    ("narrowed_by", "reason"),
    [(name, f"^this report covers 2 of 4 cases: --{name}$") for name in ("case", "changed-since")]
    + [("replay", "^this report is of a replayed run: its marks are recorded, not measured$")],
)
def test_a_part_of_a_run_is_refused(tmp_path: Path, narrowed_by: Narrowing, reason: str) -> None:
    part = replace(FULL, scope=Scope(suite=4).narrowed(narrowed_by))
    with pytest.raises(CannotReadReport, match=reason):
        list(keep(part, tmp_path))
    with pytest.raises(CannotReadReport, match=reason):
        accept(part, tmp_path, Acceptance(reason="r", decided_at=NOW))


@pytest.mark.parametrize(
    ("globs", "found", "shown"),
    [
        pytest.param(
            (),
            {"a": "F" * 15, "b": "P" * 15},
            "commit `3333333333` of 2026-01-03, 0 days old, 15 trials per case (wanted)",
            id="all",
        ),
        pytest.param(
            ("a*",),
            {"b": "F" * 15, "a": "F" * 15},
            "commit `1111111111` of 2026-01-01, 2 days old, 15 trials per case (first run); "
            "1 case since commit `3333333333` of 2026-01-03, 0 days old (wanted)",
            id="one case",
        ),
    ],
)
def test_accept(tmp_path: Path, globs: tuple[str, ...], found: dict[str, str], shown: str) -> None:
    kept(tmp_path, FULL, night(2, case("a", 0, 10), case("b", 0, 3)))
    head = night(3, case("a", 0, 15), case("b", 15))
    before = accept(head, tmp_path, Acceptance(reason="wanted", cases=globs, decided_at=NOW))
    assert before
    assert phrases.headline(before) == "worse than the reference: 1 case broken"
    assert trials(tmp_path) == found
    log = read_log(tmp_path)
    assert log
    assert [(d.reason, d.commit[:1], d.cases) for d in log.decisions] == [
        ("first run", "1", 2),
        ("wanted", "3", len(globs) or 2),
    ]
    assert log.decision.decided_at == NOW
    assert [each.log_products for each in log.nights] == [(), ()]
    after = compare(head, read_baseline(tmp_path))
    assert phrases.broken(after) == []
    assert f"Reference: {shown}" in [*phrases.lines(after)]


def test_accept_the_run_that_is_the_reference_in_part(tmp_path: Path) -> None:
    """The parts of one run are two files."""
    kept(tmp_path, FULL)
    accept(FULL, tmp_path, Acceptance(reason="r", cases=("a",), decided_at=NOW))
    assert trials(tmp_path) == {"b": "F" * 15, "a": "P" * 15}
    at = FULL.started_at.replace(":", "-")
    assert sorted(each.name for each in tmp_path.iterdir()) == [at, f"{at}-1", LOG_FILE]


def test_accept_as_the_first_reference(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    assert accept(FULL, folder, Acceptance(reason="start", decided_at=NOW)) is None
    assert trials(folder) == {"a": "P" * 15, "b": "F" * 15}
    decision = Decision(
        reason="start", commit="1" * 40, measured_at=FULL.started_at, decided_at=NOW, cases=2
    )
    assert read_log(folder) == ReferenceLog(decisions=(decision,))


@pytest.mark.parametrize(
    ("acceptance", "moved"),
    [
        ({}, ["e.yaml a", "e.yaml b", "other.yaml a"]),
        ({"cases": ("a", "x*")}, ["e.yaml a", "other.yaml a"]),
        ({"keys": frozenset({("e.yaml", "a")})}, ["e.yaml a"]),
        ({"keys": frozenset({("e.yaml", "a")}), "cases": ("b",)}, []),
    ],
)
def test_the_cases_that_an_acceptance_moves(acceptance: dict[str, Any], moved: list[str]) -> None:
    cases = [case("a", 1), case("b", 1), replace(case("a", 1), file="other.yaml")]
    chosen = Acceptance(reason="r", decided_at=NOW, **acceptance)
    assert [f"{each.file} {each.id}" for each in cases if chosen.moves(each)] == moved


def test_the_first_night_is_not_compared_with_itself(tmp_path: Path) -> None:
    """The run was worse than a commit, which the log of the reference is not about."""
    kept(tmp_path, replace(FULL, comparison=Comparison(source="commit", regressed=True)))
    log = read_log(tmp_path)
    assert log
    assert [each.worse for each in log.nights] == [False]


@pytest.mark.parametrize("keeps", [True, False])
def test_evidence_of_a_slide_is_dropped_unless_it_is_kept(tmp_path: Path, *, keeps: bool) -> None:
    kept(tmp_path, FULL, night(2, case("a", 3), case("b", 0, 3)))
    accept(FULL, tmp_path, Acceptance(reason="r", decided_at=NOW, keeps_evidence=keeps))
    log = read_log(tmp_path)
    assert log
    assert [bool(each.log_products) for each in log.nights] == [False, keeps]


def test_a_report_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "then.json"
    path.write_text(json_format.render(FULL))
    new = night(2, case("a", 3))
    replace_reports(path, new, NOW)
    assert path.read_text() == json_format.render(new)


def test_the_reports_of_a_folder_are_replaced(tmp_path: Path) -> None:
    """One of them is not in a folder of its own; without a log, none is made."""
    (tmp_path / "report.json").write_text(json_format.render(FULL))
    kept(tmp_path, night(2, case("a", 3), case("b", 0, 3), case("c", 3)))
    (tmp_path / LOG_FILE).unlink()
    new = night(3, case("a", 0, 15))
    replace_reports(tmp_path, new, NOW)
    assert trials(tmp_path) == {"a": "F" * 15}
    assert [each.name for each in tmp_path.iterdir()] == [new.started_at.replace(":", "-")]


def test_a_rejudged_reference_keeps_its_commit_and_says_so(tmp_path: Path) -> None:
    kept(tmp_path, FULL, night(2, case("a", 3), case("b", 0, 3)))
    replace_reports(tmp_path, night(3, case("a", 0, 15)), NOW)
    assert trials(tmp_path) == {"a": "F" * 15}
    log = read_log(tmp_path)
    assert log
    first, rejudged = log.decisions
    assert rejudged == replace(first, reason="rejudged, first run", decided_at=NOW, cases=1)
    assert [each.log_products for each in log.nights] == [(), ()]


@pytest.mark.parametrize(
    ("head", "globs", "message"),
    [
        pytest.param(FULL, ("x*",), "no case to accept", id="no such case"),
        pytest.param(night(2, errored("a")), (), "no case to accept", id="nothing graded"),
        pytest.param(
            replace(FULL, judge=JudgeInfo(model="m", prompt_version="2"), started_at=NOW),
            ("a",),
            "the judge or the thresholds of the reference differ",
            id="two judges",
        ),
    ],
)
def test_what_cannot_be_accepted_changes_nothing(
    tmp_path: Path, head: RunReport, globs: tuple[str, ...], message: str
) -> None:
    kept(tmp_path, FULL)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    with pytest.raises(CannotReadReport, match=message):
        accept(head, tmp_path, Acceptance(reason="r", cases=globs, decided_at=NOW))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "reference.json: not the log of a reference: decisions: is missing"),
        ('{"decisions": []}', "reference.json: version 1, or no decision: it cannot be read"),
        ("[", "reference.json: not the log of a reference: not JSON (Expecting "),
    ],
)
def test_a_log_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / LOG_FILE).write_text(text)
    with pytest.raises(CannotReadReport) as caught:
        read_log(tmp_path)
    assert message in caught.value.message


def test_a_slide_makes_a_night_worse_that_no_case_shows(tmp_path: Path) -> None:
    """Every case loses one answer in five: no suspect, and no significant mean of one night."""
    names = [f"c{n}" for n in range(8)]
    kept(tmp_path, night(1, *(case(name, 15) for name in names)))
    slid = [night(day, *(case(name, 4, 1) for name in names)) for day in range(2, 13)]
    kept(tmp_path, *slid)
    log = read_log(tmp_path)
    assert log
    worse = [each.worse for each in log.nights]
    assert (worse[1], worse[-1]) == (True, True)


def test_five_nights_are_the_reference(tmp_path: Path) -> None:
    """The second night is compared; a night adds no case that it found worse."""
    names = [f"c{n}" for n in range(8)]
    kept(tmp_path, night(1, *(case(name, 3) for name in names)))
    broken = replace(case("c0", 0, 20), further_trials=17)
    worse = night(2, broken, *(case(name, 3) for name in names[1:]))
    first = compare(worse, read_baseline(tmp_path, worse))
    assert phrases.headline(first) == (
        "suspected to be worse than the reference: 1 case worse in this night; "
        "a second one confirms it"
    )
    assert kept(tmp_path, worse) == [
        "7 of 8 cases: added trials to the reference",
        "night 2 in reference.json",
    ]
    assert phrases.headline(compare(worse, read_baseline(tmp_path, worse))) == (
        phrases.headline(first)  # with what it added left out
    )
    kept(tmp_path, *(night(day, *(case(name, 3) for name in names)) for day in range(3, 8)))
    assert trials(tmp_path) == dict.fromkeys(names, "P" * 15)


def test_nights_that_are_alike_are_named(tmp_path: Path) -> None:
    """The trials of each night are equal: what a cache before the model does."""
    names = [f"c{n}" for n in range(8)]
    for day in range(1, 6):
        bad = {name: day == 1 + n % 5 for n, name in enumerate(names)}
        kept(
            tmp_path,
            night(day, *(case(each, 3 * (not bad[each]), 3 * bad[each]) for each in names)),
        )
    found = compare(night(6, *(case(name, 3) for name in names)), read_baseline(tmp_path))
    assert found.comparison
    (note,) = found.comparison.notes
    assert note == (
        "Trials of one night of the reference agree more than trials of different nights "
        "(correlation 1.00), so that a single night is worse by chance more often than "
        "`false_alarms` says. Nor do two nights in a row keep within it, beyond a correlation of "
        "0.2. Find what the trials of a night share (a cache before the model, a fixed seed, a "
        "model of the day), or raise `reference_trials`, so that the reference has more nights."
    )


A_DECISION = Decision(reason="r", measured_at=NOW, decided_at=NOW, cases=24)
FEW_NIGHTS = (
    "The reference has fewer than 3 nights and does not show how much nights differ: a mean score "
    "may be lower by what a night shares, such as a lenient judge, more often than `false_alarms` "
    "says. Gather it over five nights of 3 trials (`rubric-ci baseline keep`)."
)
LENIENT = [0, 6, 3, 9, 0]
"""Of 24 cases, how many fail one trial of three in each of five nights."""


def lenient(day: int, failing: int) -> RunReport:
    """Return a night in which the first cases fail one of three trials."""
    return night(day, *(case(f"c{n}", 3 - (n < failing), n < failing) for n in range(24)))


@pytest.mark.parametrize(
    ("nights", "p_value", "low", "lower", "notes"),
    [
        pytest.param(1, 0.000977, -0.224418, True, [FEW_NIGHTS], id="one night"),
        pytest.param(2, 0.000977, -0.168574, True, [FEW_NIGHTS], id="two nights"),
        pytest.param(3, 0.147197, -0.318123, False, [], id="three nights"),
        pytest.param(5, 0.159238, -0.268009, False, [], id="five nights"),
    ],
)
def test_a_night_is_lower_by_more_than_nights_differ(
    tmp_path: Path, nights: int, p_value: float, low: float, notes: list[str], *, lower: bool
) -> None:
    """One judge gives all marks of a night, and is not as lenient in each.

    From three nights on as scipy.stats.t has it, with one degree of freedom less than nights.
    """
    for day, failing in enumerate(LENIENT[:nights], 1):
        path = tmp_path / str(day) / "report.json"
        path.parent.mkdir()
        path.write_text(json_format.render(lenient(day, failing)))
    write_log(tmp_path, ReferenceLog(decisions=(A_DECISION,)))
    found = compare(lenient(7, 11), read_baseline(tmp_path)).comparison
    assert found
    assert found.interval
    assert (found.p_value, found.interval[0]) == pytest.approx((p_value, low), abs=2e-6)
    assert (found.lower, [n for n in found.notes if "provisional" not in n]) == (lower, notes)
