"""The eval files of a project: of PATHS, or of its configuration; and how many cases they hold."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from rubric_ci.errors import CannotFindEvals, CannotReadFile
from rubric_ci.files.project import discovery
from rubric_ci.files.project.file_kinds import CONFIG_NAMES
from rubric_ci.files.project.project import Project
from rubric_ci.files.validation.gate_rules import CaseName, Sizes
from rubric_ci.files.validation.rubric_files import ENDING
from rubric_ci.files.yaml_text.csv_cases import SUFFIXES
from rubric_ci.files.yaml_text.opened import open_source
from rubric_ci.files.yaml_text.source import decode
from rubric_ci.system import file_io


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
    found = asked(project, paths)
    if paths:
        owned = files_of_cases(project, found)
        found = [path for path in found if project.name_of(path) not in owned]
        known = {os.path.realpath(path) for path in found}
        suites = dict.fromkeys(owned.values())
        found += [suite for suite in suites if os.path.realpath(suite) not in known]
    named = _named_by_suites(project, found)
    return [path for path in found if project.name_of(path) not in named] if named else found


def find_rubrics(project: Project, written: str) -> list[Path]:
    """Return the rubric files of a folder, or of the configuration's without other projects."""
    config = project.config_name
    own = project.root / os.path.dirname(config) if config else Path(discovery.HERE)
    found = discovery.walk(Path(written) if written else own)
    return [
        discovery.shown(path)
        for path in found
        if path.name.endswith(ENDING)
        if written or not any(map(_has_config, takewhile(own.__ne__, path.parents)))
    ]


def _has_config(folder: Path) -> bool:
    return any(folder.joinpath(name).is_file() for name in CONFIG_NAMES)


def asked(project: Project, paths: Sequence[str]) -> list[Path]:
    """Return the files of PATHS as they are, also files of cases that belong to an eval file."""
    tables = [path for path in map(Path, paths) if _is_table(path)]
    others = [path for path in paths if not _is_table(Path(path))]
    if tables and not others:
        return tables
    return [*tables, *discovery.find_evals(others, _globs(project), project.root)]


def _is_table(path: Path) -> bool:
    return path.suffix in SUFFIXES and path.is_file()


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


NO_SUITE: Final = "is a table that no eval file of its folder or above names"
NAME_IT: Final = "name it under `evalcases` of an eval file, or write one with `rubric-ci import`"


def suite_of(
    project: Project, path: Path, near: Callable[[Path], Mapping[str, Path]]
) -> Path | None:
    """Return the eval file, in the folder of a file of cases or above, that names it."""
    if path.suffix not in {".jsonl", *SUFFIXES} and not _may_be_cases(path):
        return None
    name, root = project.name_of(path), project.root.absolute()
    above = [each for each in path.absolute().parents if each.is_relative_to(root)]
    return next(filter(None, (near(each).get(name) for each in above)), None)


def _named_by_suites(project: Project, found: Sequence[Path]) -> set[str]:
    """Return the JSON Lines files whose cases belong to a suite that was found with them."""
    if not any(path.suffix == ".jsonl" for path in found):
        return set()
    return {name for path in found if path.suffix != ".jsonl" for name in _named(project, path)}


def suites_in(project: Project, folder: Path) -> dict[str, Path]:
    """Return the eval file of a folder that each file of cases belongs to, by its name."""
    suites = (
        path for path in sorted(folder.glob("*.y*ml")) if path.is_file() and not _may_be_cases(path)
    )
    return {
        name: discovery.shown(suite)
        for suite in suites
        for name in _named(project, suite, (b".json", b".csv", b".tsv", b".yaml", b".yml"))
    }


def _may_be_cases(path: Path) -> bool:
    """Return True for YAML or JSON that is not an eval file, but may be named by one."""
    try:
        return path.suffix in {".yaml", ".yml", ".json"} and not discovery.holds_cases(path)
    except CannotReadFile:
        return False  # its problem is reported when it is read


def _named(project: Project, path: Path, endings: Sequence[bytes] = (b".jsonl",)) -> Iterator[str]:
    try:
        data = discovery.read_bytes(path, project.root)
    except CannotReadFile:
        return
    text = decode(data) if any(ending in data for ending in endings) else None
    if isinstance(text, str):
        name = project.name_of(path)
        source = open_source(name, text, find=project.case_finder(name))
        yield from source.texts().keys() - {name}


def is_eval(project: Project, path: Path) -> bool:
    """Return True if a search of the repository would find a file."""
    return discovery.is_eval(path, _globs(project), project.root)


def _globs(project: Project) -> Sequence[str]:
    return () if _is_outside(project) else project.summary.globs


def _is_outside(project: Project) -> bool:
    place = os.path.realpath(project.root / project.config_name)
    return not file_io.is_inside(place, os.path.realpath(project.root))


_PROMPTS: Final = (".prompt.yml", ".prompt.yaml")  # of targets, or of suites


def left_aside(paths: Sequence[str], globs: Sequence[str], read: Iterable[Path]) -> str:
    """Return the files of other tools in the folders of PATHS that are not read, in one line.

    Globs of a configuration name the files instead of a search.
    """
    if not paths and globs:
        return ""
    known = {*read}
    folders = [Path(path) for path in paths or (discovery.HERE,) if Path(path).is_dir()]
    every = (path for folder in folders for path in discovery.walk(folder))
    others = [path for path in every if path not in known and not path.name.endswith(_PROMPTS)]
    if others:  # a link may lead to a file that was read
        real = {path.resolve() for path in known}
        others = [path for path in others if path.resolve() not in real]
    if not others:
        return ""
    from rubric_ci.files.project.near_files import foreign_files

    found = foreign_files(others).removeprefix("; it holds ")
    return f"not read: {found}" if found else ""


def count_cases(project: Project, paths: Iterable[Path]) -> Sizes:
    """Count the cases of eval files; files that cannot be read are reported elsewhere."""
    names: list[CaseName] = []
    variables = set[str]()
    tags: Counter[str] = Counter()
    count = 0
    for path in paths:
        name = project.name_of(path)
        suite = _suite(project, path, name)
        cases = suite.get("evalcases")
        variables.update(_vars(suite))
        for case in cases if isinstance(cases, list) else ():
            count += 1
            if isinstance(case, dict):
                variables.update(_vars(case))
                tags.update(_tags(case.get("tags")))
                if isinstance(case.get("id"), str):
                    names.append(CaseName(name, case["id"], _target(case) or _target(suite)))
    return Sizes(count, tags, tuple(names), variables=frozenset(variables))


def _suite(project: Project, path: Path, name: str) -> dict[str, Any]:
    try:
        text = decode(discovery.read_bytes(path))
    except CannotReadFile:
        return {}
    find = project.case_finder(name)
    data: Any = open_source(name, text, find=find).data if isinstance(text, str) else None
    return data if isinstance(data, dict) else {}


def _vars(owner: dict[str, Any]) -> set[str]:
    found = owner.get("vars")
    return {name for name in found if isinstance(name, str)} if isinstance(found, dict) else set()


def _tags(listed: Any) -> set[str]:
    return {tag for tag in listed if isinstance(tag, str)} if isinstance(listed, list) else set()


def _target(owner: dict[str, Any]) -> str:
    """Return the target that a suite or a case names."""
    execution = owner.get("execution")
    inner = execution.get("target") if isinstance(execution, dict) else None
    named = inner or owner.get("target")
    return named if isinstance(named, str) else ""
