"""Tasks: each case with its target and its judge, environment variables resolved."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rubric_ci.errors import MissingVariable
from rubric_ci.grading.resolve import (
    Task,
    choose_cluster,
    choose_judge,
    choose_target,
    judges_of,
    name_judge,
    name_own_judges,
    name_target,
    needs_judge,
    resolve_judge,
    resolve_target,
    without_own_judges,
)
from rubric_ci.llm import batch
from rubric_ci.model.config import Endpoint, LlmTarget
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.options import RunSettings
from rubric_ci.model.waivers import WaiverResult
from rubric_ci.parsing.env_vars import Variables
from rubric_ci.project.loaded_project import LoadedProject


def build_tasks(
    chosen: Sequence[tuple[EvalCase, str]], loaded: LoadedProject, settings: RunSettings
) -> tuple[Task, ...]:
    """Return a task per case; raises UserError if a target, judge or variable is missing."""
    tasks = tuple(build_task(case, why, loaded, settings) for case, why in chosen)
    if settings.batch and not (settings.requests.replay or settings.offline):
        for endpoint in _models(tasks):
            batch.check(endpoint)
    return tasks


def with_waivers(tasks: Sequence[Task], waivers: Sequence[WaiverResult]) -> tuple[Task, ...]:
    """Return the tasks with the criteria whose waivers are in force."""
    waived: dict[tuple[str, str], set[str]] = defaultdict(set)
    for waiver in waivers:
        if waiver.state == "not-run":
            waived[waiver.file, waiver.case].add(waiver.criterion)
    if not waived:
        return tuple(tasks)
    return tuple(
        replace(task, waived=frozenset(waived[task.case.file, task.case.id])) for task in tasks
    )


def build_task(case: EvalCase, why: str, loaded: LoadedProject, settings: RunSettings) -> Task:
    """Return the task of a case; raises UserError if its target, judge or variable is missing."""
    config = loaded.config_for(case.file)
    target = choose_target(case, config, settings.target)
    judge = choose_judge(config, target, settings.judge)
    if judge and settings.votes:
        judge = replace(judge, votes=settings.votes)
    own = without_own_judges(case) if settings.judge else case
    cluster = choose_cluster(case, config.regression.cluster)
    task = Task(case=own, target=target, judge=judge, why=why, cluster=cluster)
    variables = loaded.variables(os.environ, case.file)
    if settings.requests.replay:  # a recording needs no secrets, but it has names of models
        return _named(task, variables)
    try:
        return _resolved(_named(task, variables), variables)
    except MissingVariable:
        if settings.offline or settings.list_only:  # no request is sent, so no key is needed
            return task
        raise


def _named(task: Task, variables: Variables) -> Task:
    """Substitute environment variables in the names of models."""
    judge = task.judge
    if judge is not None and needs_judge(task.case):
        judge = name_judge(judge, variables)
    return replace(
        task,
        case=name_own_judges(task.case, variables),
        target=name_target(task.target, variables),
        judge=judge,
    )


def _resolved(task: Task, variables: Variables) -> Task:
    target = resolve_target(task.target, variables)
    if task.judge is None or not needs_judge(task.case):
        return replace(task, target=target)
    return replace(task, target=target, judge=resolve_judge(task.judge, variables))


def _models(tasks: Sequence[Task]) -> Iterator[Endpoint]:
    for task in tasks:
        if isinstance(task.target, LlmTarget) and task.case.evaluators:
            yield task.target.endpoint
        yield from (judge.endpoint for judge, _ in judges_of(task.case, task.judge))
