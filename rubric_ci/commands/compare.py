"""`rubric-ci compare`: compare two reports; in a workflow, keep an issue open while it fails."""

import os

import click

from rubric_ci.errors import ExitCode
from rubric_ci.model.options import CompareSettings
from rubric_ci.model.report import Comparison
from rubric_ci.reports import comparison_text
from rubric_ci.reports.comparison import compare
from rubric_ci.reports.files import read_baseline, read_report
from rubric_ci.text import escape


def compare_reports(settings: CompareSettings) -> ExitCode:
    """Print the comparison; return 1 on a regression, 3 if a case lost its verdict."""
    head = read_report(settings.head)
    comparison = compare(head, read_baseline(settings.baseline), tolerance=settings.tolerance)
    click.echo(comparison_text.FORMATS[settings.format](comparison), nl=False)
    code = _exit_code(comparison)
    if settings.issue and code is not ExitCode.NO_VERDICT:  # an outage neither opens nor closes it
        from rubric_ci.reports.issue import update_issue

        line = update_issue(comparison, head, settings.issue, os.environ)
        click.echo(escape.log_line(line), err=True)
    return code


def _exit_code(comparison: Comparison) -> ExitCode:
    if comparison.regressed:
        return ExitCode.GATE
    return ExitCode.NO_VERDICT if comparison.count("errored") else ExitCode.OK
