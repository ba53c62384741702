"""Open the base of a change: the cases and the configuration as they were.

Only eval files that may differ are read. One is the same if git says so of it and of every file
that it refers to, and if no other file can have come before those in the search for them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import basename, dirname, join, splitext
from typing import TypeAlias

from rubric_ci.git.snapshot import Snapshot
from rubric_ci.model.config import Config, Target
from rubric_ci.model.diagnostics import Diagnostic, Severity
from rubric_ci.model.evals import EvalCase, EvalFile
from rubric_ci.model.git_changes import ABSENT, SUBMODULE, Change
from rubric_ci.project import discovery
from rubric_ci.project.loader import (
    Loaded,
    LoadedConfig,
    LoadedTargets,
    load,
    load_config,
    load_targets,
)
from rubric_ci.selection.diff import Difference
from rubric_ci.selection.fingerprint import Setup

SetupOf: TypeAlias = Callable[[EvalCase, Config], Setup]
"""What a case runs with under a configuration; raises `CannotConfigure`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingTree:
    """What is there now, opened and valid."""

    root: Path
    config: Config
    named_config: str = ""  # from the root; empty: where it is looked for
    eval_files: tuple[EvalFile, ...]
    setup_of: SetupOf

    @property
    def cases(self) -> tuple[EvalCase, ...]:
        """Every case, in the order of the files."""
        return tuple(case for file in self.eval_files for case in file.cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseState:
    """The base of a change."""

    cases: tuple[EvalCase, ...]
    files: frozenset[str]  # eval files and their sidecars, then and now
    unreadable: Mapping[str, str] = field(default_factory=dict)  # eval file to what is wrong
    config: Config | None = None
    config_problem: str = ""  # why there is no configuration


def load_base_state(now: WorkingTree, then: Snapshot, difference: Difference) -> BaseState:
    """Read what may differ from git's objects; all else is as it is now."""
    same = _UnchangedFiles(difference)
    differing = [file.path for file in now.eval_files if not same.holds(file)]
    gone = [change.path for change in difference.changes if _was_eval(change, then)]
    loaded = {path: each for path in (*differing, *gone) if (each := _load(path, then))}
    kept = [file for file in now.eval_files if file.path not in set(differing)]
    read = [each.eval_file for each in loaded.values() if each.eval_file]
    config, problem = _config(now, then, difference)
    names = (*(file.path for file in now.eval_files), *loaded)
    return BaseState(
        cases=tuple(case for file in (*kept, *read) for case in file.cases),
        files=frozenset(name for path in names for name in (path, sidecar_name(path))),
        unreadable={path: _first(each) for path, each in loaded.items() if not each.eval_file},
        config=config,
        config_problem=problem,
    )


def config_names(named: str, eval_files: Iterable[str]) -> tuple[str, ...]:
    """Name the files that the configuration is, or would be, read from."""
    return (*_own_config(named), *_targets_files(eval_files))


def sidecar_name(path: str) -> str:
    """Name the file that may hold the suite fields of a JSON Lines file, or nothing."""
    stem, suffix = splitext(path)
    return f"{stem}.yaml" if suffix == ".jsonl" else ""


class _UnchangedFiles:
    """Whether an eval file says now what it said then, without reading it."""

    def __init__(self, difference: Difference) -> None:
        self.entries, self.changed = difference.entries, difference.changed
        self.names = {basename(path) for path in difference.changed_paths}
        self.links_changed = difference.links_changed

    def holds(self, file: EvalFile) -> bool:
        used = {path for case in file.cases for path in case.references}
        return (
            not self.links_changed
            and self._is_same(file.path)
            and sidecar_name(file.path) not in self.changed
            and all(self._is_same(path) and basename(path) not in self.names for path in used)
        )

    def _is_same(self, path: str) -> bool:
        """Tell whether git has the file, or the submodule that it lies in, as it is now."""
        place = path
        while place not in self.entries and place:
            place = dirname(place)
        known = place == path or (place and self.entries[place].mode == SUBMODULE)
        return bool(known) and place not in self.changed


def _was_eval(change: Change, then: Snapshot) -> bool:
    if change.new_mode != ABSENT or not change.path.endswith(discovery.SUFFIXES):
        return False
    text = then.text(change.path) or ""
    return "evalcases" in text or change.path.endswith(".jsonl")


def _load(path: str, then: Snapshot) -> Loaded | None:
    text = then.text(path)
    if text is None:
        return None
    return load(
        path, text, then.lookup(path), then.text(side) if (side := sidecar_name(path)) else None
    )


def _first(loaded: Loaded | LoadedConfig | LoadedTargets) -> str:
    problem = _errors(loaded.diagnostics)[0]
    return f"line {problem.span.line}: {problem.message}"


def _errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [problem for problem in diagnostics if problem.severity is Severity.ERROR]


def _config(now: WorkingTree, then: Snapshot, difference: Difference) -> tuple[Config | None, str]:
    """Return the configuration as it was, or why it cannot be read."""
    names = [file.path for file in now.eval_files]
    differing = [
        name for name in config_names(now.named_config, names) if difference.may_have_changed(name)
    ]
    unknown = [name for name in differing if name not in difference.changed_paths]
    if unknown:
        return None, f"`{unknown[0]}` is not kept in git"
    if not differing:
        return now.config, ""
    config, targets = Config(), dict[str, Target]()
    for name, text in _texts(_own_config(now.named_config), then)[:1]:
        loaded = load_config(name, text)
        if loaded.config is None:
            return None, f"the base's `{name}` does not parse: {_first(loaded)}"
        config = loaded.config
    for name, text in _texts(_targets_files(names), then):
        beside = load_targets(name, text)
        if _errors(beside.diagnostics):
            return None, f"the base's `{name}` does not parse: {_first(beside)}"
        targets = {target.name: target for target in beside.targets} | targets
    return replace(config, targets=targets | dict(config.targets)), ""


def _texts(names: Iterable[str], then: Snapshot) -> list[tuple[str, str]]:
    return [(name, text) for name in names if (text := then.text(name)) is not None]


def _own_config(named: str) -> tuple[str, ...]:
    return (named,) if named else discovery.CONFIG_NAMES


def _targets_files(eval_files: Iterable[str]) -> tuple[str, ...]:
    folders = {".agentv": None} | {dirname(path): None for path in eval_files}
    return tuple(join(folder, name) for folder in folders for name in discovery.TARGETS_NAMES)
