"""`rubric-ci report`: merge the reports of shards; post a report on its pull request."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from rubric_ci.errors import CannotReadReport, ExitCode, UserError
from rubric_ci.gate.comparison.baseline_files import find_reports, open_baseline, with_comparison
from rubric_ci.gate.report.decision import exit_code
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.gate.report.sharding import merge
from rubric_ci.services.publish.comment import post, post_failure
from rubric_ci.services.publish.copies import copies_in, keep_copies
from rubric_ci.services.publish.failure import failure_text, publish_failure_of_run, read_failure
from rubric_ci.services.publish.files import HINT, write_and_show
from rubric_ci.services.publish.workflow import publish
from rubric_ci.services.run.sentinel import with_merged_sentinel
from rubric_ci.text import escape
from rubric_ci.values.command_settings import CommentSettings, ReportOptions
from rubric_ci.values.media import COPIES, Picture
from rubric_ci.values.results import CaseResult

_NO_PARTS: Final = (
    "pass the reports of the shards; a workflow fetches them with actions/download-artifact"
)


def merge_reports(paths: Sequence[Path], options: ReportOptions) -> ExitCode:
    """Read, merge, write, print and publish; the comment has an error that ends it."""
    try:
        return _merge(paths, options)
    except UserError as error:
        publish_failure_of_run(error, options, os.environ)
        raise


def _merge(paths: Sequence[Path], options: ReportOptions) -> ExitCode:
    if missing := [path for path in paths if not os.path.lexists(path)]:
        raise CannotReadReport(f"{missing[0].as_posix()} does not exist", _NO_PARTS)
    found = list(find_reports(paths))
    shards = [read_report(path) for path in found]
    report = with_merged_sentinel(merge(shards, options.fail_on), shards)
    baseline = open_baseline(options.baseline)
    report = with_comparison(report, baseline, options.baseline, os.environ)
    if pictures := _pictures_in(report.cases):
        folders = (path.parent / COPIES for path in found)
        keep_copies(pictures, copies_in(*folders), options.output_dir / COPIES, HINT)
    written = write_and_show(report, options)
    publish(report, written, options, os.environ, exports=False)  # the shards did
    return exit_code(report)


def comment(settings: CommentSettings, environment: Mapping[str, str]) -> ExitCode:
    """Post the report of a file, or why there is none; a failure to post is an error."""
    failure, suite = (settings.failure, "") if settings.failure else read_failure(settings.report)
    if failure:
        settings = replace(settings, key=settings.key or suite)
        text = failure_text(UserError(failure), suite=settings.key)
        lines = [post_failure(text, settings, environment)]
    else:
        lines = post(read_report(settings.report), settings, environment)
    for line in lines:
        click.echo(escape.log_line(line))
    return ExitCode.OK


def _pictures_in(cases: Sequence[CaseResult]) -> tuple[Picture, ...]:
    """Return the images and documents of cases, of their trials and of the answers of before."""
    before = [case.before for case in cases if case.before]
    trials = [each for case in cases for each in case.trials]
    return tuple(each for owner in (*cases, *trials, *before) for each in owner.media)
