"""The files of a patch, in the three ways in which agents write the call of `apply_patch`."""

import posixpath
import re
from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.values.json_value import JSON

_FILE: Final = re.compile(
    r"^\s*\*\*\* (?:(?:Add|Update|Delete) File|Move to): *(.*\S)", re.MULTILINE
)
_KEYS: Final = ("path", "move_path")


def patched_files(arguments: JSON) -> list[tuple[str, ...]]:
    """Return the path of each file that a patch names: as it is written, and in short.

    Codex lists `changes`, each with its path; the others give the patch as a text.
    """
    named = dict.fromkeys(path for path in _paths(arguments) if path.strip())
    return [tuple(dict.fromkeys((path, _short(path)))) for path in named]


def _paths(arguments: JSON) -> Iterator[str]:
    match arguments:
        case str():
            yield from _FILE.findall(arguments)
        case dict():
            for key, value in arguments.items():
                yield from _listed(value) if key == "changes" else _paths(value)


def _listed(changes: Any) -> Iterator[str]:
    """Yield the paths of a list of changes, or of an object whose keys are the paths."""
    each = changes if isinstance(changes, list | dict) else ()
    for change in each:
        if isinstance(change, str):
            yield change
        of = changes[change] if isinstance(changes, dict) else change
        if isinstance(of, dict):
            yield from (of[key] for key in _KEYS if isinstance(of.get(key), str))


def _short(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/"))
