"""Select the cases that a change affects: compare the working tree with git's objects."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rubric_ci.errors import CannotConfigure, CannotReadFile
from rubric_ci.git import base_revision, plumbing
from rubric_ci.git.process import Repository
from rubric_ci.git.snapshot import Snapshot
from rubric_ci.github.actions import read_event
from rubric_ci.grading.resolve import choose_cases, choose_judge, choose_target
from rubric_ci.judge.prompt import PROMPT_VERSION
from rubric_ci.model.config import Config, RecordedTarget
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.git_changes import FoundBase, NoBase, Trigger
from rubric_ci.model.options import RunSettings
from rubric_ci.policy.checkout import open_project, policy_notes
from rubric_ci.project import discovery
from rubric_ci.project.loaded_project import LoadedProject, find_evals, load_evals
from rubric_ci.project.project import Project
from rubric_ci.selection.base_state import BaseState, load_base_state
from rubric_ci.selection.compare_cases import (
    NoSetup,
    Revision,
    Selection,
    place,
    select,
    select_all,
)
from rubric_ci.selection.dependencies import ChangedPaths
from rubric_ci.selection.dependency_notes import dependency_notes
from rubric_ci.selection.diff import Difference, read_difference
from rubric_ci.selection.fingerprint import Setup
from rubric_ci.selection.prefilter import find_unconcerned

EVERY_CASE = "every case was asked for"


def open_selected(settings: RunSettings) -> tuple[LoadedProject, Selection]:
    """Load the eval files, and choose the cases that are asked for and that a change affects."""
    project = open_project(settings.config, settings.policy_from, settings.changed_since)
    paths = find_evals(project, settings.paths)
    loaded, selection = _select(project, paths, settings)
    names = (discovery.from_root(path, project.root) for path in paths)
    notes = (*policy_notes(loaded), *selection.notes, *dependency_notes(loaded, names))
    return loaded, replace(selection, notes=notes)


def _select(
    project: Project, paths: Sequence[Path], settings: RunSettings
) -> tuple[LoadedProject, Selection]:
    if not settings.changed_since:
        loaded = load_evals(project, paths)
        every = _asked_for(loaded, settings)
        return loaded, Selection(chosen=tuple((case, EVERY_CASE) for case in every))
    repository = plumbing.open_repository(project.root, os.environ)
    base = find_base(repository, settings.changed_since)
    if isinstance(base, NoBase):
        loaded = load_evals(project, paths)
        return loaded, select_all(_asked_for(loaded, settings), base.reason)
    outputs = discovery.from_root(settings.output_dir, project.root)
    difference = read_difference(repository, base, outputs)
    unread = find_unconcerned(project, paths, difference, settings)
    loaded = load_evals(project, [path for path in paths if path not in unread])
    selection = choose_changed(loaded, difference, settings)
    return loaded, _narrowed(selection, _asked_for(loaded, settings), sum(unread.values()))


def choose_changed(now: LoadedProject, difference: Difference, settings: RunSettings) -> Selection:
    """Choose the cases that differ from the base."""
    with plumbing.blobs(difference.repository) as read:
        then = Snapshot(
            root=now.root, entries=difference.entries, changed=difference.changed, read_blob=read
        )
        state = load_base_state(now, then, difference)
        head = _head(now, difference, settings)
        base = _base(state, then, head, settings)
    names = {name for file in state.files for name in now.project.candidates(file)}
    paths = ChangedPaths(sorted(difference.changed_paths), {*state.files, *names})
    selection = select(head, base, paths)
    origin = f"Compared with {difference.base.origin} ({difference.base.commit[:10]})."
    return replace(selection, notes=(origin, *selection.notes))


def _asked_for(loaded: LoadedProject, settings: RunSettings) -> tuple[EvalCase, ...]:
    every = [case for file in loaded.files for case in file.cases]
    return choose_cases(every, ids=settings.cases, tags=settings.tags)


def _narrowed(selection: Selection, asked_for: Sequence[EvalCase], unread: int) -> Selection:
    keys = {(case.file, case.id) for case in asked_for}
    chosen = tuple((case, why) for case, why in selection.chosen if (case.file, case.id) in keys)
    return replace(selection, chosen=chosen, spared=len(asked_for) - len(chosen) + unread)


def find_base(repository: Repository, revision: str, option: str = "--changed-since") -> FoundBase:
    """Return the base that an option names; `auto`: that of the event or of the branch."""
    if revision != "auto":
        return base_revision.since(repository, revision, option)
    event = read_event(os.environ)
    if event is None:
        return base_revision.of_checkout(repository, option)
    trigger = Trigger(
        event=event.name,
        base_sha=event.base_sha,
        head_sha=event.head_sha,
        before=event.base_sha,
        ref=os.environ.get("GITHUB_REF", ""),
        default_branch=event.default_branch,
    )
    return base_revision.of_trigger(repository, trigger)


def _head(now: LoadedProject, difference: Difference, settings: RunSettings) -> Revision:
    cases = tuple(case for file in now.files for case in file.cases)
    setups = {
        place(case): _setup(case, now.config_for(case.file), settings)
        for case in _one_a_place(cases)
    }
    recordings = {
        setup.target.answers
        for setup in setups.values()
        if isinstance(setup.target, RecordedTarget)
    }
    differing = filter(difference.may_have_changed, sorted(recordings))
    return Revision(
        cases=cases, setups=setups, answers={path: _text(path, now.root) for path in differing}
    )


def _base(state: BaseState, then: Snapshot, head: Revision, settings: RunSettings) -> Revision:
    return Revision(
        cases=state.cases,
        setups={
            place(case): _base_setup(case, state, settings) for case in _one_a_place(state.cases)
        },
        answers={path: then.text(path) or "" for path in head.answers},
        unreadable=state.unreadable,
    )


def _setup(case: EvalCase, config: Config, settings: RunSettings) -> Setup:
    target = choose_target(case, config, settings.target)
    return Setup(
        target=target,
        judge=choose_judge(config, target, settings.judge),
        thresholds=config.gate.thresholds,
        prompt_version=PROMPT_VERSION,
    )


def _base_setup(case: EvalCase, state: BaseState, settings: RunSettings) -> Setup | NoSetup:
    if problem := state.config_problem(case.file):
        return NoSetup(reason=problem)
    try:
        return _setup(case, state.project.config_for(case.file), settings)
    except CannotConfigure:
        return NoSetup(reason="its target is new")


def _one_a_place(cases: Iterable[EvalCase]) -> Iterable[EvalCase]:
    """Return one case for each place: the others run with the same."""
    return {place(case): case for case in cases}.values()


def _text(name: str, root: Path) -> str:
    """Return recorded answers; empty if they cannot be read: then each of their cases runs."""
    try:
        return discovery.read_text(root / name, root)
    except CannotReadFile:
        return ""
