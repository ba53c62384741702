"""Choose the cases without a pass in the last report, as pytest's `--last-failed` does."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from typing import Final

from rubric_ci.model.results import CaseResult, Errored, Graded, standing
from rubric_ci.model.scope import Narrowing
from rubric_ci.selection.compare_cases import Key, Selection
from rubric_ci.text import numbers

WHY: Final = "it did not pass in the last run"


def failed(cases: Iterable[CaseResult]) -> Iterator[Key]:
    """Yield file and id of the cases that fail, are borderline or have no verdict."""
    for case in cases:
        if isinstance(case, Errored) or (isinstance(case, Graded) and _fails(case)):
            yield case.file, case.id


def _fails(case: Graded) -> bool:
    return standing(case) in {"fail", "borderline"}


def choose_failed(selection: Selection, last: Set[Key] | None, report: str) -> Selection:
    """Return the chosen cases that are in `last`; all of them, with a note, if there is none.

    `last` is None if there is no report; `report` is its file, for the notes.
    """
    if not last:
        reason = "does not exist" if last is None else "has no case without a pass"
        return _noted(selection, f"--last-failed: {report} {reason}, so no case is left out.")
    chosen = tuple((case, WHY) for case, _ in selection.chosen if (case.file, case.id) in last)
    gone = len(last) - len(chosen)
    dropped: list[Narrowing] = ["last-failed"] * (len(chosen) < len(selection.chosen))
    narrowed = replace(selection, chosen=chosen, scope=selection.scope.narrowed(*dropped))
    if not gone:
        return narrowed
    count = numbers.plural(gone, "case")
    return _noted(
        narrowed, f"--last-failed: {count} of {report} did not pass and is not selected now."
    )


def _noted(selection: Selection, note: str) -> Selection:
    return replace(selection, notes=(note, *selection.notes))
