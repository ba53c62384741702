"""Looks at the working tree that few checks need: near paths, matched globs, programs, case counts.

Paths of the first half are plain strings, as in `working_tree`: a `Path` is far slower (PTH).
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
from posixpath import join
from typing import Any, Final, TypeAlias

from rubric_ci.errors import CannotReadFile
from rubric_ci.files.project.file_kinds import foreign_tool
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import text_of, upwards
from rubric_ci.files.validation.gate_and_waiver_rules import CaseName, Sizes
from rubric_ci.system import file_io
from rubric_ci.text.globs import Comparisons, matching
from rubric_ci.text.numbers import listed, plural
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.problems import list_at, mapping_at, mappings
from rubric_ci.values.references import Machine

IsKind: TypeAlias = Callable[[str], bool]

MAX_NAMES: Final = 1_000  # of a folder that are compared


def near_file(reference: str, folder: str, top: str) -> str:
    """Return the reference with the names of files that exist; empty: none is close.

    Folders are searched from the eval file's upwards; `folder` and `top` are real paths.
    """
    start = "/" if reference.startswith("/") else ""
    steps = [step for step in reference.split("/") if step]
    for place in [top] if start else upwards(folder, top):
        found = _resolved(steps, place, top, os.path.isfile)
        if found:
            return start + "/".join(found)
    return ""


def near_path(path: str, here: str) -> str:
    """Return a path of the command line with the names of files or folders that exist, or ""."""

    def exists(real: str) -> bool:
        return os.path.isfile(real) or os.path.isdir(real)

    return "/".join(_resolved([step for step in path.split("/") if step], here, here, exists))


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
        place = os.path.realpath(os.path.join(place, name))
    return found


def _names(place: str, top: str, kind: IsKind) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(place) if not name.startswith("."))
    except OSError:
        return []
    return list(islice((n for n in names if _fits(place, n, top, kind)), MAX_NAMES))


def _fits(place: str, name: str, top: str, kind: IsKind) -> bool:
    real = os.path.realpath(os.path.join(place, name))
    return kind(real) and file_io.is_inside(real, top)


FROM_ROOT: Final = "globs count from the root of the repository"


class GlobsOfFiles:
    """Globs on the files of a repository, whose folders are listed once."""

    def __init__(self, root: Path) -> None:
        """Look below `root`."""
        self._root, self._comparisons = root.resolve(), Comparisons()
        self._walks: dict[str, tuple[list[str], Iterator[str]]] = {}

    def nearest(self, glob: str) -> str | None:
        """Return a hint with the nearest existing path, or None if the glob matches a file.

        A glob that takes files away (`!glob`) need not match any. Raises TooManyComparisons.
        """
        if glob.startswith("!"):
            return None
        parts = [part for part in glob.split("/") if part not in {"", "."}]
        known = _existing(self._root, parts)
        found = matching(glob, self._below("/".join(known)), self._comparisons)
        return None if any(found) else self._hint(parts, known)

    def _below(self, known: str) -> Iterator[str]:
        """Yield the files at or below a path; no further than the glob needs that goes furthest."""
        seen, others = self._walks.setdefault(known, ([], _paths(self._root, known)))
        yield from seen
        for path in others:
            self._comparisons.spend(Comparisons.WHOLE)
            seen.append(path)
            yield path

    def _hint(self, parts: list[str], known: list[str]) -> str:
        folder = self._root.joinpath(*known)
        names = sorted(_names_in(folder))[:MAX_NAMES] if folder.is_dir() else []
        missing, *rest = parts[len(known) :] or [""]
        self._comparisons.spend(len(names) * Comparisons.WHOLE)
        if close := get_close_matches(missing, names, n=1):  # names of three letters are close too
            return did_you_mean("/".join([*known, *close, *rest]))
        return f"the nearest existing path is `{'/'.join(known)}`" if known else FROM_ROOT


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
    names = sorted(_names_in(root / name))
    for each in names:
        yield from _paths(root, join(name, each), (*above, real))
    if not names:
        yield name


def _names_in(folder: Path) -> Iterator[str]:
    return (path.name for path in folder.iterdir() if path.name != ".git")


def foreign_files(paths: Iterable[Path]) -> str:
    """Return a sentence about files of other tools, and what to do with them; or ""."""
    tools: Counter[str] = Counter()
    for path in paths:
        with suppress(CannotReadFile):
            known = foreign_tool(file_io.read_start(path))
            tools[known or ("Agent Skills" if path.name == "evals.json" else "")] += 1
    del tools[""]
    found = [f"{plural(count, 'file')} of {tool}" for tool, count in tools.items()]
    if not found:
        return ""
    seen = listed(found)
    return f"; it holds {seen}: `rubric-ci import` writes eval files, `adopt` gates results"


def machine_for(root: Path, folder: Path | None, environment: Mapping[str, str]) -> Machine:
    """Return the lookups for a file in a folder.

    Without a folder, where each eval file decides it, every folder and file is taken to exist.
    """
    search_path = environment.get("PATH", os.defpath)

    def resolve(written: str) -> Path:
        start = root if written.startswith("/") else folder or root
        return start / written.lstrip("/")

    return Machine(
        # NOTE: these return False for a name that no file can have, where Path raises.
        has_folder=lambda written: folder is None or os.path.isdir(resolve(written)),
        has_file=lambda written, path: folder is None or os.path.exists(resolve(written) / path),
        has_program=lambda name: _find(name, search_path),
    )


@cache
def _find(name: str, search_path: str) -> bool:
    from shutil import which  # most files start no program

    try:
        return which(name, path=search_path) is not None
    except ValueError:  # a null character, on Windows
        return False


def count_cases(project: Project, paths: Iterable[Path]) -> Sizes:
    """Count the cases of eval files; files that cannot be read are reported elsewhere."""
    names: list[CaseName] = []
    variables = set[str]()
    tags: Counter[str] = Counter()
    count = 0
    for path in paths:
        name = project.name_of(path)
        opened = project.open_cases(name, text) if (text := text_of(path, project.root)) else None
        suite = opened.data if opened and isinstance(opened.data, dict) else {}
        variables.update(mapping_at(suite, "vars"))
        count += len(list_at(suite, "evalcases"))
        for _, case in mappings(suite, "evalcases"):
            variables.update(mapping_at(case, "vars"))
            tags.update({each for each in list_at(case, "tags") if isinstance(each, str)})
            if isinstance(case.get("id"), str):
                names.append(CaseName(name, case["id"], _target(case) or _target(suite)))
    return Sizes(count, tags, tuple(names), variables=frozenset(variables))


def _target(owner: dict[str, Any]) -> str:
    named = mapping_at(owner, "execution").get("target") or owner.get("target")
    return named if isinstance(named, str) else ""
