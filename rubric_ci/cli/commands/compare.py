"""`rubric-ci compare`: compare two reports; in a workflow, keep an issue open while it fails."""

import os

import click

from rubric_ci.errors import CannotConfigure, ExitCode, UserError
from rubric_ci.gate.comparison.baseline_files import read_baseline
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.reports.render import comparison_section
from rubric_ci.services.publish.failure import end
from rubric_ci.services.publish.workflow import Workflow, write_comparison_outputs
from rubric_ci.text import escape
from rubric_ci.text.numbers import plural
from rubric_ci.values import parts
from rubric_ci.values.command_settings import CompareSettings
from rubric_ci.values.report import RunReport


def compare_reports(settings: CompareSettings) -> ExitCode:
    """Print the comparison; return 1 on a regression, 3 without verdicts to compare."""
    issue = parts.offered("issue of a comparison") if settings.issue else None
    if settings.issue and issue is None:
        raise CannotConfigure("no issue is kept: the part `lab` was removed")
    head = read_report(settings.head)
    baseline = read_baseline(settings.baseline, head)
    compared = compare(head, baseline)
    click.echo(comparison_section.FORMATS[settings.format](compared), nl=False)
    lines = write_comparison_outputs(compared, Workflow.of(os.environ))
    if issue:
        subject = issue.Subject(head=compared, log=baseline.log)
        lines.append(issue.update_issue(subject, settings.issue, os.environ))
    for line in lines:
        click.echo(escape.log_line(line), err=True)
    found = compared.comparison
    if found and found.worse:
        return ExitCode.GATE
    if why := _why_undecided(compared):
        return end(ExitCode.NO_VERDICT, why, "compare", os.environ)
    return ExitCode.OK


def _why_undecided(compared: RunReport) -> UserError | None:
    if compared.comparison and compared.comparison.judge_moved:
        fix = "make a run with this judge the baseline: `rubric-ci baseline accept`"
        return UserError(compared.comparison.judge_moved, fix)
    if errored := compared.totals.errored:
        cases = (
            f"{plural(errored, 'case')} of the run errored and {'is' if errored == 1 else 'are'}"
        )
        return UserError(f"{cases} not compared", "the report of the run says why")
    return None
