"""Read the report that a run is compared with, or the folder of a pinned reference with its log."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotReadReport, CannotUseGit
from rubric_ci.files.parsing import typed_json
from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.files.project.working_tree import read_text, write_text
from rubric_ci.gate.comparison import verdicts
from rubric_ci.gate.comparison.compared import compare, is_same_question
from rubric_ci.gate.comparison.reference import LOG_VERSION, Baseline, ReferenceLog
from rubric_ci.gate.report.consistency import check_alike
from rubric_ci.gate.report.decision import with_gate
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.system.actions_runner import in_workflow
from rubric_ci.system.git.plumbing import first_tracked
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.formats_and_defaults import REPORT_FILES
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Graded, Trial
from rubric_ci.values.trials import first_trials, tier


def open_baseline(path: Path | None, against: str = "") -> Baseline | None:
    """Read the baseline of the command line; None if there is none or the file does not exist.

    A run that is given a commit is compared with the commit: the baseline is not read.
    """
    if path is None or against or not path.exists():
        return None
    return read_baseline(path)


def with_comparison(
    report: RunReport, baseline: Baseline | None, path: Path | None, environment: Mapping[str, str]
) -> RunReport:
    """Add the comparison that was asked for, with the baseline at a path; decide the gate."""
    if report.against:
        compared = replace(report, comparison=verdicts.of_commit(report.against, report.cases))
    elif baseline:
        compared = compare(report, baseline)
    else:
        compared = report
    notes = (*report.notes, *_notes(compared, baseline, path, environment))
    return with_gate(replace(compared, notes=notes))


def _notes(
    report: RunReport, baseline: Baseline | None, path: Path | None, environment: Mapping[str, str]
) -> Iterator[str]:
    """Yield why the run is not compared with something that was named, and what to know of it.

    The first run of a scheduled workflow has no baseline: a note, not an error.
    """
    if path and report.against:
        found = "Compared with the commit of" if report.against.commit else "No base was found for"
        yield (
            f"{found} `--against`: the baseline {path.as_posix()} was not read, as a run is "
            "compared with one of them."
        )
    elif path and baseline is None:
        yield f"No comparison: the baseline {path.as_posix()} does not exist."
    elif path:
        yield from _of_a_commit(path, environment)
    uncompared = bool(report.cases) and all(case.change is None for case in report.cases)
    if report.gate.fail_on == "regression" and uncompared:
        yield (
            "fail-on is regression and there is no comparison, so every case that fails counts: "
            "set `--against` or `--baseline`"
        )


def _of_a_commit(path: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a note in a workflow if the baseline may have come with the change that is graded."""
    if not in_workflow(environment):
        return
    try:
        tracked = first_tracked(path, environment)
    except CannotUseGit as error:
        yield f"Whether git tracks the baseline {path.as_posix()} is not known: {error.message}"
        return
    if tracked:
        yield (
            f"The baseline {path.as_posix()} is tracked by git ({tracked}): a change can bring its "
            "own; keep it out of the repository, in a cache or an artifact of the default branch"
        )


def read_baseline(path: Path, head: RunReport | None = None) -> Baseline:
    """Return the report of a file, or the pooled reports of a folder; raises CannotReadReport.

    What `head` itself added to the folder is left out, unless a decision made it the reference.
    """
    if not path.is_dir():
        writes = "rubric-ci run" if path.suffix else "rubric-ci baseline keep"  # a file, a folder
        return Baseline(report=read_report(path, writes), ref=path.as_posix())
    found = find_reports([path], "create the reports with `rubric-ci run`")
    reports, log = [read_report(each) for each in found], read_log(path)
    if head and log and all(each.measured_at != head.started_at for each in log.decisions):
        reports = [each for each in reports if each.started_at != head.started_at] or reports
    return Baseline(report=pool(reports), log=log, ref=path.as_posix())


def find_reports(
    paths: Sequence[Path], hint: str = "pass the reports of the shards"
) -> Iterator[Path]:
    """Yield report files; for a folder, each `report.json` below it."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob(REPORT_FILES["json"]))
        if not found:
            raise CannotReadReport(f"{path.as_posix()}: no {REPORT_FILES['json']} found", hint)
        yield from found


def pool(reports: Sequence[RunReport]) -> RunReport:
    """Return the newest report with the trials of all reports; raises CannotReadReport.

    The oldest trials come first, so that a later report moves no reference that has enough trials.
    Further trials of suspects are left out: whether a case has them depends on its first trials.
    Trials of another question than the newest one's are left out as well.
    """
    ordered = sorted(reports, key=lambda report: report.started_at)
    check_alike(
        "the reports of the baseline",
        {
            "judges": {report.judge for report in reports},
            "thresholds": {(r.gate.passing, r.gate.borderline) for r in reports},
        },
        CannotReadReport,
        "keep the reports of one judge and one configuration in the folder",
    )
    trials: dict[CaseKey, list[Trial]] = defaultdict(list)
    cases: dict[CaseKey, CaseResult] = {}
    for report in ordered:
        for case in report.cases:
            if isinstance(case, Graded):
                if not is_same_question(case, cases.get(case.key, case)):
                    trials[case.key].clear()
                trials[case.key].extend(first_trials(case))
            if isinstance(case, Graded) or case.key not in trials:
                cases[case.key] = case
    return replace(
        ordered[-1],
        cases=tuple(_with_trials(case, trials) for case in cases.values()),
        sentinel=next((each.sentinel for each in ordered if each.sentinel), None),
    )


def _with_trials(case: CaseResult, trials: dict[CaseKey, list[Trial]]) -> CaseResult:
    """Return a graded case with its pooled trials and the verdict and score of their median."""
    pooled = trials[case.key]
    if not isinstance(case, Graded) or len(pooled) < 2:
        return case
    ranked = sorted(pooled, key=lambda trial: (tier(trial.verdict), trial.score))
    median = ranked[(len(ranked) - 1) // 2]
    return replace(
        case, verdict=median.verdict, score=median.score, trials=tuple(pooled), further_trials=0
    )


LOG_FILE: Final = "reference.json"


def read_log(folder: Path) -> ReferenceLog | None:
    """Return the log of a folder, None if it has none; raises CannotReadReport."""
    path = folder / LOG_FILE
    if not path.exists():
        return None
    try:
        text = read_text(path)
        typed_json.load(text)
        log: ReferenceLog = typed_json.value_of(ReferenceLog, text)
    except Mismatch as error:
        raise CannotReadReport(
            f"{path.as_posix()}: not the log of a baseline: {error}", _HINT
        ) from error
    if log.version > LOG_VERSION or not log.decisions:
        raise CannotReadReport(
            f"{path.as_posix()}: version {log.version}, or no decision: it cannot be read", _HINT
        )
    return log


def write_log(folder: Path, log: ReferenceLog) -> None:
    """Write the log, atomically; raises CannotWriteFile."""
    text = json.dumps(asdict(log), indent=2)
    write_text(folder / LOG_FILE, f"{text}\n", "the log", "check --baseline")


_HINT = "remove the folder to start a new baseline, or upgrade rubric-ci"
