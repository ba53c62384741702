"""The figures of the last run, from which the next one is estimated."""

from pathlib import Path
from typing import Final, TypeAlias

from rubric_ci.errors import UserError
from rubric_ci.files.parsing import typed_json
from rubric_ci.files.project.discovery import read_text
from rubric_ci.model.report import RunReport
from rubric_ci.model.used_by import Role, UsedBy

LastRun: TypeAlias = dict[tuple[Role, str, str], UsedBy]
"""By role, name and model; empty: no run is known."""

_START: Final = '\n  "used_by": [\n'  # at the top of a report: no string of it has a line break
_END: Final = "\n  ]"


def last_run(report: Path, baseline: RunReport | None) -> LastRun:
    """Return the figures of the last report, and of the baseline for what that one lacks."""
    every = (*(baseline.used_by if baseline else ()), *_used_by(report))
    return {(each.role, each.name, each.model): each for each in every if each.answers > 0}


def _used_by(report: Path) -> tuple[UsedBy, ...]:
    """Return the figures of a report; none of one that is not there or cannot be read.

    Its cases, which may have many megabytes, are not parsed.
    """
    try:
        entries = _entries(read_text(report)) if report.exists() else ""
        return typed_json.value_of(tuple[UsedBy, ...], f"[{entries}]") if entries else ()
    except (UserError, typed_json.Mismatch):
        return ()


def _entries(text: str) -> str:
    """Return the JSON between the brackets."""
    _, _, rest = text.partition(_START)
    return rest.partition(_END)[0]
