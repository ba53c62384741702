"""`rubric-ci show`: print cases of the last report; nothing is requested."""

import json
import os
import shutil
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from rubric_ci.errors import CannotFindEvals, ExitCode
from rubric_ci.gate.report import json_format
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.reports.render import terminal
from rubric_ci.services.publish.files import NARROWEST, WIDEST
from rubric_ci.services.publish.workflow import Workflow
from rubric_ci.system.output import use_color
from rubric_ci.text.suggestions import suggest
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult


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
    own = case.id.removesuffix(f" [{case.target}]")
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
