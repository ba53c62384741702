"""The file or folder that a misspelt path probably means.

Paths are plain strings, as in `discovery`: `Path` (PTH) is several times slower here.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from rubric_ci.system import confined
from rubric_ci.text.suggestions import nearest

IsKind: TypeAlias = Callable[[str], bool]

MAX_NAMES: Final = 1_000  # of a folder that are compared


def near_file(reference: str, folder: str, top: str) -> str:
    """Return the reference with the names of files that exist; empty: none is close.

    Folders are searched from the eval file's upwards; `folder` and `top` are real paths.
    """
    start = "/" if reference.startswith("/") else ""
    steps = [step for step in reference.split("/") if step]
    for place in [top] if start else _upwards(folder, top):
        found = _resolved(steps, place, top, os.path.isfile)
        if found:
            return start + "/".join(found)
    return ""


def near_path(path: str, here: str) -> str:
    """Return a path of the command line with the names of files or folders that exist, or ""."""
    return "/".join(_resolved([step for step in path.split("/") if step], here, here, _exists))


def _resolved(steps: Sequence[str], place: str, top: str, is_last: IsKind) -> list[str]:
    """Return each step, or the nearest name where it does not exist; empty: none is close."""
    found: list[str] = []
    for at, step in enumerate(steps):
        kind = is_last if at == len(steps) - 1 else os.path.isdir
        name = step if _fits(place, step, top, kind) else ""
        if not name:
            name = nearest(step, _names(place, top, kind), most=MAX_NAMES)
        if not name:
            return []
        found.append(name)
        place = os.path.realpath(os.path.join(place, name))  # noqa: PTH118
    return found


def _names(place: str, top: str, kind: IsKind) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(place) if not name.startswith("."))  # noqa: PTH208
    except OSError:
        return []
    return list(islice((n for n in names if _fits(place, n, top, kind)), MAX_NAMES))


def _fits(place: str, name: str, top: str, kind: IsKind) -> bool:
    real = os.path.realpath(os.path.join(place, name))  # noqa: PTH118
    return kind(real) and confined.is_inside(real, top)


def _exists(real: str) -> bool:
    return os.path.isfile(real) or os.path.isdir(real)  # noqa: PTH112, PTH113


def _upwards(folder: str, top: str) -> Iterator[str]:
    yield folder
    while folder != top and confined.is_inside(folder, top):
        folder = os.path.dirname(folder)  # noqa: PTH120
        yield folder
