"""Select the cases that a stranger's commit affects, and say which of them are not gradable.

A run reads texts of the commit and settings of the checkout. Both are git objects; a file is a
setting by its name, so that no name of the commit can be one. Nothing of the commit is run or
configures: its texts go to models and judges, a program gets what the checkout has for the case,
and each script, judge prompt and model of an evaluator is one of the checkout's.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from posixpath import basename, join, normpath
from typing import Final

from rubric_ci.errors import CannotConfigure, CannotFindEvals, CannotReadFile
from rubric_ci.evaluators.kind import takes_file
from rubric_ci.files.project.base_state import BaseSearch, BaseState
from rubric_ci.files.project.change import Change
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, HIDDEN, is_targets_file
from rubric_ci.files.project.links import named_paths
from rubric_ci.files.project.loaded_project import LoadedProject, load_names
from rubric_ci.files.project.project import Project
from rubric_ci.gate.policy.checkout import under_policy
from rubric_ci.gate.selection.affected_cases import Selection, is_asked_alike, matched
from rubric_ci.gate.selection.dependencies import ChangedPaths, changed, commands_of, prepared_from
from rubric_ci.grading.resolve import choose_target, lacks_target
from rubric_ci.system.git.snapshot import Proposal
from rubric_ci.text import escape
from rubric_ci.values.changes import Base
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    every_evaluator,
)
from rubric_ci.values.formats_and_defaults import CALIBRATION, LABELS, WAIVERS
from rubric_ci.values.references import IS_POINTER, LFS_POINTER, Found, Lookup, NotFound
from rubric_ci.values.results import NOT_GRADABLE
from rubric_ci.values.scope import UntrustedCaps
from rubric_ci.values.targets import Target
from rubric_ci.values.walk import canonical, facts

_SETTINGS: Final = frozenset((*CONFIG_NAMES, CALIBRATION, LABELS, WAIVERS))
_NOT_STARTED: Final = frozenset(("name", "type", "weight", "depends_on"))  # of a script
_IN_LFS: Final = "is in Git LFS, which is not fetched for an untrusted change"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedFiles:
    """Implements `RepositoryFiles` with a proposal."""

    proposal: Proposal
    named_config: str = ""

    @property
    def root(self) -> Path:
        return self.proposal.now.root

    def read(self, name: str) -> bytes | None:
        """Return a file's bytes, None if there is no such file; raises CannotReadFile for LFS."""
        data = (self.proposal.then if self._is_setting(name) else self.proposal.now).read(name)
        if data is not None and data.startswith(LFS_POINTER):
            raise CannotReadFile(f"{name} {_IN_LFS}")
        return data

    def lookup(self, name: str) -> Lookup:
        resolve = self.proposal.now.lookup(name)
        settings = self.proposal.then.lookup(name)

        def found(reference: str) -> Found | NotFound:
            known = resolve(reference)
            if isinstance(known, Found) and self._is_setting(known.path):
                known = settings(reference)
            if isinstance(known, NotFound) and known.reason == IS_POINTER:
                return NotFound(_IN_LFS)
            return known

        return found

    def matching(self, glob: str) -> Iterable[str]:
        return self.proposal.now.matching(glob)

    def _is_setting(self, name: str) -> bool:
        return name == self.named_config or is_setting(name)


def open_proposed(checkout: Project, change: Change, proposal: Proposal) -> Project:
    """Return the project of a stranger's commit under the configuration of the checkout.

    Raises CannotConfigure if the checkout has no configuration in git.
    """
    files = ProposedFiles(proposal=proposal, named_config=checkout.named_config)
    own = checkout.at(files)
    if not own.config_name:
        raise CannotConfigure(
            "--untrusted: the checkout has no configuration in git",
            "commit rubric-ci.yaml to the base branch: judge, targets and caps come from there",
        )
    return under_policy(own, change)


def load_proposed(
    project: Project, change: Change, proposal: Proposal, paths: Sequence[str]
) -> LoadedProject:
    names = list(BaseSearch(project, proposal.now).find(paths, lambda _: False))
    if not names:
        raise CannotFindEvals(
            f"{escape.commit(proposal.commit)} has no eval file", "pass paths of its eval files"
        )
    return load_names(project, {name: name for name in names}, change)


def with_configured(selection: Selection, loaded: LoadedProject, base: Base) -> Selection:
    chosen = {case.key for case, _ in selection.chosen}
    further = tuple(
        (case, why)
        for case in loaded.cases
        if case.key not in chosen and (why := _configured(case, loaded, base))
    )
    return replace(selection, chosen=(*selection.chosen, *further))


def with_reasons(
    selection: Selection, loaded: LoadedProject, base: Base, override: str
) -> Selection:
    found = dict(_reasons(selection, loaded, base, override))
    gradable = [case for case, _ in selection.chosen if case.key not in found]

    def prompt_of(case: EvalCase) -> str:
        config = loaded.config_for(case.file)
        return "".join(choose_target(case, config, override).request_texts)

    found |= within_caps(gradable, prompt_of, loaded.config.untrusted)
    reasons = {key: f"{NOT_GRADABLE}: {reason}" for key, reason in found.items()}
    return replace(selection, not_gradable=reasons)


def proposal_notes(proposal: Proposal) -> tuple[str, ...]:
    """Return the entry of a report for a stranger's commit."""
    commit, base = escape.commit(proposal.commit), escape.commit(proposal.base)
    notes = [f"Untrusted change: texts come from {commit}, everything else from {base}."]
    names = [each.path for each in proposal.changes if is_setting(each.path)]
    if names:
        notes.append(f"Not read, as configuration comes from the checkout: {changed(names)}.")
    return tuple(notes)


def _configured(case: EvalCase, loaded: LoadedProject, base: Base) -> str:
    """Return the settings of a case that the commit changes."""
    differing = loaded.change.at(base).difference.changed_paths
    return changed([name for name in loaded.project.candidates(case.file) if name in differing])


def _reasons(
    selection: Selection, loaded: LoadedProject, base: Base, override: str
) -> Iterator[tuple[CaseKey, str]]:
    state = loaded.at_base(base)
    trusted = TrustedWork(state.cases, paths_since(state, loaded.project))
    before: Mapping[CaseKey, EvalCase] = matched(loaded.cases, state.cases)
    for case, _ in selection.chosen:
        if edited := _configured(case, loaded, base):
            yield case.key, f"{edited}, and configuration comes from the checkout"
            continue
        config = loaded.config_for(case.file)
        if lacks_target(case, config, override):
            yield case.key, f"target `{case.target}` is not one of the checkout"
            continue
        target = choose_target(case, config, override)
        if why := trusted.why_not(case, before.get(case.key), target):
            yield case.key, why


def paths_since(state: BaseState, project: Project) -> ChangedPaths:
    """Return the paths that differ from a base, but eval files and configurations."""
    names = {name for file in state.files for name in project.candidates(file)}
    return ChangedPaths(sorted(state.difference.changed_paths), {*state.files, *names})


def is_setting(name: str) -> bool:
    """Return True for a file whose content configures a run."""
    known = basename(name) in _SETTINGS or is_targets_file(name)
    return known or HIDDEN in name.split("/")


class TrustedWork:
    """Programs, models and files of the cases of the checkout, and the paths of the change."""

    def __init__(self, cases: Collection[EvalCase], paths: ChangedPaths) -> None:
        self._paths = paths
        every = [spec for case in cases for spec in every_evaluator(case.evaluators)]
        self._scripts = {_script(each) for each in every if isinstance(each, CodeJudgeSpec)}
        self._prompts = {each.prompt for each in every if isinstance(each, LlmJudgeSpec)} | {""}
        self._models = {*map(_model, every), *(_user(case) for case in cases), ""}
        self._commands = {each.rule for spec in every for each in commands_of(spec)}
        self._workspaces = {*(case.workspace for case in cases), None}

    def why_not(self, case: EvalCase, was: EvalCase | None, target: Target) -> str:
        """Return why a case is not gradable; empty: it is. `was` is the case of the checkout."""
        same = was is not None and is_asked_alike(case, was)
        prepared = was is not None and same and case.metadata == was.metadata
        found = (
            *self._of_target(case, target, same),
            *self._of_workspace(case, prepared),
            *self._of_case(case, same),
        )
        return next(iter(found), "")

    def _of_target(self, case: EvalCase, target: Target, same: bool) -> Iterator[str]:
        name = f"target `{target.name}`"
        if target.reads:
            yield f"{name} starts another tool, which reads its own files"
        if target.answers and (hits := self._paths.at([target.answers])):
            yield f"{changed(hits)}, which has the answers of {name}"
        if not target.runs:
            return
        if target.always_selected:  # deployed: no file of the change is part of it
            target = replace(target, depends_on=())
        if why := self._paths.reason(case, target) or changed(self._paths.at(_folders(target))):
            yield f"{name} {target.runs}, and {why}"
        if not same:
            yield f"{name} {target.runs}, which gets no text of the change"

    def _of_workspace(self, case: EvalCase, same: bool) -> Iterator[str]:
        if case.workspace not in self._workspaces:
            yield "its `workspace` is not one of the checkout"
        elif case.workspace and (hits := self._paths.at(prepared_from(case.workspace))):
            yield f"{changed(hits)}, on which its `workspace` depends"
        elif case.workspace and case.workspace.hooks.every and not same:
            yield "its `workspace` has `hooks`, programs which get no text of the change"

    def _of_case(self, case: EvalCase, same: bool) -> Iterator[str]:
        for spec in every_evaluator(case.evaluators):
            if isinstance(spec, CodeJudgeSpec):
                yield from self._of_script(case, spec, same)
            if isinstance(spec, LlmJudgeSpec) and spec.prompt not in self._prompts:
                yield f"`{spec.name}` has a judge prompt that the checkout does not have"
            if (model := _model(spec)) not in self._models:
                yield f"`{spec.name}` asks the judge `{model}`, which the checkout does not ask"
            for each in commands_of(spec):
                if each.rule not in self._commands:
                    yield (
                        f"`{spec.name}` has a command that the checkout does not have: {each.rule}"
                    )
        if (model := _user(case)) not in self._models:
            yield f"its simulated user is `{model}`, which the checkout does not ask"

    def _of_script(self, case: EvalCase, spec: CodeJudgeSpec, same: bool) -> Iterator[str]:
        name = f"the script of `{spec.name}`"
        if _script(spec) not in self._scripts:
            yield f"{name} is not one of the checkout"
        globs = (*case.depends_on, *(spec.depends_on or ()))
        if hits := self._paths.at(named_paths(spec.script, spec.cwd), globs):
            yield f"{changed(hits)}, on which {name} depends"
        if takes_file(spec.script) and not same:
            yield f"{name} gets the answer as a file, which it may run"


def within_caps(
    gradable: Iterable[EvalCase], prompt_of: Callable[[EvalCase], str], caps: UntrustedCaps
) -> Mapping[tuple[str, str], str]:
    """Return why cases are not graded that are above a cap, by file and id."""
    reasons: dict[tuple[str, str], str] = {}
    cases, characters = 0, 0
    for case in gradable:
        size = len(canonical(facts(case))) + len(prompt_of(case))
        if cases >= caps.max_cases:
            reasons[case.key] = f"more than {caps.max_cases:,} cases (`untrusted.max_cases`)"
        elif characters + size > caps.max_characters:
            reasons[case.key] = (
                f"more than {caps.max_characters:,} characters (`untrusted.max_characters`)"
            )
        else:
            cases, characters = cases + 1, characters + size
    return reasons


def _folders(target: Target) -> Iterator[str]:
    """Yield the folders of the repository that a program works with."""
    yield from filter(None, [target.skill and target.skill.path])
    if target.workspace:
        yield from prepared_from(target.workspace)
    if check := target.healthcheck:
        yield from named_paths(check.command_template, check.cwd or target.cwd)


def _script(spec: CodeJudgeSpec) -> str:
    at_root = replace(spec, cwd=normpath(join("/", spec.cwd)))
    return canonical(facts(at_root, without=_NOT_STARTED))


def _model(spec: EvaluatorSpec) -> str:
    return spec.model if isinstance(spec, RubricSpec | LlmJudgeSpec) else ""


def _user(case: EvalCase) -> str:
    return case.simulated_user.model if case.simulated_user else ""
