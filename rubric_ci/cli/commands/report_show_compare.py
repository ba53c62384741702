"""`rubric-ci report`, `compare` and `show`: what is done with reports that are there.

`report` merges the reports of shards and posts one on its pull request, `compare` compares two and
keeps an issue open while it fails, `show` prints cases. Nothing is graded or requested.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import click

from rubric_ci.errors import (
    CannotConfigure,
    CannotFindEvals,
    CannotMerge,
    CannotReadReport,
    ExitCode,
    UserError,
)
from rubric_ci.gate.comparison.baseline_files import (
    find_reports,
    open_baseline,
    read_baseline,
    with_comparison,
)
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.rule import with_all_shards
from rubric_ci.gate.report import json_format
from rubric_ci.gate.report.decision import exit_code
from rubric_ci.gate.report.merged_shards import merge
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.reports import comparison_section, terminal
from rubric_ci.services.publish_comment import Posted, post, post_failure
from rubric_ci.services.publish_files import (
    HINT,
    NARROWEST,
    WIDEST,
    copies_in,
    keep_copies,
    write_and_show,
)
from rubric_ci.services.publish_workflow import (
    Workflow,
    end,
    failure_text,
    publish,
    publish_failure_of_run,
    read_failure,
    write_comparison_outputs,
)
from rubric_ci.services.run.sentinel import with_merged_sentinel
from rubric_ci.system.output_and_masking import use_color
from rubric_ci.text import escape
from rubric_ci.text.numbers import plural
from rubric_ci.text.suggestions import suggest
from rubric_ci.values import parts
from rubric_ci.values.command_settings import CommentSettings, CompareSettings, ReportOptions
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import COPIES, Picture
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, own_id

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
    report = with_merged_sentinel(with_all_shards(merge(shards, options.fail_on)), shards)
    baseline = open_baseline(options.baseline)
    named = [each.comparison.ref for each in shards if each.comparison and not each.against]
    if named and not options.baseline:
        raise CannotMerge(f"the shards were compared with {named[0]}", "pass it as `--baseline`")
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
        lines, refused = Posted([post_failure(text, settings, environment)], [])
    else:
        lines, refused = post(read_report(settings.report), settings, environment)
    for line in lines:
        click.echo(escape.log_line(line))
    if refused:
        raise refused[0]
    return ExitCode.OK


def _pictures_in(cases: Sequence[CaseResult]) -> tuple[Picture, ...]:
    """Return the images and documents of cases, of their trials and of the answers of before."""
    before = [case.before for case in cases if case.before]
    trials = [each for case in cases for each in case.trials]
    return tuple(each for owner in (*cases, *trials, *before) for each in owner.media)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowSettings:
    """The report, and the cases of it that are printed."""

    case: str  # an id, a glob or FILE::CASE; empty: all
    criterion: str  # its id; empty: all
    format: str
    report: Path


def show(settings: ShowSettings) -> ExitCode:
    """Print the cases; raise CannotFindEvals if the report has none of this name."""
    report = read_report(settings.report)
    cases = _chosen(report, settings.case) if settings.case else report.cases
    if settings.criterion:
        cases = _with_criterion(cases, settings.criterion)
    if settings.format == "json":
        click.echo(_json(report, cases, settings.criterion), nl=False)
        return ExitCode.OK
    width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size((100, 24)).columns))
    color = use_color(sys.stdout, os.environ)
    if settings.case or settings.criterion:
        text = terminal.cases(cases, settings.criterion, width=width, color=color)
    else:
        text = terminal.render(report, width=width, color=color)
    if workflow := Workflow.of(os.environ):
        text = workflow.guarded(text)
    click.echo(text, color=color)
    return ExitCode.OK


def _chosen(report: RunReport, name: str) -> Sequence[CaseResult]:
    file, _, own = name.rpartition("::")
    found = [case for case in report.cases if file in {"", case.file} and _is_called(case, own)]
    if not found:
        known = [case.id for case in report.cases]
        message = f"the last report has no case `{name}`"
        raise CannotFindEvals(message, suggest(own, known, most=0))
    return found


def _is_called(case: CaseResult, pattern: str) -> bool:
    own = own_id(case.id, case.target)
    return pattern in {case.id, own} or fnmatchcase(own, pattern)


def _with_criterion(cases: Sequence[CaseResult], name: str) -> Sequence[CaseResult]:
    known = {case.id: [*_criteria(case)] for case in cases}
    found = [case for case in cases if name in known[case.id]]
    if not found:
        every = [each for ids in known.values() for each in ids]
        raise CannotFindEvals(f"no case shown has a criterion `{name}`", suggest(name, every))
    return found


def _criteria(case: CaseResult) -> Sequence[str]:
    evaluators = case.evaluators if case.verdict else ()
    return [each.id for one in evaluators for each in getattr(one, "criteria", ())]


def _json(report: RunReport, cases: Sequence[CaseResult], criterion: str) -> str:
    """Return the cases as report.json has them; with `criterion`, only its marks."""
    written = json.loads(json_format.render(report))["cases"]
    chosen = {id(case) for case in cases}
    found = [each for case, each in zip(report.cases, written, strict=True) if id(case) in chosen]
    shown = [_only(case, criterion) for case in found] if criterion else found
    return json.dumps({"cases": shown}, ensure_ascii=False, indent=2) + "\n"


def _only(case: dict[str, Any], criterion: str) -> dict[str, Any]:
    marks = [
        {"evaluator": one["name"], **each}
        for one in case["evaluators"]
        for each in one.get("criteria", ())
        if each["id"] == criterion
    ]
    return {"file": case["file"], "id": case["id"], "criteria": marks}
