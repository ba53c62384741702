"""`rubric-ci compare`: what is worse than it was, beyond noise; in a workflow, as one issue."""

import os
from collections.abc import Mapping

import click

from rubric_ci.errors import CannotConfigure, CannotReachGitHub, ExitCode
from rubric_ci.github.actions import read_event
from rubric_ci.github.client import build_server
from rubric_ci.github.issues import IssueKey, keep
from rubric_ci.model.config import FailOn
from rubric_ci.model.options import CompareSettings
from rubric_ci.model.report import Comparison, RunReport, gate_holds
from rubric_ci.reports import comparison_text, wording
from rubric_ci.reports.comparison import compare
from rubric_ci.reports.files import read_report
from rubric_ci.text import escape


def compare_reports(settings: CompareSettings) -> ExitCode:
    """Print the comparison; a regression fails, and so does a case without a verdict."""
    head = read_report(settings.head)
    comparison = compare(head, read_report(settings.baseline), tolerance=settings.tolerance)
    click.echo(comparison_text.FORMATS[settings.format](comparison), nl=False)
    code = _exit_code(comparison)
    if (
        settings.issue and code is not ExitCode.NO_VERDICT
    ):  # an outage is neither news nor all clear
        red = comparison.regressed or not gate_holds(head.cases, FailOn(head.gate.fail_on))
        body = _issue_body(comparison, head)
        told = _tell_issue(body, settings.issue, os.environ, red=red)
        click.echo(escape.log_line(told), err=True)
    return code


def _exit_code(comparison: Comparison) -> ExitCode:
    if comparison.regressed:
        return ExitCode.GATE
    return ExitCode.NO_VERDICT if comparison.count("errored") else ExitCode.OK


def _issue_body(comparison: Comparison, head: RunReport) -> str:
    run = head.metadata.get("run_url", "")
    place = f"[run]({escape.link_target(run)})" if run else "run"
    return f"{comparison_text.markdown(comparison)}\nThe {place}: {wording.headline(head)}\n"


def _tell_issue(body: str, title: str, environment: Mapping[str, str], *, red: bool) -> str:
    """Open, update or close the issue; whatever happens is one line, never an exit code."""
    event = read_event(environment)
    if event is None:
        return "no issue: this is no workflow run, so there is no repository to write to"
    try:
        topic = IssueKey(repository=event.repository, title=title)
        kept = keep(build_server(environment), topic, body, red=red)
    except (CannotReachGitHub, CannotConfigure) as error:
        return f"no issue: {error.message}" + (f" ({error.hint})" if error.hint else "")
    number = f" #{kept.number}" if kept.number else ""
    return f"issue{number} {kept.done}{f': {kept.url}' if kept.url else ''}"
