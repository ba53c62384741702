"""Select the cases that a change affects: compare the working tree with git's objects."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from os.path import realpath
from pathlib import Path

from rubric_ci.errors import CannotConfigure, CannotFindEvals, CannotReadFile, CannotUseGit
from rubric_ci.files.project import eval_search, working_tree
from rubric_ci.files.project.base_state import BaseState
from rubric_ci.files.project.change import BaseOptions, Change, Difference
from rubric_ci.files.project.loaded_project import (
    LoadedProject,
    check_whole,
    find_evals,
    load_evals,
    open_project,
)
from rubric_ci.files.project.near_files import GlobsOfFiles
from rubric_ci.files.project.project import Project
from rubric_ci.gate.policy.checkout import policy_notes, under_policy
from rubric_ci.gate.selection.affected_cases import (
    Revision,
    Selection,
    Setup,
    changed_only,
    place,
    select,
    select_all,
)
from rubric_ci.gate.selection.prefilter import find_unconcerned
from rubric_ci.gate.selection.proposed_cases import (
    load_proposed,
    open_proposed,
    paths_since,
    proposal_notes,
    with_configured,
    with_reasons,
)
from rubric_ci.grading.case_choice import at_places, choose_cases
from rubric_ci.grading.resolve import choose_judge, choose_target, lacks_target
from rubric_ci.system.git.snapshot import Proposal
from rubric_ci.system.repository import is_empty
from rubric_ci.text import escape
from rubric_ci.text.globs import TooManyComparisons
from rubric_ci.values.changes import SUBMODULE, Base
from rubric_ci.values.command_settings import Models, ReportOptions, SelectOptions
from rubric_ci.values.config import Config
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.scope import CasePlace, Narrowing, Scope
from rubric_ci.values.targets import MockTarget


def open_selected(
    options: SelectOptions, models: Models, report: ReportOptions
) -> tuple[LoadedProject, Selection]:
    """Load the eval files, and choose the cases that are asked for and that a change affects."""
    project, change = open_with_change(options, models, report.output_dir)
    if change.proposal:
        return _select_proposed(project, change, change.proposal, options, models)
    paths = find_evals(project, options.paths)
    if report.baseline:
        with suppress(CannotUseGit):  # without git, no checkout is sparse
            check_whole(change, project, {*map(project.name_of, paths)})
    loaded, selection = _select(project, paths, change, options, models)
    selection = replace(
        selection, scope=_of_suite(selection.scope, loaded, paths, part=bool(options.paths))
    )
    names = map(project.name_of, paths)
    notes = (*policy_notes(loaded), *selection.notes, *dependency_notes(loaded, names))
    others = eval_search.left_aside(options.paths, project.summary.globs, paths)
    return loaded, replace(selection, notes=(*notes, *([others] if others else [])))


def open_with_change(
    options: SelectOptions, models: Models, output_dir: Path
) -> tuple[Project, Change]:
    """Return the checkout under its policy, and what it is compared with; reads no eval file."""
    given = models.targets or tuple(filter(None, [models.target]))
    checkout = open_project(options.config, given)
    base = BaseOptions(
        policy_from=options.policy_from,
        changed_since=options.changed_since,
        against=options.against,
        outputs=working_tree.from_root(output_dir, checkout.root),
        paths=options.paths,
        untrusted=options.untrusted,
    )
    change = Change(checkout.root, base)
    if change.proposal:
        return open_proposed(checkout, change, change.proposal), change
    return under_policy(checkout, change), change


def _select_proposed(
    project: Project, change: Change, proposal: Proposal, options: SelectOptions, models: Models
) -> tuple[LoadedProject, Selection]:
    loaded = load_proposed(project, change, proposal, options.paths)
    base = Base(commit=proposal.base, origin="the checkout")
    selection = with_configured(choose_changed(loaded, base, models), loaded, base)
    selection = _asked_for(selection, loaded, options)
    unread: list[Narrowing] = ["invalid"] * bool(loaded.invalid)
    scope = selection.scope.narrowed(*unread)
    selection = with_reasons(replace(selection, scope=scope), loaded, base, models.target)
    notes = (*proposal_notes(proposal), *policy_notes(loaded), *selection.notes)
    return loaded, replace(selection, notes=notes)


def _select(
    project: Project, paths: Sequence[Path], change: Change, options: SelectOptions, models: Models
) -> tuple[LoadedProject, Selection]:
    base = change.selection
    if not isinstance(base, Base):
        loaded = load_evals(project, paths, change)
        selection = select_all(loaded.cases, base.reason if base else "")
        return loaded, _asked_for(selection, loaded, options)
    unread = find_unconcerned(project, paths, change.at(base).difference, options, models)
    loaded = load_evals(project, [path for path in paths if path not in unread], change)
    loaded = replace(loaded, unread=tuple(map(project.name_of, unread)))
    selection = choose_changed(loaded, base, models)
    compared = f"{base.origin} ({escape.commit(base.commit)})"
    suite = Scope(suite=len(loaded.cases) + sum(unread.values()), base=compared)
    selection = replace(selection, scope=changed_only(suite, len(selection.chosen)))
    return loaded, _asked_for(selection, loaded, options)


def choose_changed(now: LoadedProject, base: Base, models: Models) -> Selection:
    before = now.change.at(base)
    state = now.at_base(base)
    head = _head(now, before.difference, models)
    then = Revision(
        cases=state.cases,
        setups={
            place(case): _base_setup(case, state, models) for case in _one_a_place(state.cases)
        },
        answers={path: before.files.text(path) or "" for path in head.answers},
        unreadable=state.unreadable,
    )
    selection = select(head, then, paths_since(state, now.project))
    return replace(selection, notes=(*selection.notes, *_unseen(now.root, before.difference)))


def _unseen(root: Path, difference: Difference) -> Iterator[str]:
    for change in difference.changes:
        if change.new_mode == SUBMODULE and is_empty(root / change.path):
            yield (
                f"The submodule `{change.path}` moved and is not checked out, so its eval files "
                "are not read: run `git submodule update --init`."
            )


def _asked_for(selection: Selection, loaded: LoadedProject, options: SelectOptions) -> Selection:
    every = loaded.cases
    _check_lines(loaded, options.places)
    placed = at_places(
        _of_paths(loaded, options.paths),
        options.places,
        name=lambda file: working_tree.from_root(Path(file), loaded.root),
        suites={each.file: file.path for file in loaded.files for each in file.cases},
    )
    named = choose_cases(placed, ids=options.cases, tags=())
    tagged = choose_cases(every, ids=(), tags=options.tags)
    dropped: list[Narrowing] = ["case"] * (len(named) < len(every))
    dropped += ["tag"] * (len(tagged) < len(every))
    keys = {case.key for case in named} & {case.key for case in tagged}
    chosen = tuple((case, why) for case, why in selection.chosen if case.key in keys)
    return replace(selection, chosen=chosen, scope=selection.scope.narrowed(*dropped))


def _check_lines(loaded: LoadedProject, places: Sequence[CasePlace]) -> None:
    """Raise CannotFindEvals for FILE:LINE after the last line of the file."""
    for named in places:
        data = loaded.project.files.read(working_tree.from_root(Path(named.file), loaded.root))
        lines = len((data or b"").splitlines())
        if named.line > lines > 0:
            raise CannotFindEvals(
                f"{named}: there is no such line", f"the file has {lines:,} lines"
            )


def _of_paths(loaded: LoadedProject, paths: Sequence[str]) -> Sequence[EvalCase]:
    """Return the cases; of a suite that is meant by its files of cases, theirs."""
    if not (paths and any(file.in_files for file in loaded.files)):
        return loaded.cases
    name = loaded.project.name_of
    asked = eval_search.named_files(loaded.project, paths)
    owned = eval_search.files_of_cases(loaded.project, asked)
    meant = {*map(name, owned.values())} - {*map(name, asked)}
    return [
        case
        for file in loaded.files
        for case in file.cases
        if file.path not in meant or case.file in owned
    ]


def _of_suite(scope: Scope, loaded: LoadedProject, paths: Sequence[Path], *, part: bool) -> Scope:
    """Return the scope as the part of the whole suite; its size is unknown if files are unread."""
    unread: list[Narrowing] = ["invalid"] * bool(loaded.invalid)
    if part and _leave_out(paths, loaded.project):
        unread.append("paths")
    return replace(scope, suite=None).narrowed(*unread) if unread else scope


def _leave_out(paths: Sequence[Path], project: Project) -> bool:
    try:
        others = {*eval_search.find_evals(project, ())} - {*paths}
    except CannotFindEvals:
        return False
    return bool(others) and not {*map(realpath, others)} <= {*map(realpath, paths)}


def _head(now: LoadedProject, difference: Difference, models: Models) -> Revision:
    cases = now.cases
    setups = {
        place(case): _head_setup(
            case, now.config_for(case.file), models, is_proposed=bool(now.change.proposal)
        )
        for case in _one_a_place(cases)
    }
    recordings = {setup.target.answers for setup in setups.values() if setup.target.answers}
    pictures = difference.pictures
    differing = [
        path for path in sorted(recordings) if pictures or difference.may_have_changed(path)
    ]
    return Revision(
        cases=cases,
        setups=setups,
        answers={path: _recorded(path, now) for path in differing},
        pictures=pictures,
    )


def _head_setup(case: EvalCase, config: Config, models: Models, *, is_proposed: bool) -> Setup:
    """Return target and judge; a stranger's case may name a target of theirs, which is not asked.

    Raises CannotConfigure for another case without a target.
    """
    if is_proposed and lacks_target(case, config, models.target):
        theirs = MockTarget(name=case.target, response="")
        config = replace(config, targets={**config.targets, case.target: theirs})
    return _setup(case, config, models)


def _setup(case: EvalCase, config: Config, models: Models) -> Setup:
    target = choose_target(case, config, models.target)
    return Setup(
        target=target,
        judge=choose_judge(config, target, models.judge),
        thresholds=config.gate.thresholds,
    )


def _base_setup(case: EvalCase, state: BaseState, models: Models) -> Setup | str:
    if problem := state.config_problem(case.file):
        return problem
    try:
        return _setup(case, state.project.config_for(case.file), models)
    except CannotConfigure:
        return "its target is new"


def _one_a_place(cases: Iterable[EvalCase]) -> Iterable[EvalCase]:
    """Return one case for each place: the others run with the same."""
    return {place(case): case for case in cases}.values()


def _recorded(name: str, now: LoadedProject) -> str:
    """Return recorded answers; empty if they cannot be read: then each of their cases runs.

    A stranger's recordings are not read, and the checkout's are not a change.
    """
    if now.change.proposal:
        return ""
    try:
        return working_tree.read_text(now.root / name, now.root)
    except CannotReadFile:
        return ""


def dependency_notes(loaded: LoadedProject, eval_files: Iterable[str]) -> Iterator[str]:
    """Yield a note for each glob that matches no file, so that no change to it runs a case.

    `eval_files` are all that were found: not all of them need be loaded.
    """
    owners: dict[str, str] = {}
    for glob, owner in _globs(loaded, eval_files):
        owners.setdefault(glob, owner)
    files = GlobsOfFiles(loaded.root)
    for glob, owner in owners.items():
        try:
            hint = files.nearest(glob)
        except TooManyComparisons as error:
            yield f"Not every glob under `depends_on` is looked up: {error}."
            return
        if hint is not None:
            yield f"No file matches `{glob}` under `depends_on` of {owner}: {hint}"


def _globs(loaded: LoadedProject, eval_files: Iterable[str]) -> Iterator[tuple[str, str]]:
    for file in loaded.files:
        for case in file.cases:
            yield from ((glob, f"`{file.path}`") for glob in case.depends_on)
    for name in eval_files:
        for target in loaded.config_for(name).targets.values():
            yield from ((glob, f"target `{target.name}`") for glob in target.depends_on or ())
