"""Why a case of a stranger's commit is not graded: nothing of the commit is run or configures.

Texts of the commit go to models and judges. A program gets what the checkout has for the case, and
each script, judge prompt and model of an evaluator is one of the checkout's.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from posixpath import join, normpath

from rubric_ci.evaluators.kind import takes_file
from rubric_ci.files.project.links import named_paths
from rubric_ci.gate.selection.dependencies import ChangedPaths, changed
from rubric_ci.gate.selection.fingerprint import is_asked_alike
from rubric_ci.values.config import Target
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    every_evaluator,
)
from rubric_ci.values.results import NOT_GRADABLE
from rubric_ci.values.scope import UntrustedCaps
from rubric_ci.values.walk import canonical, facts
from rubric_ci.values.workspace_settings import Workspace


class TrustedWork:
    """Programs, models and files of the cases of the checkout, and the paths of the change."""

    def __init__(self, cases: Collection[EvalCase], paths: ChangedPaths) -> None:
        self._paths = paths
        every = [spec for case in cases for spec in _every(case)]
        self._scripts = {_script(each) for each in every if isinstance(each, CodeJudgeSpec)}
        self._prompts = {each.prompt for each in every if isinstance(each, LlmJudgeSpec)} | {""}
        self._models = {*map(_model, every), *(_user(case) for case in cases), ""}
        self._commands = {rule for spec in every for rule in _commands(spec)}
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
        elif case.workspace and (hits := self._paths.at(_prepared_from(case.workspace))):
            yield f"{changed(hits)}, on which its `workspace` depends"
        elif case.workspace and case.workspace.hooks.every and not same:
            yield "its `workspace` has `hooks`, programs which get no text of the change"

    def _of_case(self, case: EvalCase, same: bool) -> Iterator[str]:
        for spec in _every(case):
            if isinstance(spec, CodeJudgeSpec):
                yield from self._of_script(case, spec, same)
            if isinstance(spec, LlmJudgeSpec) and spec.prompt not in self._prompts:
                yield f"`{spec.name}` has a judge prompt that the checkout does not have"
            if (model := _model(spec)) not in self._models:
                yield f"`{spec.name}` asks the judge `{model}`, which the checkout does not ask"
            for rule in _commands(spec):
                if rule not in self._commands:
                    yield f"`{spec.name}` has a command that the checkout does not have: {rule}"
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


def not_gradable(reason: str) -> str:
    """Return the reason of a skipped case."""
    return f"{NOT_GRADABLE}: {reason}"


def _folders(target: Target) -> Iterator[str]:
    """Yield the folders of the repository that a program works with."""
    yield from filter(None, [target.skill and target.skill.path])
    if target.workspace:
        yield from _prepared_from(target.workspace)
    check = target.healthcheck or {}
    yield from named_paths(str(check.get("command", "")), str(check.get("cwd", target.cwd)))


def _prepared_from(workspace: Workspace) -> Iterator[str]:
    """Yield the folder that a workspace copies, and the files that its commands name."""
    yield from filter(None, [workspace.copy, *(source.path for source in workspace.sources)])
    yield from named_paths(workspace.setup, workspace.copy)
    for hook in workspace.hooks.every:
        yield from named_paths(hook.command, hook.cwd)


def _every(case: EvalCase) -> Iterator[EvaluatorSpec]:
    return every_evaluator(case.evaluators)


def _script(spec: CodeJudgeSpec) -> str:
    """Return all that a script is started with."""
    facts = (spec.script, normpath(join("/", spec.cwd)), spec.timeout_seconds, spec.env)
    return repr((*facts, sorted(spec.config.items()), spec.score_from, spec.container))


def _model(spec: EvaluatorSpec) -> str:
    return spec.model if isinstance(spec, RubricSpec | LlmJudgeSpec) else ""


def _user(case: EvalCase) -> str:
    return case.simulated_user.model if case.simulated_user else ""


def _commands(spec: EvaluatorSpec) -> Iterator[str]:
    """Yield the commands that a rubric runs in the workspace."""
    assertions = spec.rubric.assertions if isinstance(spec, RubricSpec) else ()
    yield from (each.rule for each in assertions if each.key == "command")
