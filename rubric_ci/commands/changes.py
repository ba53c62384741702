"""Choose the cases that a change affects: the working tree is one side, git's objects the other."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rubric_ci import files, git, revision
from rubric_ci.commands.before import Before, WorkingTree, config_names, open_before
from rubric_ci.commands.choosing import choose_cases, choose_judge, choose_target
from rubric_ci.commands.opening import Opened
from rubric_ci.dependencies import ChangedPaths, seen_through
from rubric_ci.errors import CannotConfigure
from rubric_ci.fingerprint import Setup
from rubric_ci.git import Repository
from rubric_ci.judging.prompt import PROMPT_VERSION
from rubric_ci.model.change import SYMLINK, Change, Entry, FoundBase, NoBase
from rubric_ci.model.config import Config, RecordedTarget
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.settings import RunSettings
from rubric_ci.selection import Selection, Side, everything, select
from rubric_ci.snapshot import Snapshot

EVERY_CASE = "every case was asked for"


def select_cases(opened: Opened, settings: RunSettings) -> Selection:
    """Choose the cases that the command line asks for, and that the change affects."""
    every = [case for file in opened.files for case in file.cases]
    wanted = choose_cases(every, ids=settings.cases, tags=settings.tags)
    if not settings.changed_since:
        return Selection(chosen=tuple((case, EVERY_CASE) for case in wanted))
    repository = git.open_repository(opened.root, os.environ)
    base = _find_base(repository, settings.changed_since)
    selection = choose_changed(_working_tree(opened, settings), base, repository)
    asked_for = {(case.file, case.id) for case in wanted}
    chosen = tuple(
        (case, why) for case, why in selection.chosen if (case.file, case.id) in asked_for
    )
    return replace(selection, chosen=chosen, spared=len(wanted) - len(chosen))


def choose_changed(now: WorkingTree, base: FoundBase, repository: Repository) -> Selection:
    """Choose the cases that differ from the base, or all where there is none."""
    if isinstance(base, NoBase):
        return everything(now.cases, base.reason)
    changes = [c for c in git.changes(repository, base.commit) if not now.is_output(c.path)]
    entries = git.tree(repository, base.commit)
    with git.blobs(repository) as read:
        changed = frozenset(change.path for change in changes)
        snapshot = Snapshot(root=now.root, entries=entries, changed=changed, read=read)
        before = open_before(now, snapshot, changes)
        head, base_side = _head(now, changed), _base(now, before, snapshot)
    selection = select(head, base_side, _paths(now, before, entries, changes))
    compared = f"Compared with {base.origin} ({base.commit[:10]})."
    return replace(selection, notes=(compared, *selection.notes))


def _find_base(repository: Repository, changed_since: str) -> FoundBase:
    if changed_since != "auto":
        return revision.since(repository, changed_since)
    return revision.of_checkout(repository)


def _working_tree(opened: Opened, settings: RunSettings) -> WorkingTree:
    def setup_of(case: EvalCase, config: Config) -> Setup:
        target = choose_target(case, config, settings.target)
        return Setup(
            target=target,
            judge=choose_judge(config, target, settings.judge),
            thresholds=config.gate.thresholds,
            prompt_version=PROMPT_VERSION,
        )

    return WorkingTree(
        root=opened.root,
        config=opened.config,
        named_config=files.from_root(settings.config, opened.root) if settings.config else "",
        eval_files=opened.files,
        setup_of=setup_of,
        outputs=files.from_root(settings.output_dir, opened.root),
    )


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
