"""A command that needs the whole suite refuses a part of it, and says what to do."""

from typing import Any

import pytest

from rubric_ci.errors import CannotReadReport
from rubric_ci.model.report import ShardInfo
from rubric_ci.model.scope import Narrowing, Scope
from rubric_ci.report.scope import check_measured, check_whole
from tests.sample_reports import a_report, graded


@pytest.mark.parametrize(
    ("narrowed_by", "facts", "message", "hint"),
    [
        (["case"], {}, "this report covers 1 of 4 cases: --case", "run the whole suite first"),
        (
            ["shard"],
            {"shard": ShardInfo(index=1, count=2)},
            "this report covers 1 of 4 cases: --shard",
            "combine the shards with `rubric-ci report merge` first",
        ),
        (
            ["paths", "tag"],
            {},
            "this report covers 1 of 4 cases: given paths, --tag",
            "run the whole suite first: without paths; `evals` in rubric-ci.yaml names it",
        ),
        (
            ["invalid"],
            {},
            "this report covers 1 of 4 cases: invalid eval files",
            "fix the eval files that `rubric-ci validate` reports, then run the whole suite",
        ),
    ],
    ids=["case", "shard", "paths", "invalid"],
)
def test_a_part_is_refused(
    narrowed_by: list[Narrowing], facts: dict[str, Any], message: str, hint: str
) -> None:
    report = a_report(graded("a"), scope=Scope(suite=4).narrowed(*narrowed_by), **facts)
    for check in (check_whole, check_measured):
        with pytest.raises(CannotReadReport) as caught:
            check(report)
        assert (caught.value.message, caught.value.hint) == (message, hint)


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
