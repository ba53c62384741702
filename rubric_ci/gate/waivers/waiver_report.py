"""Waivers in a report: which were applied, and which are not needed any more."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.values.formats_and_defaults import WAIVERS
from rubric_ci.values.gate import too_many_waivers
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Graded, with_verdict
from rubric_ci.values.waivers import WaiverResult, WaiverState

PROBLEMS: Final[dict[WaiverState, str]] = {
    "unneeded": "its criterion was met in six runs in a row: remove the waiver",
    "expired": "its date has passed: fix the failure, or set a new `until`",
    "edited": "the criterion or the question was edited: review it and write the waiver again",
    "unmatched": "there is no such case or criterion: remove the waiver",
    "safety": "a case or criterion with the tag `safety` cannot be waived: remove the waiver",
}
"""The states to report, each with a hint; all but the first are not in force."""


def with_outcomes(
    waivers: Sequence[WaiverResult], cases: Iterable[CaseResult]
) -> tuple[WaiverResult, ...]:
    graded = {case.key: case for case in with_verdict(cases)}
    return tuple(_outcome(waiver, graded.get((waiver.file, waiver.case))) for waiver in waivers)


def merged(shards: Iterable[Sequence[WaiverResult]]) -> tuple[WaiverResult, ...]:
    """Return the waivers of all shards; of each, the outcome in the shard that ran its case."""
    found: dict[tuple[int, str, str, str], WaiverResult] = {}
    for waiver in (each for shard in shards for each in shard):
        key = waiver.line, waiver.file, waiver.case, waiver.criterion
        if key not in found or found[key].state == "not-run":
            found[key] = waiver
    return tuple(found[key] for key in sorted(found))


def problems(report: RunReport) -> Iterator[tuple[WaiverResult, str]]:
    """Yield the waivers to remove or to review, each with the reason and what to do."""
    for waiver in report.waivers:
        if waiver.state in PROBLEMS:
            about = f"the waiver of {waiver.case}/{waiver.criterion} (until {waiver.until})"
            yield waiver, f"{about}: {PROBLEMS[waiver.state]}"


def applied(report: RunReport) -> list[WaiverResult]:
    return [waiver for waiver in report.waivers if waiver.state == "applied"]


def applied_lines(report: RunReport) -> list[str]:
    return [f"{each.case}/{each.criterion}: {excuse(each)}" for each in applied(report)]


def problem_lines(report: RunReport) -> list[tuple[str, str]]:
    """Return the place and the text of each problem with waivers."""
    found = [(f"{WAIVERS}:{waiver.line}", text) for waiver, text in problems(report)]
    if text := too_many_waivers(report.gate.max_waivers, len(report.waivers)):
        found.append((WAIVERS, text))
    return found


def excuse(waiver: WaiverResult) -> str:
    return f"{waiver.reason} ({waiver.owner}, until {waiver.until})"


def excuses(case: Graded, report: RunReport) -> list[str]:
    return [
        f"{waiver.criterion}: {excuse(waiver)}"
        for waiver in applied(report)
        if (waiver.file, waiver.case) == case.key
    ]


def _outcome(waiver: WaiverResult, case: Graded | None) -> WaiverResult:
    if waiver.state != "not-run" or case is None:
        return waiver
    missed = waiver.criterion in case.waived
    return replace(waiver, state="applied" if missed else "met")
