"""`rubric-ci waive`: add a known failure to `waivers.yaml`."""

import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import click

from rubric_ci.errors import CannotConfigure, CannotFindEvals, CannotUseGit, ExitCode
from rubric_ci.files.editing.insertions import append_waiver, waiver_block
from rubric_ci.files.project.loaded_project import load_project, open_project
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import write_text
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.gate.waivers.matching import (
    Match,
    answered_by,
    criteria_of,
    fingerprint_of,
    load_waivers,
    match_waiver,
    targets_of,
)
from rubric_ci.system.git import plumbing, process
from rubric_ci.text.escape import log_line
from rubric_ci.text.suggestions import did_you_mean, known_names, nearest
from rubric_ci.values import parts
from rubric_ci.values.command_settings import WaiveSettings
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.formats_and_defaults import REPORT, WAIVERS
from rubric_ci.values.results import ADOPTED
from rubric_ci.values.waivers import Waiver


def waive(settings: WaiveSettings, today: date) -> ExitCode:
    """Find the criterion, append the entry, print what was written."""
    project = open_project(settings.config)
    known = load_waivers(project.files)  # raises if the file has problems
    cases = [*_in_eval_files(project), *_adopted()]
    name = _case_of_several(settings.what)
    if not any(case.id == name for case in cases):
        cases += answered_by(name, cases, targets_of(project))
    if settings.until < today:
        raise CannotConfigure(f"--until {settings.until} has passed", "set a later date")
    waiver, match = _find(settings, cases, today)
    if any((each.case, each.criterion) == (waiver.case, waiver.criterion) for each in known):
        waived = f"{waiver.case}/{waiver.criterion}"
        raise CannotConfigure(f"{waived} has a waiver in {WAIVERS}", "edit or remove that entry")
    entry = _entry(waiver, match, cases, settings.owner or _user(project))
    data = project.files.read(WAIVERS)
    text = append_waiver((data or b"").decode("utf-8"), entry)
    if text is None:
        raise CannotConfigure(
            f"{WAIVERS}: the entry cannot be appended safely; paste it:\n{waiver_block(entry)}"
        )
    write_text(project.root / WAIVERS, text)
    line = f"{WAIVERS}: waived {waiver.case}/{waiver.criterion} until {waiver.until}"
    click.echo(log_line(line))
    return ExitCode.OK


def _case_of_several(what: str) -> str:
    """Return the `case [target]` of `case [target]/criterion`; empty: it names no target."""
    case, found, _ = what.rpartition("]/")
    return f"{case}]" if found else ""


def _in_eval_files(project: Project) -> list[EvalCase]:
    """Return the cases of eval files; none where only results of other tools are gated."""
    try:
        return [*load_project((), project).cases]
    except CannotFindEvals:
        if not _adopted():
            raise
        return []


def _adopted() -> tuple[EvalCase, ...]:
    """Return the adopted cases of the last report."""
    path = Path(REPORT)
    cases_of = parts.offered("adopted cases") if path.exists() else None
    found: tuple[EvalCase, ...] = cases_of(read_report(path)) if cases_of else ()
    return found


def _find(settings: WaiveSettings, cases: Sequence[EvalCase], today: date) -> tuple[Waiver, Match]:
    """Return the waiver of `CASE/CRITERION`; a case id may itself have slashes."""
    found = [
        (case, criterion)
        for case in cases
        if settings.file in {"", case.file} and settings.what.startswith(f"{case.id}/")
        if (criterion := settings.what.removeprefix(f"{case.id}/")) in dict(criteria_of(case))
    ]
    if len(found) > 1:
        files = ", ".join(case.file for case, _ in found)
        raise CannotConfigure(f"several files have `{settings.what}`: {files}", "set --file FILE")
    if found:
        waiver = _waiver(settings, *found[0])
        match = match_waiver(waiver, [found[0][0]], today)
        if match.state == "safety":
            raise CannotConfigure(f"{settings.what} has the tag `safety` and cannot be waived")
        return waiver, match
    names = [f"{case.id}/{name}" for case in cases for name, _ in criteria_of(case)]
    hint = did_you_mean(nearest(settings.what, names, most=len(names)))
    raise CannotConfigure(
        f"there is no criterion `{settings.what}`",
        hint or f"only criteria of rubrics can be waived; {known_names(sorted(names))}",
    )


def _waiver(settings: WaiveSettings, case: EvalCase, criterion: str) -> Waiver:
    return Waiver(
        case=case.id,
        criterion=criterion,
        file=case.file,
        tool=next((spec.name for spec in case.evaluators if spec.type == ADOPTED), ""),
        reason=settings.reason,
        owner=settings.owner,
        until=settings.until.isoformat(),
        fingerprint=fingerprint_of(case, dict(criteria_of(case))[criterion]),
        line=0,
    )


def _entry(waiver: Waiver, match: Match, cases: Sequence[EvalCase], owner: str) -> dict[str, str]:
    repeated = sum(case.id == waiver.case for case in cases) > 1
    file = {"file": match.case.file} if match.case and repeated else {}
    return {
        "case": waiver.case,
        "criterion": waiver.criterion,
        **file,
        **({"tool": waiver.tool} if waiver.tool else {}),
        "reason": waiver.reason,
        "owner": owner,
        "until": waiver.until,
        "fingerprint": waiver.fingerprint,
    }


def _user(project: Project) -> str:
    try:
        repository = plumbing.open_repository(project.root, os.environ)
        found = process.query(repository, "config", "user.email").strip()
    except CannotUseGit:
        found = ""
    if not found:
        raise CannotConfigure("the owner of the waiver is unknown", "set --owner NAME")
    return found
