"""The exit code of a report: which fact decides when there are several."""

from dataclasses import replace

import pytest

from rubric_ci.errors import ExitCode
from rubric_ci.model.report import RunReport
from rubric_ci.model.scope import Scope
from rubric_ci.report.exit_code import exit_code
from tests.sample_reports import a_report, errored, graded

PASS = a_report(graded("a", "pass"))
FAIL = a_report(graded("a"), errored("b"))
ERRORED = a_report(graded("a", "pass"), errored("b"))
NEVER = replace(FAIL, gate=replace(FAIL.gate, fail_on="never"))
UNREADABLE = replace(PASS, verdict="error")  # as `merge` sees a shard with unusable eval files


@pytest.mark.parametrize(
    ("report", "invalid_files", "code"),
    [
        (PASS, False, ExitCode.OK),
        (PASS, True, ExitCode.USAGE),
        (FAIL, False, ExitCode.GATE),
        (FAIL, True, ExitCode.GATE),
        (ERRORED, False, ExitCode.NO_VERDICT),
        (ERRORED, True, ExitCode.USAGE),
        (NEVER, False, ExitCode.NO_VERDICT),
        (replace(PASS, scope=Scope().narrowed("interrupted")), False, ExitCode.NO_VERDICT),
        (UNREADABLE, False, ExitCode.NO_VERDICT),
    ],
    ids=[
        "passes",
        "unusable file",
        "gate fails before a missing verdict",
        "gate fails before an unusable file",
        "missing verdict",
        "unusable file before a missing verdict",
        "gate never fails",
        "interrupted",
        "verdict error",
    ],
)
def test_exit_code(report: RunReport, invalid_files: bool, code: ExitCode) -> None:
    assert exit_code(report, invalid_files=invalid_files) is code
