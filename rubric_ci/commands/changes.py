"""Choose the cases that a change affects: the working tree is one side, git's objects the other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rubric_ci import files, git, selection
from rubric_ci.commands.before import Before, WorkingTree, config_names, open_before
from rubric_ci.dependencies import ChangedPaths, seen_through
from rubric_ci.errors import CannotConfigure
from rubric_ci.fingerprint import Setup
from rubric_ci.git import Repository
from rubric_ci.model.change import SYMLINK, Change, Entry, FoundBase, NoBase
from rubric_ci.model.config import Config, RecordedTarget
from rubric_ci.model.evals import EvalCase
from rubric_ci.selection import Selection, Side
from rubric_ci.snapshot import Snapshot


def choose_changed(now: WorkingTree, base: FoundBase, repository: Repository) -> Selection:
    """Choose the cases that differ from the base, or all where there is none."""
    if isinstance(base, NoBase):
        return selection.everything(now.cases, base.reason)
    changes = [c for c in git.changes(repository, base.commit) if not now.is_output(c.path)]
    entries = git.tree(repository, base.commit)
    with git.blobs(repository) as read:
        changed = frozenset(change.path for change in changes)
        snapshot = Snapshot(root=now.root, entries=entries, changed=changed, read=read)
        before = open_before(now, snapshot, changes)
        head, base_side = _head(now, changed), _base(now, before, snapshot)
    return selection.select(head, base_side, _paths(now, before, entries, changes))


def _head(now: WorkingTree, changed: frozenset[str]) -> Side:
    recorded = {path for path in _recordings(now.config) if path in changed}
    return Side(
        cases=now.cases,
        setups={case.target: now.setup_of(case, now.config) for case in _one_a_target(now.cases)},
        answers={path: _text(now.root / path) for path in recorded},
    )


def _base(now: WorkingTree, before: Before, snapshot: Snapshot) -> Side:
    recorded = {path for path in _recordings(now.config) if path in snapshot.changed}
    return Side(
        cases=before.cases,
        setups=dict(_setups(now, before)),
        answers={path: snapshot.text(path) or "" for path in recorded},
        unreadable=before.unreadable,
        no_setup=before.config_problem or "its target is new",
    )


def _setups(now: WorkingTree, before: Before) -> Iterator[tuple[str, Setup]]:
    if before.config is None:
        return
    for case in _one_a_target(before.cases):
        try:
            yield case.target, now.setup_of(case, before.config)
        except CannotConfigure:
            continue  # the base had no such target: the case is chosen for that


def _paths(
    now: WorkingTree, before: Before, entries: Mapping[str, Entry], changes: Sequence[Change]
) -> ChangedPaths:
    kept = (path for path, entry in entries.items() if entry.mode == SYMLINK)
    made = (change.path for change in changes if change.new_mode == SYMLINK)
    links = dict(_links(now.root, {*kept, *made}))
    compared = {*before.files, *config_names(now)}
    return ChangedPaths(seen_through(links, [change.path for change in changes]), compared)


def _links(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    top = root.resolve()
    for path in paths:
        place = (root / path).resolve()
        if place.is_relative_to(top):
            yield path, place.relative_to(top).as_posix()


def _one_a_target(cases: Iterable[EvalCase]) -> Iterable[EvalCase]:
    return {case.target: case for case in cases}.values()


def _recordings(config: Config) -> Iterator[str]:
    for target in config.targets.values():
        if isinstance(target, RecordedTarget):
            yield target.answers


def _text(path: Path) -> str:
    return files.read_text(path) if path.is_file() else ""
