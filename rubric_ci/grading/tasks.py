"""Tasks: each case with its target and its judge, environment variables resolved."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from posixpath import dirname, normpath
from types import MappingProxyType
from typing import Final, TypeAlias

from rubric_ci.errors import CannotConfigure, MissingVariable
from rubric_ci.evaluators.judge_choice import judge_of
from rubric_ci.files.parsing.env_vars import Variables
from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.grading.resolve import (
    Task,
    choose_cluster,
    choose_judge,
    choose_target,
    judges_of,
    name_judge,
    name_own_models,
    name_target,
    needs_judge,
    resolve_judge,
    resolve_target,
    without_aliases,
    without_own_judges,
)
from rubric_ci.models.llm.client import batches
from rubric_ci.values.command_settings import Models, RequestOptions
from rubric_ci.values.config import Config, JudgeConfig
from rubric_ci.values.evals import EvalCase, EvaluatorSpec, RubricSpec, asks_judge, every_evaluator
from rubric_ci.values.messages import FilePart
from rubric_ci.values.rubric import Assertion
from rubric_ci.values.targets import Endpoint, MockTarget, Target, UnsupportedTarget
from rubric_ci.values.waivers import WaiverResult
from rubric_ci.values.workspace_settings import Skill

_ABOUT_FILES: Final = re.compile(
    r"\b(?:files?|folders?|director(?:y|ies))\b|\b[\w-]+\.[a-z][a-z0-9]{1,4}\b", re.IGNORECASE
)


def build_tasks(
    chosen: Sequence[tuple[EvalCase, str]],
    loaded: LoadedProject,
    models: Models,
    requests: RequestOptions,
    reasons: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> tuple[Task, ...]:
    """Return a task per case; raises UserError if a target, judge or variable is missing.

    `reasons` are why cases are skipped, by file and id.
    """
    known: Setups = {}
    for file in loaded.files:
        gate = loaded.config_for(file.path).gate
        graded = [case for case in file.cases if case.key not in reasons]
        _check_gate(graded, "targets", gate.targets)
        _check_gate(graded, "better_than", tuple(filter(None, [gate.better_than])))
    tasks = tuple(
        not_graded(case, why, reasons[case.key])
        if case.key in reasons
        else build_task(case, why, loaded, models, requests, known)
        for case, why in chosen
    )
    if not (requests.list_only or requests.offline):
        check_judges(tasks)
    if requests.batch and requests.live:
        for endpoint in _models(tasks):
            batches().check(endpoint)
    return tasks


def check_judges(tasks: Sequence[Task]) -> None:
    """Raise NoJudge before any answer is asked for that no judge would mark."""
    answered = (
        task
        for task in tasks
        if not (task.not_graded or task.case.stopped or not task.target.can_answer)
    )
    for task in answered:
        for spec in filter(asks_judge, every_evaluator(task.case.evaluators)):
            judge_of(spec, task.judge)
        if task.case.simulated_user and not task.target.answers:
            judge_of(task.case.simulated_user, task.judge)


def not_graded(case: EvalCase, why: str, reason: str) -> Task:
    """Return the task of a case that is skipped for a reason; nothing is started or asked."""
    nothing = replace(case, evaluators=(), workspace=None)
    return Task(case=nothing, target=MockTarget(name="", response=""), why=why, not_graded=reason)


def _check_gate(cases: Sequence[EvalCase], key: str, gating: Sequence[str]) -> None:
    """Raise CannotConfigure for a case of several targets that the gate would not be about."""
    by_case: dict[tuple[str, str], set[str]] = defaultdict(set)
    for case in cases:
        if gating and case.written_id:
            by_case[case.file, case.written_id].add(case.target)
    for (file, name), targets in by_case.items():
        if targets.isdisjoint(gating):
            listed = ", ".join(f"`{target}`" for target in gating)
            raise CannotConfigure(
                f"{file}: case `{name}`: `gate.{key}` is {listed}, and none of them answers",
                f"add one of them to the targets that are compared, or change `gate.{key}`",
            )


def with_waivers(tasks: Sequence[Task], waivers: Sequence[WaiverResult]) -> tuple[Task, ...]:
    """Return the tasks with the criteria whose waivers are in force."""
    waived: dict[tuple[str, str], set[str]] = defaultdict(set)
    for waiver in waivers:
        if waiver.state == "not-run":
            waived[waiver.file, waiver.case].add(waiver.criterion)
    if not waived:
        return tuple(tasks)
    return tuple(replace(task, waived=frozenset(waived[task.case.key])) for task in tasks)


Setups: TypeAlias = dict[tuple[str, str, bool], tuple[Target, JudgeConfig | None]]


"""Target and judge by their key: a folder, the target that a case names, a need."""


def build_task(
    case: EvalCase,
    why: str,
    loaded: LoadedProject,
    models: Models,
    requests: RequestOptions,
    known: Setups | None = None,
    target: Target | None = None,
) -> Task:
    """Return the task of a case; raises UserError if its target, judge or variable is missing.

    `known` holds the targets and judges of the project that were resolved before. `target` answers
    in place of the one that the configuration gives the case.
    """
    config = loaded.config_for(case.file)
    variables = loaded.variables(os.environ, case.file)
    own = without_own_judges(case) if models.judge else case
    setups = {} if known is None else known
    setup = partial(_setup, config=config, models=models, requests=requests, variables=variables)
    place = dirname(case.file), case.target, _asks_judge(own)
    if target is None and place not in setups:
        chosen = choose_target(own, config, models.target)
        setups[place] = setup(own, chosen)
    answering, judge = setups[place] if target is None else setup(own, target)
    if _names_models(own):
        with _without_keys(requests):
            own = name_own_models(own, answering, variables)
    others = [config.targets.get(name) for name in models.targets or config.compare]
    answering = unless_stopped(own, without_the_skill(own, answering, others))
    own = with_files_seen(own, answering)
    cluster = choose_cluster(case, config.regression.cluster)
    return Task(case=own, target=answering, judge=judge, why=why, cluster=cluster)


def _asks_judge(case: EvalCase) -> bool:
    """Return True if a judge marks the case or, as is the default, plays its user."""
    return needs_judge(case) or case.simulated_user is not None


def _names_models(case: EvalCase) -> bool:
    user = case.simulated_user
    named = (spec.model for spec in every_evaluator(case.evaluators) if asks_judge(spec))
    return bool(user and user.model) or any(named)


def _setup(
    case: EvalCase,
    target: Target,
    *,
    config: Config,
    models: Models,
    requests: RequestOptions,
    variables: Variables,
) -> tuple[Target, JudgeConfig | None]:
    """Return target and judge of a case, with the environment variables that are needed."""
    with _without_keys(requests):
        target = without_aliases(target, config, variables)
    judge = choose_judge(config, target, models.judge)
    if judge and models.votes:
        judge = replace(judge, votes=models.votes)
    with _without_keys(requests):
        asked = judge if _asks_judge(case) else None
        named, named_judge = name_target(target, variables), asked and name_judge(asked, variables)
        if requests.replay:  # a recording needs no secrets, but it has names of models
            return named, named_judge or judge
        asked = named_judge and resolve_judge(named_judge, variables)
        return resolve_target(named, variables), asked or judge
    return target, judge


@contextmanager
def _without_keys(requests: RequestOptions) -> Iterator[None]:
    """Leave names as they are if a variable is missing and no request is sent."""
    try:
        yield
    except MissingVariable:
        if requests.replay or not (requests.offline or requests.list_only):
            raise


def _models(tasks: Sequence[Task]) -> Iterator[Endpoint]:
    for task in tasks:
        if task.target.endpoint and task.case.evaluators:
            yield task.target.endpoint
        for judge, _ in judges_of(task.case, task.judge):
            yield from judge.endpoints


def without_the_skill(case: EvalCase, target: Target, compared: Iterable[Target | None]) -> Target:
    """Return the target, or why it is not asked: what it gets holds the skill it is to lack.

    That concerns cases that several targets answer, of which another one has a skill.
    """
    if not case.written_id or not target.is_asked or target.skill:
        return target
    skills = [each.skill for each in compared if each and each.skill]
    reason = next((why for skill in skills for why in _given(case, target, skill)), "")
    if not reason:
        return target
    return UnsupportedTarget(name=target.name, provider="", reason=reason)


def unless_stopped(case: EvalCase, target: Target) -> Target:
    """Return the target, or why it is not asked: a file of the case is missing."""
    if not case.stopped:
        return target
    return UnsupportedTarget(name=target.name, provider="", reason=case.stopped)


def _given(case: EvalCase, target: Target, skill: Skill) -> Iterator[str]:
    """Yield each way in which a target without the skill gets it."""
    parts = (part for message in case.input_messages for part in message.parts)
    for part in parts:
        if isinstance(part, FilePart) and _is_of(part, skill):
            yield f"the case gives it `{part.path}` of the skill that it is to lack; remove it"
    workspace = case.workspace or target.workspace
    copied = normpath(workspace.copy) if workspace and workspace.copy else ""
    if copied and (holds := _how_it_holds(f"{copied}/", skill)):
        yield (
            f"its workspace `{copied}` {holds} the skill `{skill.path}` that it is to lack; copy a "
            "folder without it"
        )


def _how_it_holds(folder: str, skill: Skill) -> str:
    if folder == "./" or f"{skill.path}/".startswith(folder):
        return "holds"
    return "is a part of" if _is_part(folder, skill) else ""


def _is_of(part: FilePart, skill: Skill) -> bool:
    return _is_part(part.path, skill) or part.text.strip() == skill.text.strip()


def _is_part(path: str, skill: Skill) -> bool:
    """Return True for a path below the skill that is none of its evals and their inputs."""
    return path.startswith(f"{skill.path}/") and not path.startswith(f"{skill.path}/evals/")


def with_files_seen(case: EvalCase, target: Target) -> EvalCase:
    """Return a case of an `evals.json` whose judge sees the changed files, where it is about them.

    The format does not say what a judge sees, and a model has no files to show.
    """
    if not case.file.endswith(".json") or not target.starts_program:
        return case
    if not (target.agent or target.workspace or case.workspace):
        return case
    return replace(case, evaluators=tuple(map(_seeing, case.evaluators)))


def _seeing(spec: EvaluatorSpec) -> EvaluatorSpec:
    if not isinstance(spec, RubricSpec) or spec.is_about_work:
        return spec
    judged = (each for each in spec.rubric if not isinstance(each, Assertion))
    if any(_ABOUT_FILES.search(each.text) for each in judged):
        return replace(spec, sees=("answer", "file_changes"))
    return spec
