"""Report files, files that are none, and reports of a part of the suite."""

import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import run

import pytest

from rubric_ci.errors import CannotReadReport, UserError
from rubric_ci.gate.comparison.baseline_files import read_baseline
from rubric_ci.gate.report import json_format
from rubric_ci.gate.report.report_file import check_measured, check_ours, check_whole, read_report
from rubric_ci.values.report import ShardInfo
from rubric_ci.values.scope import Narrowing, Scope
from tests.sample_reports import a_criterion, a_report, a_rubric, graded


def test_a_report_is_read(tmp_path: Path) -> None:
    report = a_report(graded("a", "pass"))
    file = tmp_path / "report.json"
    file.write_text(json_format.render(report))
    assert read_report(file) == report


@pytest.mark.parametrize("text", [None, "[]", "{"], ids=["missing", "a list", "broken"])
def test_another_file_is_refused_by_name(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "report.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError) as caught:
        read_report(file)
    assert any(path in caught.value.message for path in (str(file), file.as_posix()))
    if text is None:
        assert "rubric-ci run" in caught.value.hint


def test_no_comparison_is_loaded() -> None:
    script = "import sys, rubric_ci.gate.report.report_file; print(*sys.modules, sep='\\n')"
    loaded = run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    heavy = {"rubric_ci.gate.comparison.compared", "rubric_ci.reports.formats", "rich"}
    assert heavy.isdisjoint(loaded.split())


@pytest.mark.parametrize(
    ("name", "read", "command"),
    [
        ("report.json", read_report, "rubric-ci run"),
        ("NOPE", read_report, "rubric-ci run"),
        ("report.json", read_baseline, "rubric-ci run"),
        ("reference", read_baseline, "rubric-ci baseline keep"),
    ],
)
def test_a_missing_file_names_the_command_that_writes_it(
    tmp_path: Path, name: str, read: Callable[[Path], object], command: str
) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path / name)
    assert caught.value.hint == f"`{command}` writes it"


MERGE = "combine the shards with `rubric-ci report merge` first"
PATHS = "run the whole suite first: without paths; `evals` in rubric-ci.yaml names it"
BROKEN = "fix the eval files that `rubric-ci validate` reports, then run the whole suite"


@pytest.mark.parametrize(
    ("narrowed_by", "why", "hint"),
    [
        (["case"], "case filter", "run the whole suite first"),
        (["shard"], "--shard", MERGE),
        (["paths", "tag"], "given paths, --tag", PATHS),
        (["invalid"], "eval files with problems left out", BROKEN),
    ],
)
def test_a_part_is_refused(narrowed_by: list[Narrowing], why: str, hint: str) -> None:
    shard = ShardInfo(index=1, count=2) if narrowed_by == ["shard"] else None
    report = a_report(graded("a"), scope=Scope(suite=4).narrowed(*narrowed_by), shard=shard)
    for check in (check_whole, check_measured):
        with pytest.raises(CannotReadReport) as caught:
            check(report)
        assert caught.value.message == f"this report covers 1 of 4 cases: {why}"
        assert caught.value.hint == hint


def test_a_replayed_run_is_whole_but_measures_nothing() -> None:
    report = a_report(graded("a"), scope=Scope(suite=1).narrowed("replay"))
    check_whole(report)
    with pytest.raises(CannotReadReport, match="its marks are recorded"):
        check_measured(report)


def test_the_whole_suite_is_accepted() -> None:
    report = a_report(graded("a"), scope=Scope(suite=1))
    check_whole(report)
    check_measured(report)
    assert not report.covers


def test_a_report_that_another_tool_judged_has_no_rubric_to_mark() -> None:
    theirs = a_rubric(a_criterion("x"), name="promptfoo", type="adopted")
    report = a_report(graded("a", evaluators=(theirs,)))
    with pytest.raises(CannotReadReport) as caught:
        check_ours(report, Path("out/report.json"))
    assert (caught.value.message, caught.value.hint) == (
        "out/report.json has results that promptfoo judged: there is no rubric to mark",
        (
            "check the judge of promptfoo with its own commands, or write eval files for "
            "`rubric-ci run`: `rubric-ci import` writes them from the cases of many tools"
        ),
    )
    check_ours(a_report(graded("a")), Path("report.json"))
    check_ours(a_report(), Path("report.json"))
