"""The folder of a pinned reference, on a disk."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import CannotReadReport
from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.comparison.baseline_files import LOG_FILE, read_baseline, read_log
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.reference import Decision, ReferenceLog
from rubric_ci.gate.report.decision import concluded
from rubric_ci.parts.lab.reference_folder import Acceptance, accept, keep
from rubric_ci.values.comparison import Comparison
from rubric_ci.values.report import JudgeInfo, RunReport, Sentinel, SentinelItem
from rubric_ci.values.results import Graded
from rubric_ci.values.scope import Narrowing, Scope
from tests.gate.waivers.test_waiver_report import a_waiver
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
            ["2 of 2 cases: added trials to the baseline", "night 1 in reference.json"],
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
            ["1 of 3 cases: added trials to the baseline", "night 2 in reference.json"],
            {"a": "P" * 15, "b": "F" * 15, "c": "PPP"},
            id="a new case",
        ),
        pytest.param(
            [night(1, errored("a"), errored("b"))],
            ["no baseline yet: no case of this run was graded"],
            None,
            id="an outage on the first night",
        ),
        pytest.param(
            [night(1, case("a", 15), errored("b")), night(2, case("a", 3), case("b", 3))],
            ["1 of 2 cases: added trials to the baseline", "night 2 in reference.json"],
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
                "no trials were added: the baseline has another judge or other thresholds",
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
    assert (log.decisions[-1].reason, log.decisions[-1].commit) == ("first run", "1" * 40)


@pytest.mark.parametrize(
    ("narrowed_by", "reason"),
    [
        (name, f"^this report covers 2 of 4 cases: {shown}$")
        for name, shown in (("case", "case filter"), ("changed-since", "--changed-since"))
    ]
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
            (
                "commit `1111111111` of 2026-01-01, 2 days old, 15 trials per case (first run); "
                "1 case since commit `3333333333` of 2026-01-03, 0 days old (wanted)"
            ),
            id="one case",
        ),
    ],
)
def test_accept(tmp_path: Path, globs: tuple[str, ...], found: dict[str, str], shown: str) -> None:
    kept(tmp_path, FULL, night(2, case("a", 0, 10), case("b", 0, 3)))
    head = night(3, case("a", 0, 15), case("b", 15))
    before = accept(head, tmp_path, Acceptance(reason="wanted", cases=globs, decided_at=NOW))
    assert before
    assert phrases.headline(before) == "1 case broke: a"
    assert trials(tmp_path) == found
    log = read_log(tmp_path)
    assert log
    assert [(d.reason, d.commit[:1], d.cases) for d in log.decisions] == [
        ("first run", "1", 2),
        ("wanted", "3", len(globs) or 2),
    ]
    assert log.decisions[-1].decided_at == NOW
    after = compare(head, read_baseline(tmp_path))
    assert phrases.broken(after) == []
    assert f"Baseline: {shown}" in [*phrases.lines(after)]


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
    ],
)
def test_the_cases_that_an_acceptance_moves(acceptance: dict[str, Any], moved: list[str]) -> None:
    cases = [case("a", 1), case("b", 1), replace(case("a", 1), file="other.yaml")]
    chosen = Acceptance(reason="r", decided_at=NOW, **acceptance)
    assert [f"{each.file} {each.id}" for each in cases if chosen.moves(each)] == moved


def test_the_first_night_is_not_compared_with_itself(tmp_path: Path) -> None:
    """The run was worse than a commit, which the log of the reference is not about."""
    kept(tmp_path, replace(FULL, comparison=Comparison(source="commit", worse=True)))
    log = read_log(tmp_path)
    assert log
    assert [each.worse for each in log.nights] == [False]


@pytest.mark.parametrize(
    ("head", "globs", "message"),
    [
        pytest.param(FULL, ("x*",), "no case to accept", id="no such case"),
        pytest.param(night(2, errored("a")), (), "no case to accept", id="nothing graded"),
        pytest.param(
            replace(FULL, judge=JudgeInfo(model="m", prompt_version="2"), started_at=NOW),
            ("a",),
            "the judge or the thresholds of the baseline differ",
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
        ("{}", "reference.json: not the log of a baseline: decisions: is missing"),
        ('{"decisions": []}', "reference.json: version 1, or no decision: it cannot be read"),
        ("[", "reference.json: not the log of a baseline: not JSON (Expecting "),
    ],
)
def test_a_log_that_is_none(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / LOG_FILE).write_text(text)
    with pytest.raises(CannotReadReport) as caught:
        read_log(tmp_path)
    assert message in caught.value.message


NAMES = [f"c{n}" for n in range(8)]


def a_broken_night(day: int) -> RunReport:
    """Return a night in which one case fails however often it is asked."""
    broken = replace(case("c0", 0, 6), further_trials=3)
    return night(day, broken, *(case(name, 3) for name in NAMES[1:]))


def headline(folder: Path, head: RunReport) -> str:
    return phrases.headline(compare(head, read_baseline(folder, head)))


def test_two_nights_make_five_answers(tmp_path: Path) -> None:
    """A night adds no answer of a case that it found worse, and is not compared with its own."""
    kept(tmp_path, night(1, *(case(name, 3) for name in NAMES)))
    worse = a_broken_night(2)
    said = "Worse tonight: c0; confirmed if it is worse tomorrow"
    assert headline(tmp_path, worse) == said
    assert kept(tmp_path, worse) == [
        "7 of 8 cases: added trials to the baseline",
        "night 2 in reference.json",
    ]
    assert headline(tmp_path, worse) == said
    kept(tmp_path, *(night(day, *(case(name, 3) for name in NAMES)) for day in (3, 4)))
    assert trials(tmp_path) == dict.fromkeys(NAMES, "P" * 6)


def test_a_second_night_in_a_row_is_worse(tmp_path: Path) -> None:
    quiet = night(3, *(case(name, 3) for name in NAMES))
    kept(tmp_path, night(1, *(case(name, 5) for name in NAMES)), a_broken_night(2), quiet)
    suspected = "Worse tonight: c0; confirmed if it is worse tomorrow"
    assert headline(tmp_path, a_broken_night(4)) == suspected  # a night in between was fine
    kept(tmp_path, a_broken_night(4))
    assert headline(tmp_path, a_broken_night(5)) == "1 case broke: c0"


ITEM = SentinelItem(
    file="e.yaml",
    id="a",
    evaluator="rubric",
    criterion="greets",
    text="Greets",
    answer="hello",
    mark=True,
    repeats=(True,) * 5,
)
MEASURED = Sentinel(items=(ITEM,))
ASKED = Sentinel(items=(replace(ITEM, now=(True, True)),), p_value=1.0)
MOVED = Sentinel(items=(replace(ITEM, now=(False, False)),), p_value=0.0, moved=True)


@pytest.mark.parametrize(
    ("sentinel", "other_judge", "found"),
    [
        pytest.param(ASKED, False, ASKED, id="the judge is the same"),
        pytest.param(MOVED, False, None, id="the judge moved"),
        pytest.param(ASKED, True, None, id="another judge"),
    ],
)
def test_accepted_marks_are_of_the_present_judge(
    tmp_path: Path, sentinel: Sentinel, found: Sentinel | None, *, other_judge: bool
) -> None:
    kept(tmp_path, replace(FULL, sentinel=MEASURED))
    judge = JudgeInfo(model="m", prompt_version="2") if other_judge else FULL.judge
    head = replace(night(2, case("a", 15), case("b", 15)), sentinel=sentinel, judge=judge)
    accept(head, tmp_path, Acceptance(reason="the judge moved", decided_at=NOW))
    assert read_baseline(tmp_path).report.sentinel == found
    after = replace(night(3, case("a", 3), case("b", 3)), sentinel=MEASURED, judge=judge)
    kept(tmp_path, after)
    assert read_baseline(tmp_path).report.sentinel == (found or MEASURED)
