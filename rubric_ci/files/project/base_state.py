"""The base of a change: its eval files, cases and configuration, read from git's objects.

Only eval files that may differ are read. One is the same if git has it and every file that it
refers to unchanged, and no changed file could come before those in the search for them.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from posixpath import basename, dirname

from rubric_ci.files.project.change import BaseCommit, Difference
from rubric_ci.files.project.file_kinds import (
    HERE,
    SUFFIXES,
    agentv_configs,
    holds_cases,
    is_named_eval,
    is_searched,
    may_hold_cases,
    sidecar_name,
    yaml_holds_cases,
)
from rubric_ci.files.project.links import ancestors, seen_through
from rubric_ci.files.project.project import Project
from rubric_ci.files.project.working_tree import from_root
from rubric_ci.files.validation.includes import criteria_by_id
from rubric_ci.files.validation.reference_rules import SKILL_FILE
from rubric_ci.system.git.snapshot import Snapshot, follow
from rubric_ci.text.globs import matcher
from rubric_ci.values.changes import ABSENT, SUBMODULE, SYMLINK, Change
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.values.evals import EvalCase, EvalFile
from rubric_ci.values.problems import errors_of


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseState:
    project: Project
    difference: Difference
    cases: tuple[EvalCase, ...]
    files: frozenset[str]  # eval files and their sidecars, then and now
    unreadable: Mapping[str, str]  # eval file to why, as a clause

    def config_problem(self, eval_file: str) -> str:
        """Return why the configuration of an eval file is unknown; empty: it is known."""
        for name in self.project.candidates(eval_file):
            in_git = name in self.difference.changed_paths
            if not in_git and self.difference.may_have_changed(name):
                return f"`{name}` is not kept in git"
        error = self.project.first_error(eval_file)
        return f"the base's `{error.file}` does not parse: {_describe(error)}" if error else ""


def state_at(
    commit: BaseCommit, project: Project, files: Sequence[EvalFile], found: Collection[str]
) -> BaseState:
    """Return the project and the cases of a base, read once for a project and its files.

    `project`, `files` and `found`, which names every eval file, are of the working tree.
    """
    if (last := commit.last_state) and last[0] is project and last[1] is files:
        state: BaseState = last[2]
        return state
    # The eval files that a search finds at the base only.
    was = project.at(commit.committed)
    names = BaseSearch(was, commit.committed).find(commit.change.options.paths, found.__contains__)
    loaded = (was.load(name) for name in dict.fromkeys(names))
    lost = [each.eval_file for each in loaded if each and each.eval_file]
    state = load_base_state(project, files, commit.files, commit.difference, lost)
    commit.last_state = project, files, state
    return state


def load_base_state(
    now: Project,
    files: Sequence[EvalFile],
    then: Snapshot,
    difference: Difference,
    lost: Sequence[EvalFile] = (),
) -> BaseState:
    """Read the files that may differ from git's objects; everything else is as in `files`.

    `lost` are the files of the base that the present search does not find.
    """
    project = now.at(then, now.policy)
    same = _UnchangedFiles(difference)
    defaults = {each.summary.default_evaluator for each in (project, now)}
    others = len(defaults) > 1 or criteria_by_id(project.shared) != criteria_by_id(now.shared)
    differing = [file.path for file in files if others or not same.holds(file)]
    known = {file.path for file in lost}
    deleted = (change.path for change in difference.changes if _was_eval(change, then))
    gone = [path for path in deleted if path not in known]
    moved = {path: of for path in differing if (of := _moved_submodule(path, difference))}
    unmoved = (path for path in (*differing, *gone) if path not in moved)
    loaded = {path: each for path in unmoved if (each := project.load(path))}
    kept = [file for file in files if file.path not in set(differing)]
    read = [*lost, *(each.eval_file for each in loaded.values() if each.eval_file)]
    cases = tuple(case for file in (*kept, *read) for case in file.cases)
    own = {case.file for file in files for case in file.cases} | {case.file for case in cases}
    names = (*(file.path for file in files), *known, *loaded, *own)
    return BaseState(
        project=project,
        difference=difference,
        cases=cases,
        files=frozenset(name for path in names for name in (path, sidecar_name(path))),
        unreadable={
            **{path: f"the submodule `{of}` moved to another commit" for path, of in moved.items()},
            **{
                path: f"the base does not parse: {_describe(errors_of(each.diagnostics)[0])}"
                for path, each in loaded.items()
                if not each.eval_file
            },
        },
    )


def _moved_submodule(path: str, difference: Difference) -> str:
    """Return the submodule of a file if its commit is another one than at the base."""
    entries = difference.entries
    above = (folder for folder in ancestors(path) if folder in entries)
    of = next((folder for folder in above if entries[folder].mode == SUBMODULE), "")
    return of if of in difference.changed else ""


class _UnchangedFiles:
    """The eval files that are the same in the base, known without reading it."""

    def __init__(self, difference: Difference) -> None:
        self.entries, self.changed = difference.entries, difference.changed
        self.names = {basename(path) for path in difference.changed_paths}
        self.may_be_others = difference.links_changed or difference.may_be_rewritten
        self.may_have_changed = cache(difference.may_have_changed)

    def holds(self, file: EvalFile) -> bool:
        used = {path for case in file.cases for path in case.references} | {*file.rubric_files}
        return (
            not self.may_be_others
            and not file.in_files  # a glob may find other ones in the base
            and not (file.path.endswith(".json") and SKILL_FILE in self.names)  # may be its name
            and self._is_same(file.path)
            and sidecar_name(file.path) not in self.changed
            and not any(map(self.may_have_changed, agentv_configs(dirname(file.path))))
            and all(self._is_same(path) and basename(path) not in self.names for path in used)
        )

    def _is_same(self, path: str) -> bool:
        """Return True if git has the file, or the submodule that it is in, unchanged."""
        place = path
        while place not in self.entries and place:
            place = dirname(place)
        known = place == path or (place and self.entries[place].mode == SUBMODULE)
        return bool(known) and place not in self.changed


def _was_eval(change: Change, then: Snapshot) -> bool:
    if (
        change.new_mode != ABSENT
        or change.old_mode == SYMLINK
        or not change.path.endswith(SUFFIXES)
    ):
        return False
    return change.path.endswith(".jsonl") or yaml_holds_cases(then.read(change.path) or b"")


def _describe(problem: Diagnostic) -> str:
    return f"line {problem.span.line}: {problem.message}"


class BaseSearch:
    """A search of the eval files of a commit."""

    def __init__(self, project: Project, files: Snapshot) -> None:
        """Search `files` with the globs of `project`, which reads them."""
        self._files, self._root = files, files.root
        self._names = _names(files)
        self._globs = [
            f"{'!' * glob.startswith('!')}{glob.removeprefix('!').lstrip('/')}"
            for glob in project.summary.globs
        ]
        self._configured = matcher(self._globs)

    def find(self, paths: Sequence[str], graded: Callable[[str], bool]) -> Iterator[str]:
        """Yield the files of PATHS, or of the globs; those that are `graded` are left out."""
        if not paths and self._globs:
            found = filter(self._configured, self._names)
            yield from self._new(found, graded, self._may_hold)
            return
        for path in paths or [HERE]:
            place = from_root(Path(path), self._root)
            if place in self._names:
                yield from self._new([place], graded, lambda _: True)
            elif any(sign in path for sign in "*?["):
                found = filter(matcher([place]), self._names)
                yield from self._new(found, graded, self._may_hold)
            else:
                yield from self._new(self._below(place), graded, self._holds)

    def _new(
        self, found: Iterable[str], graded: Callable[[str], bool], holds: Callable[[str], bool]
    ) -> Iterator[str]:
        """Yield the names without links of files that hold cases and are not graded."""
        for name in found:
            real = self._names[name]
            if not graded(real) and holds(name):
                yield real

    def _below(self, folder: str) -> Iterator[str]:
        start = "" if folder in {"", HERE} else f"{folder}/"
        for name in self._names:
            if name.startswith(start) and name.endswith(SUFFIXES):
                folders = name[len(start) :].split("/")[:-1]
                if all(map(is_searched, folders)):
                    yield name

    def _holds(self, name: str) -> bool:
        if is_named_eval(name) or self._configured(name):
            return True
        return holds_cases(name, self._files.read(name) or b"")

    def _may_hold(self, name: str) -> bool:
        return may_hold_cases(name, self._files.read, self._names.__contains__)


def _names(files: Snapshot) -> Mapping[str, str]:
    """Return the name of each file, and the names that links give it, each to the first."""
    links: dict[str, str] = {}
    real: dict[str, str] = {}
    for path, entry in files.entries.items():
        if entry.mode == SYMLINK:
            place = follow(path, files.link)
            if place is not None:
                links[path] = place
        elif entry.mode != SUBMODULE:
            real[path] = path
    if links:
        for name in seen_through(links, real):
            place = follow(name, files.link)
            if place in real:
                real.setdefault(name, place)
    return real
