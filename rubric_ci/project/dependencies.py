"""Whether a glob under `depends_on` matches a file of the repository."""

import os
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from posixpath import join
from typing import Final

from rubric_ci.text.globs import matcher
from rubric_ci.text.suggestions import did_you_mean

FROM_ROOT: Final = "globs count from the root of the repository"


def nearest_path(root: Path, glob: str) -> str | None:
    """Return a hint with the nearest existing path, or None if the glob matches a file.

    A glob that takes files away (`!glob`) need not match any.
    """
    if glob.startswith("!"):
        return None
    root = root.resolve()
    parts = [part for part in glob.split("/") if part not in {"", "."}]
    known = _existing(root, parts)
    if any(map(matcher([glob]), _paths(root, "/".join(known)))):
        return None
    return _hint(root, parts, known)


def _existing(root: Path, parts: list[str]) -> list[str]:
    """Return the first parts that name a path, without wildcards."""
    known: list[str] = []
    for part in parts:
        if part in {"..", ".git"} or any(sign in part for sign in "*?["):
            break
        if not root.joinpath(*known, part).exists():
            break
        known.append(part)
    return known


def _hint(root: Path, parts: list[str], known: list[str]) -> str:
    folder = root.joinpath(*known)
    names = sorted(_names(folder)) if folder.is_dir() else []
    missing, *rest = parts[len(known) :] or [""]
    if close := get_close_matches(missing, names, n=1):  # names of three letters are close too
        return did_you_mean("/".join([*known, *close, *rest]))
    return f"the nearest existing path is `{'/'.join(known)}`" if known else FROM_ROOT


def _paths(root: Path, name: str, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the files at or below a path; an empty folder too, as it may be a submodule.

    Links are followed, but not out of the repository and not to a folder above them.
    """
    real = os.path.realpath(root / name)
    if real in above or not Path(real).is_relative_to(root):
        return
    if not (root / name).is_dir():
        yield name
        return
    names = sorted(_names(root / name))
    for each in names:
        yield from _paths(root, join(name, each), (*above, real))
    if not names:
        yield name


def _names(folder: Path) -> Iterator[str]:
    return (path.name for path in folder.iterdir() if path.name != ".git")
