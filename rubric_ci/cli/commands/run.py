"""`rubric-ci run`: grade cases, write and publish the report."""

import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic

import click

from rubric_ci.errors import (
    CannotConfigure,
    CannotWriteFile,
    ExitCode,
    MissingExtra,
    MissingVariable,
    UserError,
)
from rubric_ci.files.project.suite_name import comment_of_suite
from rubric_ci.gate.comparison.baseline_files import open_baseline, with_comparison
from rubric_ci.gate.report.decision import exit_code
from rubric_ci.github.actions import refuse_target_event
from rubric_ci.services.cost_estimate import check_prices
from rubric_ci.services.expected_requests import models_to_ask
from rubric_ci.services.publish_files import check_outputs, write_and_show
from rubric_ci.services.publish_workflow import (
    Workflow,
    annotate_problems,
    end,
    publish,
    publish_failure_of_run,
)
from rubric_ci.services.run.announcement import announce, listing
from rubric_ci.services.run.finished_report import finish, remember
from rubric_ci.services.run.grade import (
    GradedRun,
    RunGrading,
    RunInput,
    expected_work,
    grade_run,
    open_sides,
)
from rubric_ci.services.run.inputs import capped, open_inputs, runner_of, select
from rubric_ci.system import coroutines
from rubric_ci.system.actions_runner import can_install
from rubric_ci.system.output_and_masking import wrapped
from rubric_ci.text import escape
from rubric_ci.values import parts
from rubric_ci.values.command_settings import RunSettings
from rubric_ci.values.report import RunReport
from rubric_ci.values.targets import RunnerTarget


def run(settings: RunSettings) -> ExitCode:
    """Load, grade, write, publish; return the exit code of the report.

    An error of the setup is shown on the pull request before it ends the command.
    """
    report = settings.report
    report = replace(report, comment=comment_of_suite(report.comment, settings.select))
    workflow = Workflow.of(os.environ, report.annotations)
    try:
        return _run(replace(settings, report=report), workflow)
    except UserError as error:
        if isinstance(error, MissingExtra) and can_install(os.environ):
            raise  # the action starts this command again
        event = workflow.event if workflow and isinstance(error, MissingVariable) else None
        if event and event.without_secrets:
            error.hint = f"{event.without_secrets}; set `offline: true`, as gate.yml does"
        publish_failure_of_run(error, report, os.environ)
        raise
    except KeyboardInterrupt:  # before or after the grading, which ends with a report
        ended = UserError("the run was interrupted, and there is no report")
        silent = replace(report, comment=replace(report.comment, mode="off"))
        publish_failure_of_run(ended, silent, os.environ)
        raise


def _run(settings: RunSettings, workflow: Workflow | None) -> ExitCode:
    if not settings.select.untrusted:
        refuse_target_event(os.environ)
    started_at, clock = datetime.now(UTC), monotonic()
    if tool := runner_of(settings.select.config, settings.models.target):
        if settings.select.untrusted:
            raise CannotConfigure(
                f"--untrusted: target `{tool.name}` starts another tool, which reads its own files",
                "name a target of eval files with --target",
            )
        return _run_tool(settings, tool, started_at)
    loaded, selection = select(settings, started_at.date(), os.environ)
    if selection.nothing_to_run:
        click.echo(selection.nothing_to_run)
        if loaded.invalid:
            return end(ExitCode.USAGE, loaded.problems, "run", os.environ)
        return ExitCode.OK
    annotate_problems(loaded.diagnostics, workflow)
    # NOTE: a runner may provide a terminal; a bar before a workflow command would hide it.
    plain = True if workflow else None
    if settings.select.untrusted:
        settings = replace(settings, requests=capped(settings.requests, loaded.config.untrusted))
    baseline = open_baseline(settings.report.baseline, settings.select.against)
    inputs = open_inputs(loaded, selection, settings, baseline, environment=os.environ, plain=plain)
    if settings.requests.list_only:
        return _list(inputs)
    check_outputs(settings.report)
    report, graded = grade_inputs(inputs, started_at, clock)
    code = exit_code(report, invalid_files=bool(loaded.invalid))
    try:
        written = write_and_show(report, settings.report)
        remember(inputs, graded)  # last: a failure to write it must not cost the report
    except CannotWriteFile as error:
        error.exit_code = code or error.exit_code  # a full disk does not take the verdict away
        raise
    publish(report, written, settings.report, os.environ, exports=not settings.requests.offline)
    return code


def grade_inputs(
    inputs: RunInput, started_at: datetime, clock: float, run: RunGrading = coroutines.run
) -> tuple[RunReport, GradedRun]:
    """Announce the cost and grade; `clock` is the monotonic time of the start."""
    with open_sides(inputs) as opened:
        work = expected_work(opened)
        announced = announce(work, opened)
        for line in announced.lines:
            click.echo(wrapped(escape.log_line(line), sys.stderr), err=True)
        check_prices(work, announced.estimate)
        graded = grade_run(opened, models_to_ask(work), run)
    report = finish(
        inputs,
        graded,
        os.environ,
        started_at=started_at,
        seconds=monotonic() - clock,
        forecast=announced.estimate.total,
    )
    return report, graded


def _run_tool(settings: RunSettings, tool: RunnerTarget, started_at: datetime) -> ExitCode:
    """Run another eval tool and report its results."""
    if (tool_report := parts.offered("run of another tool")) is None:
        raise CannotConfigure("this installation runs no other eval tools", "remove the runner")
    check_outputs(settings.report)
    report: RunReport = tool_report(settings, tool, os.environ, started_at)
    baseline = open_baseline(settings.report.baseline, settings.select.against)
    report = with_comparison(report, baseline, settings.report.baseline, os.environ)
    written = write_and_show(report, settings.report)
    publish(report, written, settings.report, os.environ, exports=not settings.requests.offline)
    return exit_code(report)


def _list(inputs: RunInput) -> ExitCode:
    """Print the cases and the estimate; nothing is requested."""
    with open_sides(inputs) as opened:
        work = expected_work(opened)
        click.echo(listing(work[0].tasks, opened, announce(work, opened)), nl=False)
    return ExitCode.USAGE if inputs.loaded.invalid else ExitCode.OK
