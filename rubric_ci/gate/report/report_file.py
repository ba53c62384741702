"""Read a report file, or refuse it as a part of the suite; write none with a secret.

NOTE: it imports nothing that compares.
"""

from dataclasses import replace
from pathlib import Path

from rubric_ci.errors import CannotReadReport
from rubric_ci.files.project import working_tree
from rubric_ci.gate.report import json_format
from rubric_ci.text.numbers import listed
from rubric_ci.text.redact import Redactor, redacted
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import ADOPTED, with_verdict
from rubric_ci.values.trials import judge_noise


def read_report(path: Path, written_by: str = "rubric-ci run") -> RunReport:
    """Return the report of a file; raises CannotReadReport."""
    return json_format.read(working_tree.read_text(path, written_by=written_by), path.as_posix())


def check_whole(report: RunReport) -> None:
    """Raise CannotReadReport, with the reason, unless a report covers the whole suite."""
    if not report.scope.complete:
        raise CannotReadReport(f"this report covers {report.covers}", _hint(report))


def check_measured(report: RunReport) -> None:
    """Raise CannotReadReport unless models marked the whole suite in this run."""
    check_whole(report)
    if report.scope.replayed:
        raise CannotReadReport(
            "this report is of a replayed run: its marks are recorded, not measured",
            "run the whole suite without --replay",
        )


def check_ours(report: RunReport, path: Path) -> None:
    """Raise CannotReadReport if another tool marked every case of a report."""
    every = [each for case in with_verdict(report.cases) for each in case.evaluators]
    if every and all(each.type == ADOPTED for each in every):
        tools = listed(list(dict.fromkeys(each.name for each in every)))
        raise CannotReadReport(
            f"{path.as_posix()} has results that {tools} judged: there is no rubric to mark",
            f"check the judge of {tools} with its own commands, or write eval files for "
            "`rubric-ci run`: `rubric-ci import` writes them from the cases of many tools",
        )


def check_ours_if_any(path: Path) -> None:
    """Raise CannotReadReport if there is a report at a path, and another tool marked all of it."""
    if path.exists():
        check_ours(read_report(path), path)


def _hint(report: RunReport) -> str:
    names = report.scope.narrowed_by
    if report.shard:
        return "combine the shards with `rubric-ci report merge` first"
    if "paths" in names:
        return "run the whole suite first: without paths; `evals` in rubric-ci.yaml names it"
    if "invalid" in names:
        return "fix the eval files that `rubric-ci validate` reports, then run the whole suite"
    return "run the whole suite first"


_KEPT = frozenset(
    {"file", "id", "gated_by", "kind", "mode", "fail_on", "outcome", "type", "verdict"}
    | {"change", "source", "answered_at", "commit", "committed_at", "ref"}
    | {"metadata", "prompt_version", "started_at"}
)
"""Fields by which reports are compared and posted; they hold committed names and fixed words."""


def without_secrets(report: RunReport, redactor: Redactor) -> RunReport:
    """Return the report with every text of models, scripts, servers and messages redacted.

    Most reports hold no secret: their JSON has none, and they are returned as they are.
    """
    if not (redactor.needles and any(map(redactor.finds_in_json, json_format.pieces(report)))):
        return report
    found = redacted(report, redactor, _KEPT)
    # Answers that differ in secrets only are equal now.
    noise = judge_noise(found.cases)
    return replace(found, totals=replace(found.totals, judge_noise=noise))
