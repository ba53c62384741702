"""Find the eval files that a change cannot affect, so that they need not be parsed.

Parsing ten thousand cases takes seconds; a search of their text for the names of changed files
does not. A file that is left out is unchanged; every other file is compared case by case.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from rubric_ci.errors import CannotReadFile
from rubric_ci.files.project import discovery
from rubric_ci.files.project.difference import Difference
from rubric_ci.files.project.file_kinds import sidecar_name
from rubric_ci.files.project.project import Project
from rubric_ci.files.yaml_text.outline import count_cases, may_mention
from rubric_ci.gate.selection.dependencies import ChangedPaths
from rubric_ci.grading.resolve import default_target
from rubric_ci.values.command_settings import RunSettings
from rubric_ci.values.config import RecordedTarget, Target
from rubric_ci.values.option_values import CALIBRATION


def find_unconcerned(
    project: Project, found: Sequence[Path], difference: Difference, settings: RunSettings
) -> Mapping[Path, int]:
    """Return the files that need not be read, and how many cases each holds."""
    if settings.targets or settings.cases or settings.tags or settings.keyword or settings.places:
        return {}
    names = {path: project.name_of(path) for path in found}
    configured = {name for file in names.values() for name in project.candidates(file)}
    if difference.links_changed or difference.may_be_rewritten:
        return {}
    if project.shared.files:
        return {}  # a rubric file, which names further files, gives criteria to every eval file
    if project.config_for("").auto_mode:
        configured.add(CALIBRATION)
    if any(map(difference.may_have_changed, configured)):
        return {}
    compared = {*configured, *names.values(), *map(sidecar_name, names.values())}
    changed = ChangedPaths(sorted(difference.changed_paths), compared)
    concerned = cache(partial(_concerned, project, difference, changed, settings.target))
    same = [path for path, name in names.items() if _is_same(path, name, difference)]
    texts = {path: text for path in same if (text := _text(path, project.root)) is not None}
    counts = {
        path: count_cases(names[path], text)
        for path, text in texts.items()
        if not concerned(project.targets_files(names[path]))(text + _suite(path, project.root))
    }
    return {path: count for path, count in counts.items() if count}


def _concerned(
    project: Project,
    difference: Difference,
    changed: ChangedPaths,
    override: str,
    targets_files: tuple[str, ...],
) -> Callable[[str], bool]:
    """Return a predicate that is true for an eval file that the change may affect."""
    config = project.config_with(targets_files)
    touched = {
        target.name
        for target in config.targets.values()
        if changed.concerns(target) or _answers_differ(target, difference)
    }
    if (override or default_target(config)) in touched:
        return lambda _: True
    return may_mention(difference.names | (set() if override else touched))


def _answers_differ(target: Target, difference: Difference) -> bool:
    if not isinstance(target, RecordedTarget):
        return False
    return bool(difference.pictures) or difference.may_have_changed(target.answers)


def _is_same(path: Path, name: str, difference: Difference) -> bool:
    used = [name, *([sidecar_name(name)] if discovery.sidecar_of(path) else [])]
    return all(each in difference.entries and each not in difference.changed for each in used)


def _suite(path: Path, root: Path) -> str:
    """Return the text of a JSON Lines file's sidecar."""
    sidecar = discovery.sidecar_of(path)
    return (_text(sidecar, root) or "") if sidecar else ""


def _text(path: Path, root: Path) -> str | None:
    try:
        return discovery.read_text(path, root)
    except CannotReadFile:
        return None  # it is read later, and its problem reported
