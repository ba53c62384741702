"""The waivers of a run: those in force, and those to report."""

from collections.abc import Iterator
from datetime import date

from rubric_ci.model.waivers import Waiver, WaiverResult
from rubric_ci.project.loaded_project import LoadedProject
from rubric_ci.waivers.file import in_force, match_all
from rubric_ci.waivers.match import Match


def find_waivers(loaded: LoadedProject, today: date, *, complete: bool) -> tuple[WaiverResult, ...]:
    """Return the waivers of the policy as they are before the run.

    Unless all eval files are loaded (`complete`), one without a case is not reported.
    """
    cases = (case for file in loaded.files for case in file.cases)
    matches = match_all(in_force(loaded.project), cases, today)
    return tuple(_results(matches, complete=complete))


def _results(
    matches: tuple[tuple[Waiver, Match], ...], *, complete: bool
) -> Iterator[WaiverResult]:
    for waiver, match in matches:
        unknown = match.case is None and not complete
        yield WaiverResult(
            state="not-run" if unknown else match.state,
            case=waiver.case,
            criterion=waiver.criterion,
            file=match.case.file if match.case else "",
            line=waiver.line,
            reason=waiver.reason,
            owner=waiver.owner,
            until=waiver.until,
        )
