"""Open the base of a change: the cases and the configuration as they were.

Only eval files that may differ are read. One is the same if git says so of it and of every file
that it refers to, and if no other file can have come before those in the search for them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import basename, dirname, join, splitext
from typing import TypeAlias

from rubric_ci import files
from rubric_ci.fingerprint import Setup
from rubric_ci.model.change import ABSENT, SUBMODULE, SYMLINK, Change
from rubric_ci.model.config import Config, Target
from rubric_ci.model.diagnostic import Diagnostic, Severity
from rubric_ci.model.evals import EvalCase, EvalFile
from rubric_ci.snapshot import Snapshot
from rubric_ci.source.config import LoadedConfig, LoadedTargets, load_config, load_targets
from rubric_ci.source.load import Loaded, load

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
    outputs: str = ""  # the folder that reports are written to, from the root

    @property
    def cases(self) -> tuple[EvalCase, ...]:
        """Every case, in the order of the files."""
        return tuple(case for file in self.eval_files for case in file.cases)

    def is_output(self, path: str) -> bool:
        """Tell whether we wrote this file ourselves."""
        return bool(self.outputs) and path.startswith(f"{self.outputs}/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The base of a change."""

    cases: tuple[EvalCase, ...]
    files: frozenset[str]  # eval files and their sidecars, then and now
    unreadable: Mapping[str, str] = field(default_factory=dict)  # eval file to what is wrong
    config: Config | None = None
    config_problem: str = ""  # why there is no configuration


def open_before(now: WorkingTree, then: Snapshot, changes: Sequence[Change]) -> Before:
    """Read what may differ from git's objects; all else is as it is now."""
    same = _Sameness(then, changes)
    differing = [file.path for file in now.eval_files if not same.holds(file)]
    gone = [change.path for change in changes if _was_eval(change, then)]
    loaded = {path: each for path in (*differing, *gone) if (each := _load(path, then))}
    kept = [file for file in now.eval_files if file.path not in set(differing)]
    read = [each.eval_file for each in loaded.values() if each.eval_file]
    config, problem = _config(now, then)
    names = (*(file.path for file in now.eval_files), *loaded)
    return Before(
        cases=tuple(case for file in (*kept, *read) for case in file.cases),
        files=frozenset(name for path in names for name in (path, _sidecar(path))),
        unreadable={path: _first(each) for path, each in loaded.items() if not each.eval_file},
        config=config,
        config_problem=problem,
    )


def config_names(now: WorkingTree) -> tuple[str, ...]:
    """Name the files that the configuration is, or would be, read from."""
    return (*_own_config(now), *_targets_files(now))


class _Sameness:
    """Whether an eval file says now what it said then, without reading it."""

    def __init__(self, then: Snapshot, changes: Sequence[Change]) -> None:
        self.then = then
        self.names = {basename(change.path) for change in changes}
        self.links = any(SYMLINK in (change.old_mode, change.new_mode) for change in changes)

    def holds(self, file: EvalFile) -> bool:
        used = {path for case in file.cases for path in case.references}
        return (
            not self.links
            and self._is_same(file.path)
            and _sidecar(file.path) not in self.then.changed
            and all(self._is_same(path) and basename(path) not in self.names for path in used)
        )

    def _is_same(self, path: str) -> bool:
        """Tell whether git has the file, or the submodule that it lies in, as it is now."""
        place = path
        while place not in self.then.entries and place:
            place = dirname(place)
        known = place == path or (place and self.then.entries[place].mode == SUBMODULE)
        return bool(known) and place not in self.then.changed


def _was_eval(change: Change, then: Snapshot) -> bool:
    if change.new_mode != ABSENT or not change.path.endswith(files.SUFFIXES):
        return False
    text = then.text(change.path) or ""
    return "evalcases" in text or change.path.endswith(".jsonl")


def _load(path: str, then: Snapshot) -> Loaded | None:
    text = then.text(path)
    if text is None:
        return None
    return load(
        path, text, then.lookup(path), then.text(side) if (side := _sidecar(path)) else None
    )


def _sidecar(path: str) -> str:
    stem, suffix = splitext(path)
    return f"{stem}.yaml" if suffix == ".jsonl" else ""


def _first(loaded: Loaded | LoadedConfig | LoadedTargets) -> str:
    problem = _errors(loaded.diagnostics)[0]
    return f"line {problem.span.line}: {problem.message}"


def _errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [problem for problem in diagnostics if problem.severity is Severity.ERROR]


def _config(now: WorkingTree, then: Snapshot) -> tuple[Config | None, str]:
    """Return the configuration as it was, or why it cannot be read."""
    if not then.changed.intersection(config_names(now)):
        return now.config, ""
    config, targets = Config(), dict[str, Target]()
    for name, text in _texts(_own_config(now), then)[:1]:
        loaded = load_config(name, text)
        if loaded.config is None:
            return None, f"the base's `{name}` does not parse: {_first(loaded)}"
        config = loaded.config
    for name, text in _texts(_targets_files(now), then):
        beside = load_targets(name, text)
        if _errors(beside.diagnostics):
            return None, f"the base's `{name}` does not parse: {_first(beside)}"
        targets = {target.name: target for target in beside.targets} | targets
    return replace(config, targets=targets | dict(config.targets)), ""


def _texts(names: Iterable[str], then: Snapshot) -> list[tuple[str, str]]:
    return [(name, text) for name in names if (text := then.text(name)) is not None]


def _own_config(now: WorkingTree) -> tuple[str, ...]:
    return (now.named_config,) if now.named_config else files.CONFIG_NAMES


def _targets_files(now: WorkingTree) -> tuple[str, ...]:
    folders = {".agentv": None} | {dirname(file.path): None for file in now.eval_files}
    return tuple(join(folder, name) for folder in folders for name in files.TARGETS_NAMES)
