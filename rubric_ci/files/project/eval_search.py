"""The eval files of a project in its working tree: of PATHS, or of its configuration.

Paths are plain strings where they are asked thousands of times: `Path` (PTH) is several times
slower.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotFindEvals, CannotReadFile
from rubric_ci.files.project import file_kinds
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, HERE, HIDDEN, is_targets_file
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import find_root, from_here, from_root, text_of
from rubric_ci.files.validation.rubric_files import ENDING
from rubric_ci.files.yaml_text.csv_cases import SUFFIXES as TABLES
from rubric_ci.system import file_io
from rubric_ci.system.repository import NOT_CHECKED_OUT, empty_submodule
from rubric_ci.values.references import MOST_CHARACTERS

NO_SUITE: Final = "is a table that no eval file of its folder or above names"
NAME_IT: Final = "name it under `evalcases` of an eval file, or write one with `rubric-ci import`"
_PROMPTS: Final = (".prompt.yml", ".prompt.yaml")  # of targets, or of suites


def find_evals(project: Project, paths: Sequence[str]) -> list[Path]:
    """Return the eval files of PATHS, or of the configured globs where there are none.

    Raises CannotFindEvals for a path that does not exist or holds no eval file, and for globs of a
    configuration outside of the repository.
    """
    if not paths and project.summary.globs and _is_outside(project):
        folder = os.path.dirname(project.config_name) or "/"  # keeps `..`
        raise CannotFindEvals(
            f"{project.config_name} is outside of the repository {project.root.as_posix()}, and so "
            "are the eval files that it names",
            f"run the command in {folder}, or pass the paths of eval files of this repository",
        )
    found = named_files(project, paths)
    if paths:
        owned = files_of_cases(project, found)
        found = [path for path in found if project.name_of(path) not in owned]
        known = {os.path.realpath(path) for path in found}
        suites = dict.fromkeys(owned.values())
        found += [suite for suite in suites if os.path.realpath(suite) not in known]
    if not any(path.suffix == ".jsonl" for path in found):
        return found
    suites_found = [path for path in found if path.suffix != ".jsonl"]
    owned_lines = {name for suite in suites_found for name in _case_files(project, suite)}
    return [path for path in found if project.name_of(path) not in owned_lines]


def find_rubrics(project: Project, written: str) -> list[Path]:
    """Return the rubric files of a folder, or of the configuration's without other projects."""
    config = project.config_name
    own = project.root / os.path.dirname(config) if config else Path(HERE)

    def is_of_other_project(path: Path) -> bool:
        folders = takewhile(own.__ne__, path.parents)
        return any(folder.joinpath(name).is_file() for folder in folders for name in CONFIG_NAMES)

    return [
        from_here(path)
        for path in walk(Path(written) if written else own)
        if path.name.endswith(ENDING) and (written or not is_of_other_project(path))
    ]


def find_targets(folder: Path) -> Iterator[Path]:
    """Yield the targets files of a folder and of those below it."""
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f == HIDDEN or file_kinds.is_searched(f))
        files = (Path(current, name) for name in sorted(names))
        yield from (file for file in files if is_targets_file(file.as_posix()))


def named_files(project: Project, paths: Sequence[str]) -> list[Path]:
    """Return the files of PATHS as they are, also files of cases that belong to an eval file."""
    tables = [path for path in map(Path, paths) if _is_table(path)]
    others = [path for path in paths if not _is_table(Path(path))]
    if tables and not others:
        return tables
    return [*tables, *search(others, _globs(project), project.root)]


def files_of_cases(project: Project, found: Iterable[Path]) -> dict[str, Path]:
    """Return the files with cases of an eval file in their folder or above, each with that file.

    Raises CannotFindEvals for a table that belongs to none.
    """
    near = cache(partial(suites_in, project))
    owned: dict[str, Path] = {}
    for path in found:
        if suite := suite_of(project, path, near):
            owned[project.name_of(path)] = suite
        elif _is_table(path):
            raise CannotFindEvals(f"{path} {NO_SUITE}", NAME_IT)
    return owned


def suite_of(
    project: Project, path: Path, near: Callable[[Path], Mapping[str, Path]]
) -> Path | None:
    """Return the eval file, in the folder of a file of cases or above, that names it."""
    if path.suffix not in {".jsonl", *TABLES} and not _may_be_cases(path):
        return None
    name, root = project.name_of(path), project.root.absolute()
    above = [each for each in path.absolute().parents if each.is_relative_to(root)]
    return next(filter(None, (near(each).get(name) for each in above)), None)


def suites_in(project: Project, folder: Path) -> dict[str, Path]:
    """Return the eval file of a folder that each file of cases belongs to, by its name."""
    suites = (
        path for path in sorted(folder.glob("*.y*ml")) if path.is_file() and not _may_be_cases(path)
    )
    return {
        name: from_here(suite)
        for suite in suites
        for name in _case_files(project, suite, (".json", ".csv", ".tsv", ".yaml", ".yml"))
    }


def is_eval(project: Project, path: Path) -> bool:
    """Return True if a search of the repository would find a file."""
    if not path.name.endswith(file_kinds.SUFFIXES):
        return False
    configured = _configured(_globs(project), project.root)
    return _holds_evals(path, set()) or path.resolve() in {p.resolve() for p in configured}


def holds_cases(path: Path) -> bool:
    """Return True if a YAML file is an eval file."""
    return file_kinds.yaml_holds_cases(file_io.read_start(path))


def left_aside(paths: Sequence[str], globs: Sequence[str], read: Iterable[Path]) -> str:
    """Return the files of other tools in the folders of PATHS that are not read, in one line.

    Globs of a configuration name the files instead of a search.
    """
    if not paths and globs:
        return ""
    known = {*read}
    folders = [Path(path) for path in paths or (HERE,) if Path(path).is_dir()]
    every = (path for folder in folders for path in walk(folder))
    others = [path for path in every if path not in known and not path.name.endswith(_PROMPTS)]
    if others:  # a link may lead to a file that was read
        real = {path.resolve() for path in known}
        others = [path for path in others if path.resolve() not in real]
    if not others:
        return ""
    from rubric_ci.files.project.near_files import foreign_files

    found = foreign_files(others).removeprefix("; it holds ")
    return f"not read: {found}" if found else ""


def search(paths: Sequence[str], globs: Sequence[str], root: Path) -> list[Path]:
    """Return the eval files of PATHS, or of globs from the root where there are none.

    Raises CannotFindEvals for a path that does not exist or holds no eval file.
    """
    configured = list(_configured(globs, root))
    if not paths and globs and not configured:
        raise CannotFindEvals(
            f"no file matches the configured evals: {', '.join(globs)}",
            "fix `evals` in rubric-ci.yaml, or pass file paths",
        )
    if not paths and configured:
        return configured
    known = {path.resolve() for path in configured}
    found = [file for path in paths or [HERE] for file in _files_at(path, known)]
    return list({os.path.realpath(path): path for path in found}.values())


def walk(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that may hold cases by their names."""
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(filter(file_kinds.is_searched, folders))
        named = (name for name in sorted(names) if name.endswith(file_kinds.SUFFIXES))
        found = (Path(current, name) for name in named)
        yield from (each for each in found if each.is_file() or file_kinds.is_named_eval(each.name))


def _globs(project: Project) -> Sequence[str]:
    return () if _is_outside(project) else project.summary.globs


def _is_outside(project: Project) -> bool:
    place = os.path.realpath(project.root / project.config_name)
    return not file_io.is_inside(place, os.path.realpath(project.root))


def _is_table(path: Path) -> bool:
    return path.suffix in TABLES and path.is_file()


def _may_be_cases(path: Path) -> bool:
    """Return True for YAML or JSON that is not an eval file, but may be named by one."""
    try:
        return path.suffix in {".yaml", ".yml", ".json"} and not holds_cases(path)
    except CannotReadFile:
        return False  # its problem is reported when it is read


def _case_files(
    project: Project, suite: Path, endings: Sequence[str] = (".jsonl",)
) -> Iterator[str]:
    """Yield the files of cases that a suite names; none if it cannot be read."""
    text = text_of(suite, project.root)
    if any(ending in text for ending in endings):
        name = project.name_of(suite)
        yield from project.open_cases(name, text).texts().keys() - {name}


def _configured(globs: Sequence[str], root: Path) -> Iterator[Path]:
    """Yield the files of the globs in a stable order; `!glob` takes files away."""
    files: dict[Path, None] = {}
    for glob in globs:
        if ".." in glob.removeprefix("!").split("/"):
            raise CannotFindEvals(
                f"{glob} under `evals` leaves the repository",
                "use globs below the folder of rubric-ci.yaml, or pass file paths",
            )
        for path in _glob(root, glob.removeprefix("!")):
            if glob.startswith("!"):
                files.pop(path, None)
            elif _may_hold_evals(path):
                files[path] = None
    yield from (from_here(path) for path in files)


def _glob(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match, the same ones on every version of Python."""
    if len(pattern) > MOST_CHARACTERS:
        raise CannotFindEvals(f"a glob has more than {MOST_CHARACTERS:,} characters")
    parts = pattern.lstrip("/").split("/")
    if any("**" in part and part != "**" for part in parts):
        raise CannotFindEvals(f"invalid glob {pattern}: `**` must be a whole path component")
    every = "/*" if parts[-1] == "**" else ""
    try:
        return [path for path in sorted(folder.glob("/".join(parts) + every)) if not path.is_dir()]
    except (ValueError, RecursionError, OSError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise CannotFindEvals(f"invalid glob {pattern}: {reason}") from None


def _may_hold_evals(path: Path) -> bool:
    name = path.absolute().as_posix()
    return file_kinds.may_hold_cases(name, lambda _: file_io.read_start(path), os.path.isfile)


def _holds_evals(path: Path, configured: set[Path]) -> bool:
    if file_kinds.is_named_eval(path.name) or path.resolve() in configured:
        return True
    try:
        return file_kinds.holds_cases(path.name, file_io.read_start(path))
    except CannotReadFile:
        return path.exists()  # it is reported, unless it is a dangling link


def _files_at(written: str, configured: set[Path]) -> Iterator[Path]:
    path = Path(written)
    if path.is_file():
        yield path
        return
    if path.is_dir():
        found = [file for file in walk(path) if _holds_evals(file, configured)]
    elif any(sign in written for sign in "*?["):
        start = Path(path.anchor) if path.is_absolute() else Path()
        found = _glob(start, str(path.relative_to(path.anchor)))
        found = [file for file in found if _may_hold_evals(file)]
    else:
        found = []
    if not found:
        raise CannotFindEvals(*_nothing(written, path))
    yield from found


def _nothing(written: str, path: Path) -> tuple[str, str]:
    """Return why a path has no eval file, and what to do about it."""
    if path.is_dir():
        from rubric_ci.files.project.near_files import foreign_files  # few folders hold none

        known = "an eval file is YAML with `evalcases`, or is named by `evals` in rubric-ci.yaml"
        if named := _named_like_evals(path):
            known = f"{named} has no `evalcases`; {known}"
        known += foreign_files(walk(path))
        root = find_root(path)
        if found := empty_submodule(root, from_root(path, root)):
            known = NOT_CHECKED_OUT.format(found)
        hint = f"{known}; `rubric-ci init` writes a first one" if written == HERE else known
        return f"{written if written != HERE else 'this folder'} holds no eval file", hint
    if any(sign in written for sign in "*?["):
        return f"no file matches {written}", ""
    if path.exists():
        return f"{written} is neither a regular file nor a folder", "`validate -` reads a pipe"
    from rubric_ci.files.project.near_files import near_path  # few paths are misspelt
    from rubric_ci.text.suggestions import did_you_mean

    root = find_root(path.parent)
    if found := empty_submodule(root, from_root(path, root)):
        return f"{written} does not exist", NOT_CHECKED_OUT.format(found)
    near = did_you_mean(near_path(written, os.path.realpath(HERE)))
    return f"{written} does not exist", near


def _named_like_evals(folder: Path) -> str:
    """Return the first file that its name or folder says is an eval file; empty: there is none."""
    places = (from_here(path).as_posix() for path in walk(folder))
    named = (
        name
        for name in places
        if "eval" in name.lower() and not (Path(name).name in CONFIG_NAMES or is_targets_file(name))
    )
    return next(named, "")
