"""What a change does to the grading: base and head are compared, the base from git's objects."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from rubric_ci.errors import InvalidInput
from rubric_ci.git import plumbing
from rubric_ci.git.snapshot import Snapshot
from rubric_ci.grading_changes.cases import case_changes, removed_cases
from rubric_ci.grading_changes.configuration import config_changes
from rubric_ci.grading_changes.files import (
    ignore_changes,
    line_changes,
    script_changes,
    waiver_changes,
)
from rubric_ci.grading_changes.places import ConfigPlaces
from rubric_ci.grading_changes.script_files import ScriptFiles
from rubric_ci.grading_changes.targets import target_changes
from rubric_ci.model.config import Config, RecordedTarget
from rubric_ci.model.defaults import LABELS, WAIVERS
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.git_changes import Base, NoBase
from rubric_ci.model.grading_changes import GradingChange, by_order
from rubric_ci.model.options import RunSettings
from rubric_ci.model.waivers import Waiver
from rubric_ci.policy import source as policy_source
from rubric_ci.project import discovery
from rubric_ci.project.file_names import CALIBRATION, sidecar_name
from rubric_ci.project.loaded_project import LoadedProject
from rubric_ci.project.project import Project, RepositoryFiles
from rubric_ci.selection.base_state import BaseState, load_base_state
from rubric_ci.selection.changed_cases import find_base
from rubric_ci.selection.compare_cases import matched
from rubric_ci.selection.diff import Difference, read_difference
from rubric_ci.waivers.file import load_waivers


def grading_changes_of(
    loaded: LoadedProject, settings: RunSettings, environment: Mapping[str, str]
) -> tuple[GradingChange, ...]:
    """Return the changes since the base of the policy, else of the selection; none without one."""
    base = _base(loaded, settings, environment)
    outputs = discovery.from_root(settings.output_dir, loaded.root)
    return () if base is None else find_grading_changes(loaded, base, outputs, environment)


def _base(
    loaded: LoadedProject, settings: RunSettings, environment: Mapping[str, str]
) -> Base | None:
    if settings.policy_from in {"", "base"}:
        required = settings.policy_from == "base"
        found = policy_source.find_base(loaded.root, settings.changed_since, required=required)
        if found is not None:
            return found
    named = settings.changed_since or settings.against
    if not named:
        return None
    repository = plumbing.open_repository(loaded.root, environment)
    option = "--changed-since" if settings.changed_since else "--against"
    base = find_base(repository, named, option)
    return None if isinstance(base, NoBase) else base


def find_grading_changes(
    loaded: LoadedProject, base: Base, outputs: str, environment: Mapping[str, str]
) -> tuple[GradingChange, ...]:
    """Return the changes since the base, weaker ones first; `outputs` is the report folder."""
    repository = plumbing.open_repository(loaded.root, environment)
    difference = read_difference(repository, base, outputs)
    with plumbing.blobs(repository) as read:
        then = Snapshot(
            root=loaded.root,
            entries=difference.entries,
            changed=difference.changed,
            read_blob=read,
        )
        state = load_base_state(loaded, then, difference)
        found = list(_changes(loaded, state, then, difference))
    return tuple(sorted(dict.fromkeys(found), key=by_order))


def _changes(
    loaded: LoadedProject, state: BaseState, then: Snapshot, difference: Difference
) -> Iterator[GradingChange]:
    own = Project(loaded.project.files, loaded.project.named_config)
    was = Project(then, loaded.project.named_config)
    names = ("any", *(file.path for file in loaded.files))
    places = ConfigPlaces(own)
    configs = [(own.policy_for(name), was.policy_for(name)) for name in names]
    if was.config_name:
        yield from chain(*(config_changes(now, before, places.line_of) for now, before in configs))
    groups = [tag for _, before in configs for tag in before.gate.groups]
    yield from _cases(loaded, state, own, was, groups)
    yield from _scripts(loaded, own.files, difference)
    yield from _ignores(loaded, own.files, then, difference)
    yield from _files([now for now, _ in configs], own.files, then, difference)


def _cases(
    loaded: LoadedProject, state: BaseState, own: Project, was: Project, groups: Sequence[str]
) -> Iterator[GradingChange]:
    head = [case for file in loaded.files for case in file.cases]
    before = matched(head, state.cases)
    unread = state.unreadable
    yield from case_changes([case for case in head if case.file not in unread], before, groups)
    if was.config_name:
        pairs = [(case, before[key]) for case in head if (key := (case.file, case.id)) in before]
        yield from target_changes(pairs, own.policy_for, was.policy_for)
    kept = {id(case) for case in before.values()}
    yield from removed_cases([case for case in state.cases if id(case) not in kept], "")
    yield from removed_cases(_unmatched(loaded, was), "no longer matched by `evals`")


def _unmatched(loaded: LoadedProject, was: Project) -> list[EvalCase]:
    """Return the cases of files that only the globs of the base find."""
    globs = loaded.project.summary.globs
    before = was.summary.globs
    if not before or before == globs:
        return []
    found = {discovery.from_root(p, loaded.root) for p in _evals(globs, loaded)}
    lost = [discovery.from_root(path, loaded.root) for path in _evals(before, loaded)]
    files = (was.load(name) for name in lost if name not in found)
    return [case for each in files if each and each.eval_file for case in each.eval_file.cases]


def _evals(globs: tuple[str, ...], loaded: LoadedProject) -> Sequence[Path]:
    return discovery.find_evals([], globs, loaded.root)


def _scripts(
    loaded: LoadedProject, head: RepositoryFiles, difference: Difference
) -> Iterator[GradingChange]:
    cases = [case for file in loaded.files for case in file.cases]
    changed = difference.changed_paths
    yield from script_changes(
        cases, ScriptFiles({*difference.entries, *changed}, head.read), changed
    )


def _ignores(
    loaded: LoadedProject, head: RepositoryFiles, then: Snapshot, difference: Difference
) -> Iterator[GradingChange]:
    paths = (name for file in loaded.files for name in (file.path, sidecar_name(file.path)))
    for path in filter(difference.may_have_changed, paths):
        yield from ignore_changes(path, _text(then, path), _text(head, path))


def _files(
    configs: Sequence[Config], head: RepositoryFiles, then: Snapshot, difference: Difference
) -> Iterator[GradingChange]:
    targets = [target for config in configs for target in config.targets.values()]
    recordings = {target.answers for target in targets if isinstance(target, RecordedTarget)}
    for path in sorted(recordings):
        if difference.may_have_changed(path):
            yield from line_changes("recording", path, _text(then, path), _text(head, path))
    yield from line_changes("labels", LABELS, _text(then, LABELS), _text(head, LABELS))
    calibration = _text(then, CALIBRATION), _text(head, CALIBRATION)
    yield from line_changes("calibration", CALIBRATION, *calibration)
    yield from waiver_changes(_waivers(head), _waivers(then), WAIVERS)


def _waivers(files: RepositoryFiles) -> tuple[Waiver, ...]:
    try:
        return load_waivers(files)
    except InvalidInput:  # of the base: those of the head were read before
        return ()


def _text(files: RepositoryFiles, path: str) -> str:
    return (files.read(path) or b"").decode("utf-8", "replace")
