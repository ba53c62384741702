"""Changes to the grading: head compared with the base, which is read from git's objects."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from operator import attrgetter
from posixpath import join, normpath
from typing import Final

from rubric_ci.errors import CannotConfigure, InvalidInput
from rubric_ci.files.project.base_state import BaseState
from rubric_ci.files.project.change import BaseCommit, Change, Difference
from rubric_ci.files.project.file_kinds import RepositoryFiles, sidecar_name
from rubric_ci.files.project.links import is_named
from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.files.project.project import Project
from rubric_ci.files.yaml_text.source import Source
from rubric_ci.gate.differences.case_changes import case_changes, of_case, removed_case
from rubric_ci.gate.differences.cases import Entry
from rubric_ci.gate.differences.config_changes import measures_of, setting_changes
from rubric_ci.gate.differences.effect_of_each_key import direction_of
from rubric_ci.gate.grading_changes.file_changes import (
    ScriptFiles,
    case_tests,
    edited_file,
    entry_changes,
    file_tests,
    ignored_entries,
    lines_of_file,
    measure_files,
    script_changes,
    tool_files,
    waiver_entries,
)
from rubric_ci.gate.policy.checkout import config_pairs
from rubric_ci.gate.selection.affected_cases import matched, removed_cases
from rubric_ci.gate.waivers.matching import load_waivers
from rubric_ci.grading.resolve import choose_target
from rubric_ci.text.globs import matcher
from rubric_ci.text.numbers import listed
from rubric_ci.values.changes import GradingChange, by_order
from rubric_ci.values.config import Config
from rubric_ci.values.evals import CodeJudgeSpec, EvalCase, EvalFile, every_evaluator
from rubric_ci.values.formats_and_defaults import CALIBRATION, LABELS, WAIVERS
from rubric_ci.values.problems import LocatedProblem, Path, list_at
from rubric_ci.values.targets import RunnerTarget, Target

TARGETS: Final = "targets."
SHARED: Final = "shared_rubrics."


def find_grading_changes(
    loaded: LoadedProject, asked_for: Callable[[EvalCase], bool] = lambda _: True
) -> tuple[GradingChange, ...]:
    """Return the changes since the base, weaker ones first; none without a base.

    `asked_for` is true for cases that the options of the run choose.

    Raises CannotConfigure where the gate must decide about changes that are not known.
    """
    base = loaded.change.grading
    if base is None:
        return ()
    state = loaded.at_base(base)
    for path, problem in state.unreadable.items():
        check_is_known(
            loaded.config,
            f"how the cases of {path} changed: {problem}",
            "change the file in a separate pull request, which someone merges after a review",
        )
    return ordered(_changes(loaded, loaded.change.at(base), state, asked_for))


def check_is_known(config: Config, why_not: str, hint: str) -> str:
    """Return as a note why the changes to a tool's tests are not known; "" if they are.

    Raises CannotConfigure where the gate must decide about them.
    """
    if not why_not:
        return ""
    gate = config.gate
    fails = gate.on_weaker_grading == "fail" or gate.on_changed_grading == "fail"
    if fails and gate.fail_on != "never":
        setting = "on_weaker_grading" if gate.on_weaker_grading == "fail" else "on_changed_grading"
        raise CannotConfigure(f"gate.{setting}: fail: it is not known {why_not}", hint)
    return f"It is not known {why_not}: {hint}."


def guess_notes(loaded: LoadedProject) -> tuple[str, ...]:
    """Return what is not known of the changes that `on_changed_grading: fail` is about."""
    specs = (spec for case in loaded.cases for spec in every_evaluator(case.evaluators))
    scripts = sorted({each.name for each in specs if isinstance(each, CodeJudgeSpec)})
    fails = loaded.config.gate.on_changed_grading == "fail" and loaded.change.grading
    if not (scripts and fails):
        return ()
    note = (
        f"What the scripts of {listed(scripts, 3)} read is known by the names in them and by their "
        "folders, in the root of the repository only by the code there; other files that they read "
        "are not among the changes to the grading."
    )
    return (note,)


def find_tool_changes(
    project: Project,
    change: Change,
    *,
    target: RunnerTarget | None = None,
    settings: Sequence[str] = (),
    tracked: Sequence[str] = (),
) -> tuple[GradingChange, ...]:
    """Return the changes of the configuration and of files since the base; none without one.

    `settings` are globs of the files that the tool reads unnamed; `tracked` are files of results
    that git has.
    """
    if change.grading is None:
        return ()
    commit = change.at(change.grading)
    own, was = project.own, project.at(commit.files)
    now, then = own.policy_for("any"), was.policy_for("any")
    settled = setting_changes(now, then, partial(place_of, own)) if was.config_name else ()
    changed = commit.difference.changed_paths
    results = {*tracked} & changed
    found = [
        *settled,
        *_entry_changes([now], own.files, commit),
        *(edited_file("results", path) for path in sorted(results)),
    ]
    if target:
        names = {*commit.difference.entries, *changed}
        unnamed = matcher([normpath(join(target.cwd, glob)) for glob in settings])
        files = ScriptFiles(names, own.files.read)
        found += tool_files(target, filter(unnamed, names), files, changed - {*tracked})
    return ordered(found)


def ordered(changes: Iterable[GradingChange]) -> tuple[GradingChange, ...]:
    """Return each change once, weaker ones first."""
    return tuple(sorted(dict.fromkeys(changes), key=by_order))


def _changes(
    loaded: LoadedProject, base: BaseCommit, state: BaseState, asked_for: Callable[[EvalCase], bool]
) -> Iterator[GradingChange]:
    own, was = loaded.project.own, state.project.own
    before = matched(loaded.cases, state.cases)
    pairs = [(case, before[key]) for case in loaded.cases if (key := case.key) in before]
    configs = config_pairs(loaded, was)
    known = [case for case in loaded.cases if case.file not in state.unreadable]
    yield from case_changes(known, before, configs[0][1], asked_for)
    if was.config_name:
        places = partial(place_of, own)
        found = chain(*(setting_changes(now, then, places) for now, then in configs))
        in_cases = loaded.project.policy is None  # else theirs are the base's on both sides
        yield from (each for each in found if not (in_cases and each.about.startswith(SHARED)))
        yield from target_changes(pairs, own.policy_for, was.policy_for)
    yield from _removed(loaded, removed_cases(state.cases, before))
    for path, problem in state.unreadable.items():
        yield edited_file("case", path, f"not known: {problem}", "edited or removed")
    yield from _scripts(loaded, own, configs, base.difference)
    yield from _entry_changes(
        [now for now, _ in configs],
        own.files,
        base,
        loaded.files,
        [(c, was) for c, was in pairs if c is not was and c.file not in state.unreadable],
    )


def _removed(loaded: LoadedProject, cases: Sequence[EvalCase]) -> Iterator[GradingChange]:
    """Yield the cases of the base that are not graded any more, with the reason."""
    globs = loaded.project.summary.globs
    matches = matcher(globs)
    known = {*loaded.found, *(case.file for case in loaded.cases)}  # also tables of a suite
    for file, group in groupby(cases, key=attrgetter("file")):
        if file in known or not (loaded.root / file).exists():
            reason = ""
        elif globs and not matches(file):
            reason = "no longer matched by `evals`"
        else:
            reason = "no longer found as an eval file"
        yield from (removed_case(case, reason) for case in group)


def target_changes(
    pairs: Sequence[tuple[EvalCase, EvalCase]],
    head: Callable[[str], Config],
    base: Callable[[str], Config],
) -> Iterator[GradingChange]:
    """Yield one change per eval file and pair of targets; `pairs` are a case here and then."""
    moved = defaultdict[tuple[str, ...], list[tuple[EvalCase, str, Target, Target]]](list)
    for case, was in pairs:
        after, before = target_of(case, head), target_of(was, base)
        if after and before and after.name != before.name:
            moved[case.file, before.name, after.name].append((case, was.file, before, after))
    for found in moved.values():
        case, file, before, after = found[0]
        deciding = base(file).gate.targets
        leaves = before.name in deciding and after.name not in deciding
        about = listed([each.id for each, *_ in found], 1)
        yield of_case(
            case,
            "target",
            "weaker" if leaves else direction_of(before, after),
            about,
            f"{before.name} ({before.source})",
            f"{after.name} ({after.source})",
        )


def target_of(case: EvalCase, config: Callable[[str], Config]) -> Target | None:
    try:
        return choose_target(case, config(case.file))
    except CannotConfigure:  # of the head: the run has reported it
        return None


def _scripts(
    loaded: LoadedProject,
    own: Project,
    configs: Sequence[tuple[Config, Config]],
    difference: Difference,
) -> Iterator[GradingChange]:
    """Yield the changed files of scripts, and of the targets that must be exceeded."""
    changed = difference.changed_paths
    files = ScriptFiles({*difference.entries, *changed}, own.files.read, difference.links)
    answered = [(case, target_of(case, own.policy_for)) for case in loaded.cases]
    others = {file.path for file in loaded.files} | {own.config_name, LABELS, CALIBRATION, WAIVERS}
    others |= {name for case in loaded.cases for name in (case.file, *case.references)}
    others |= {name for file in loaded.files for name in loaded.project.candidates(file.path)}
    others |= {sidecar_name(file.path) for file in loaded.files}
    recorded = {target.answers for _, target in answered if target and target.answers}
    yield from script_changes(answered, files, changed, others | recorded)
    for now, then in configs:
        for name in measures_of(now, then) & now.targets.keys():
            yield from measure_files(now.targets[name], files, changed)


def _entry_changes(
    configs: Sequence[Config],
    head: RepositoryFiles,
    base: BaseCommit,
    files: Sequence[EvalFile] = (),
    cases: Sequence[tuple[EvalCase, EvalCase]] = (),
) -> Iterator[GradingChange]:
    """Yield the changes of recordings, labels, calibration, waivers, comments and tests."""
    may_differ, sides = base.difference.may_have_changed, (base.files, head)
    targets = [target for config in configs for target in config.targets.values()]
    recordings = sorted({target.answers for target in targets if target.answers})
    evals = (name for file in files for name in (file.path, sidecar_name(file.path)))
    rubrics = sorted({name for file in files for name in file.rubric_files})
    paths = {
        "rule": [*filter(may_differ, evals)],
        "test": [p for p in filter(may_differ, rubrics) if all(_text(each, p) for each in sides)],
        "recording": [*filter(may_differ, recordings)],
        "labels": [LABELS],
        "calibration": [CALIBRATION],
    }
    then, now = ({**_entries(each, paths), "waiver": _waivers(each)} for each in sides)
    for case, was in cases:
        then["test"] |= case_tests(was, case.key)
        now["test"] |= case_tests(case, case.key)
    yield from entry_changes(then, now)
    for picture in sorted(base.difference.pictures):
        texts = (_text(side, path) for side in sides for path in recordings)
        if any(is_named(picture, text) for text in texts):
            yield edited_file("recording", picture)


def _entries(
    files: RepositoryFiles, paths: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, Entry]]:
    readers = {"rule": ignored_entries, "test": file_tests}
    return {
        name: {
            key: entry
            for path in each
            for key, entry in readers.get(name, lines_of_file)(path, _text(files, path)).items()
        }
        for name, each in paths.items()
    }


def _waivers(files: RepositoryFiles) -> dict[str, Entry]:
    try:
        return waiver_entries(load_waivers(files))
    except InvalidInput:  # of the base: the head was read before
        return {}


def _text(files: RepositoryFiles, path: str) -> str:
    return (files.read(path) or b"").decode("utf-8", "replace")


def place_of(project: Project, key: str) -> tuple[str, int]:
    """Return file and line of a setting, else of the nearest key above it."""
    served = {file: project.opened(file) for file in project.serving("")}
    documents = {
        file: each for file, each in served.items() if each and not isinstance(each, LocatedProblem)
    }
    if key.startswith(TARGETS):
        for file, document in documents.items():
            if path := _of_target(document, key.removeprefix(TARGETS)):
                return file, document.locate(path, at_key=True)[0]
    if project.config_name in documents:
        document = documents[project.config_name]
        path = _existing(document, tuple(key.split(".")))
        return project.config_name, document.locate(path, at_key=True)[0]
    return project.named_config or "rubric-ci.yaml", 1


def _of_target(document: Source, key: str) -> Path:
    for index, target in enumerate(list_at(document.data, "targets")):
        name = target.get("name") if isinstance(target, dict) else None
        if key == name:
            return "targets", index, "name"
        if isinstance(name, str) and key.startswith(f"{name}."):
            setting = key.removeprefix(f"{name}.").partition(".")[0]
            return "targets", index, setting if setting in target else "name"
    return ()


def _existing(document: Source, path: tuple[str, ...]) -> Path:
    data, found = document.data, []
    for step in path:
        if not isinstance(data, dict) or step not in data:
            break
        data = data[step]
        found.append(step)
    return tuple(found)
