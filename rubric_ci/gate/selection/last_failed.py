"""Cases that did not pass, remembered until they do, as in pytest: a file of the output folder."""

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotConfigure, CannotReadFile, CannotUseGit
from rubric_ci.files.project import working_tree
from rubric_ci.gate.selection.affected_cases import Selection
from rubric_ci.system.git.plumbing import first_tracked
from rubric_ci.text import numbers
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.formats_and_defaults import LAST_FAILED
from rubric_ci.values.results import CaseResult
from rubric_ci.values.scope import Narrowing

WHY: Final = "it did not pass when it ran last"
NOTHING_FAILED: Final = "nothing failed; nothing to run"
_VERSION: Final = 1


def choose_failed(selection: Selection, failed: Set[CaseKey]) -> Selection:
    chosen = tuple((case, WHY) for case, _ in selection.chosen if case.key in failed)
    dropped: list[Narrowing] = ["last-failed"] * (len(chosen) < len(selection.chosen))
    scope = selection.scope.narrowed(*dropped)
    others = len(failed) - len(chosen)
    count = numbers.plural(others, "case")
    note = f"--last-failed: {count} did not pass and is not selected now."
    notes = (note, *selection.notes) if others else selection.notes
    why = "" if chosen else NOTHING_FAILED
    if failed and not chosen:
        count = numbers.plural(len(failed), "case")
        why = f"nothing to run: {count} did not pass, and none of them is selected"
    return replace(selection, chosen=chosen, scope=scope, notes=notes, nothing_to_run=why)


def updated(
    failed: Set[CaseKey], ended: Iterable[CaseResult], suite: Set[CaseKey] | None
) -> Set[CaseKey]:
    """Return the failed cases after a run: a case stays until it passes.

    `suite` is the keys of all cases if they are known: a case that is not there is forgotten.
    """
    results = {case.key: case for case in ended if case.status != "skipped"}
    still = {key for key in failed - results.keys() if suite is None or key in suite}
    failing = {"fail", "borderline", "errored"}
    return still | {key for key, case in results.items() if case.status in failing}


def read(folder: Path, environment: Mapping[str, str]) -> Set[CaseKey]:
    """Return the failed cases of an output folder.

    Raises CannotConfigure if no run has written any, or if git tracks the file.
    """
    found = _read(folder / LAST_FAILED)
    if found is None:
        raise CannotConfigure(
            f"--last-failed: {(folder / LAST_FAILED).as_posix()} does not exist",
            "run `rubric-ci run` first: it remembers the cases that do not pass",
        )
    try:
        tracked = first_tracked(folder / LAST_FAILED, environment)
    except CannotUseGit as error:
        raise CannotConfigure(f"--last-failed: {error.message}", error.hint) from error
    if tracked:
        raise CannotConfigure(
            f"--last-failed: git tracks {tracked}: a change could choose what runs",
            f"run `git rm --cached {tracked}` and commit",
        )
    return found


def remember(
    folder: Path, ended: Iterable[CaseResult], suite: Set[CaseKey] | None, unfinished: Set[CaseKey]
) -> None:
    path = folder / LAST_FAILED
    found = sorted(updated((_read(path) or frozenset()) | unfinished, ended, suite))
    data = {"version": _VERSION, "failed": [{"file": file, "id": name} for file, name in found]}
    hint = "choose another folder with --output-dir"
    working_tree.write_text(path, json.dumps(data, indent=2) + "\n", hint=hint)


def _read(path: Path) -> Set[CaseKey] | None:
    """Return the failed cases of a file, None if it does not exist; raises CannotReadFile."""
    if not path.exists():
        return None
    try:
        data = json.loads(working_tree.read_text(path))
        if data["version"] == _VERSION:
            return frozenset((str(each["file"]), str(each["id"])) for each in data["failed"])
    except (ValueError, RecursionError, TypeError, KeyError):
        pass
    raise CannotReadFile(
        f"{path.as_posix()}: not a list of failed cases", "delete it, then run the suite"
    )
