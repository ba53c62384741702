"""Assertions about the workspace that an agent leaves: files, and a command that runs in it.

They are checked as soon as the agent has ended, while its folder exists (`grading/targets/`); here
they are values and words.
"""

import json
from collections.abc import Collection, Mapping
from functools import partial
from posixpath import normpath
from typing import Any, Final

from rubric_ci.evaluators.assertions.row import FOLDER, TEXT, Outcome, Row, line_of
from rubric_ci.text.globs import matcher
from rubric_ci.text.numbers import listed
from rubric_ci.values.json_value import JSON


def exists(paths: Collection[str], glob: str) -> Outcome:
    found = next(filter(matcher([glob]), sorted(paths)), None)
    return Outcome(holds=found is not None, found=f"there is {found}" if found else "there is none")


def named(paths: Collection[str], path: str) -> list[str]:
    """Return the file that a path names as it is written, or all files that fit it as a glob."""
    own = normpath(path).replace("\\", "/")
    return [own] if own in paths else list(filter(matcher([own]), sorted(paths)))


def file_contains(texts: Mapping[str, str | None], value: Mapping[str, str]) -> Outcome:
    """Return whether one of the files that a path names has a substring; None: it is no text."""
    known = {path: text for path, text in texts.items() if text is not None}
    if not known:
        return Outcome(holds=False, found="there is no such file with text")
    for path, text in known.items():
        if (position := text.find(value["text"])) >= 0:
            where = line_of(text, position)
            found = f"it is in {where}" if len(texts) == 1 else f"it is in {path}, {where}"
            return Outcome(True, found, value["text"])
    among = f" in {len(known)} files" if len(known) > 1 else ""
    return Outcome(holds=False, found=f"it does not occur{among}")


def unchanged(changed: Collection[str], glob: str) -> Outcome:
    """Return whether no path that was changed, added or deleted fits a glob."""
    found = list(filter(matcher([glob]), sorted(changed)))
    shown = f"changed: {listed(found, 3)}" if found else "nothing of it is changed"
    return Outcome(holds=not found, found=shown)


def command(status: int, output: str) -> Outcome:
    """Return whether a command ended with status 0."""
    return Outcome(holds=status == 0, found=f"exit status {status}", evidence=output)


def _elsewhere(found: Outcome, _: Any, __: bool) -> Outcome:
    return found


_row: Final = partial(Row, of=FOLDER, check=_elsewhere)

ROWS: Final = (
    _row(
        key="exists",
        says="leaves the file {}",
        denies="leaves no file {}",
        meaning="The workspace has a file that fits this glob at the end.",
        value={**TEXT, "examples": ["out/report.md"]},
    ),
    _row(
        key="file_contains",
        says="leaves a file with a text {}",
        denies="leaves no file with a text {}",
        meaning=(
            "A file of the workspace that fits this path or glob has this substring at the end."
        ),
        value={
            "type": "object",
            "required": ["path", "text"],
            "additionalProperties": False,
            "properties": {
                "path": {
                    **TEXT,
                    "title": "Path",
                    "description": "File, relative to the workspace, or a glob.",
                    "examples": ["out/report.md"],
                },
                "text": {
                    **TEXT,
                    "title": "Text",
                    "description": "Substring.",
                    "examples": ["Total: 42"],
                },
            },
            "examples": [{"path": "out/report.md", "text": "Total: 42"}],
        },
    ),
    _row(
        key="unchanged",
        says="leaves unchanged {}",
        denies="changes {}",
        meaning="No file that fits this glob was changed, added or deleted.",
        value={**TEXT, "examples": ["tests/**"]},
    ),
    _row(
        key="command",
        says="leaves a folder in which this succeeds: {}",
        denies="leaves a folder in which this fails: {}",
        meaning="This shell command ends with exit status 0 in the workspace.",
        value={**TEXT, "examples": ["pytest -q"]},
    ),
)


def check_name(key: str, value: JSON) -> str:
    """Return the name under which the outcome of a check is kept."""
    return f"{key}: {json.dumps(value, sort_keys=True)}"
