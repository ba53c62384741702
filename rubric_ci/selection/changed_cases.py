"""Choose the cases that a change affects: the working tree is one side, git's objects the other."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from rubric_ci.errors import CannotConfigure
from rubric_ci.git import base_revision, plumbing
from rubric_ci.git.plumbing import Repository
from rubric_ci.git.snapshot import Snapshot
from rubric_ci.github.actions import read_event
from rubric_ci.grading.resolve import choose_cases, choose_judge, choose_target
from rubric_ci.judge.prompt import PROMPT_VERSION
from rubric_ci.model.config import Config, RecordedTarget
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.git_changes import FoundBase, NoBase, Trigger
from rubric_ci.model.options import RunSettings
from rubric_ci.project import discovery
from rubric_ci.project.project import Opened, find_evals, open_evals, read_evals
from rubric_ci.selection.base_state import BaseState, WorkingTree, config_names, load_base_state
from rubric_ci.selection.compare_cases import Selection, Side, everything, select
from rubric_ci.selection.dependencies import ChangedPaths
from rubric_ci.selection.diff import Difference, read_difference
from rubric_ci.selection.fingerprint import Setup
from rubric_ci.selection.prefilter import find_unconcerned

EVERY_CASE = "every case was asked for"


def open_selected(settings: RunSettings) -> tuple[Opened, Selection]:
    """Open the eval files, and choose the cases that are asked for and that a change affects."""
    if not settings.changed_since:
        opened = open_evals(settings.paths, settings.config)
        return opened, Selection(chosen=tuple((c, EVERY_CASE) for c in _wanted(opened, settings)))
    found = find_evals(settings.paths, settings.config)
    repository = plumbing.open_repository(found.root, os.environ)
    base = _find_base(repository, settings.changed_since)
    if isinstance(base, NoBase):
        opened = read_evals(found, found.paths)
        return opened, everything(_wanted(opened, settings), base.reason)
    difference = read_difference(
        repository, base, discovery.from_root(settings.output_dir, found.root)
    )
    config_name = discovery.from_root(settings.config, found.root) if settings.config else ""
    unread = find_unconcerned(found, difference, settings, config_name)
    opened = read_evals(found, [path for path in found.paths if path not in unread])
    selection = choose_changed(_working_tree(opened, settings, config_name), difference)
    return opened, _asked_for(selection, _wanted(opened, settings), sum(unread.values()))


def choose_changed(now: WorkingTree, difference: Difference) -> Selection:
    """Choose the cases that differ from the base."""
    with plumbing.blobs(difference.repository) as read:
        then = Snapshot(
            root=now.root, entries=difference.entries, changed=difference.changed, read=read
        )
        before = load_base_state(now, then, difference)
        head, base = _head(now, difference), _base(now, before, then, difference)
    compared = {*before.files, *config_names(now.named_config, before.files)}
    selection = select(head, base, ChangedPaths(sorted(difference.changed_paths), compared))
    origin = f"Compared with {difference.base.origin} ({difference.base.commit[:10]})."
    return replace(selection, notes=(origin, *selection.notes))


def _wanted(opened: Opened, settings: RunSettings) -> tuple[EvalCase, ...]:
    every = [case for file in opened.files for case in file.cases]
    return choose_cases(every, ids=settings.cases, tags=settings.tags)


def _asked_for(selection: Selection, wanted: tuple[EvalCase, ...], unread: int) -> Selection:
    keys = {(case.file, case.id) for case in wanted}
    chosen = tuple((case, why) for case, why in selection.chosen if (case.file, case.id) in keys)
    return replace(selection, chosen=chosen, spared=len(wanted) - len(chosen) + unread)


def _find_base(repository: Repository, changed_since: str) -> FoundBase:
    if changed_since != "auto":
        return base_revision.since(repository, changed_since)
    event = read_event(os.environ)
    if event is None:
        return base_revision.of_checkout(repository)
    trigger = Trigger(
        event=event.name,
        base_sha=event.base_sha,
        head_sha=event.head_sha,
        before=event.base_sha,
        ref=os.environ.get("GITHUB_REF", ""),
        default_branch=event.default_branch,
    )
    return base_revision.of_trigger(repository, trigger)


def _working_tree(opened: Opened, settings: RunSettings, config_name: str) -> WorkingTree:
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
        named_config=config_name,
        eval_files=opened.files,
        setup_of=setup_of,
    )


def _head(now: WorkingTree, difference: Difference) -> Side:
    recorded = filter(difference.may_have_changed, _recordings(now.config))
    return Side(
        cases=now.cases,
        setups={case.target: now.setup_of(case, now.config) for case in _one_a_target(now.cases)},
        answers={path: _text(now.root / path) for path in recorded},
    )


def _base(now: WorkingTree, before: BaseState, then: Snapshot, difference: Difference) -> Side:
    recorded = filter(difference.may_have_changed, _recordings(now.config))
    return Side(
        cases=before.cases,
        setups=dict(_setups(now, before)),
        answers={path: then.text(path) or "" for path in recorded},
        unreadable=before.unreadable,
        no_setup=before.config_problem or "its target is new",
    )


def _setups(now: WorkingTree, before: BaseState) -> Iterator[tuple[str, Setup]]:
    if before.config is None:
        return
    for case in _one_a_target(before.cases):
        try:
            yield case.target, now.setup_of(case, before.config)
        except CannotConfigure:
            continue  # the base had no such target: the case is chosen for that


def _one_a_target(cases: Iterable[EvalCase]) -> Iterable[EvalCase]:
    return {case.target: case for case in cases}.values()


def _recordings(config: Config) -> Iterator[str]:
    for target in config.targets.values():
        if isinstance(target, RecordedTarget):
            yield target.answers


def _text(path: Path) -> str:
    return discovery.read_text(path) if path.is_file() else ""
