"""The two sides of a change: contexts, tasks, and answers that both share.

Questions, prompts and recorded answers of the base are read from git's objects; the rubrics and the
judge are the head's.
"""

import asyncio
from collections.abc import (
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cache
from itertools import takewhile
from typing import Protocol, TypeAlias

from rubric_ci.errors import CannotConfigure, CannotUseGit, NoVerdict
from rubric_ci.files.project.base_state import BaseState
from rubric_ci.files.project.change import Change
from rubric_ci.files.project.loaded_project import LoadedProject, mask_secrets
from rubric_ci.gate.selection.compare_cases import matched
from rubric_ci.gate.selection.dependencies import command_files, depends_on_everything
from rubric_ci.gate.selection.fingerprint import question, rubrics
from rubric_ci.grading.case_choice import read_keyword
from rubric_ci.grading.resolve import Task, is_asked_for
from rubric_ci.grading.targets import answer_cache, recorded
from rubric_ci.grading.tasks import build_task
from rubric_ci.system.git import plumbing, snapshot
from rubric_ci.system.git.snapshot import Contents
from rubric_ci.system.git.worktree import Worktree, worktree
from rubric_ci.text.globs import matcher
from rubric_ci.values.changes import Base, NoBase
from rubric_ci.values.command_settings import RunSettings
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.config import MockTarget, RecordedTarget, Target
from rubric_ci.values.context import Dependencies, RunContext, Side
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.report import RemovedCase
from rubric_ci.values.results import Answer, CaseResult

Key: TypeAlias = tuple[str, str]
"""File and id of a case of the head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseSide:
    """The base of a change: the cases to grade there, and how to get its answers."""

    base: Base
    committed_at: str
    tasks: Mapping[Key, Task]
    rubrics: Mapping[Key, EvalCase] = field(default_factory=dict)  # base cases whose rubrics differ
    incomparable: Mapping[Key, str] = field(default_factory=dict)  # with the reason
    removed: tuple[RemovedCase, ...] = ()
    worktree: Worktree
    read: Callable[[str], bytes | None]
    dependencies: Dependencies
    given: MutableMapping[tuple[Key, int], Answer] = field(default_factory=dict)

    def marked_by_both(self, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """Return the tasks of the head; where rubrics differ, the base's mark its answers too."""
        return tuple(_marked_by(task, self.rubrics.get(task.case.key)) for task in tasks)


@contextmanager
def open_base(
    tasks: Sequence[Task], opened: LoadedProject, settings: RunSettings
) -> Iterator[BaseSide | NoBase | None]:
    """Yield the base side of the tasks, None without `--against`.

    Its worktree is removed at the end.
    """
    base = opened.change.against
    if base is None or isinstance(base, NoBase):
        yield base
        return
    with worktree(opened.change.repository, base.commit) as checkout:
        yield _side(tasks, opened, settings, base, checkout)


def _side(
    tasks: Sequence[Task],
    opened: LoadedProject,
    settings: RunSettings,
    base: Base,
    checkout: Worktree,
) -> BaseSide:
    then = opened.change.at(base)
    state = opened.at_base(base)
    head = opened.cases
    before = matched(head, state.cases)
    known = _each_once(tasks, before)
    found = {
        task.case.key: _base_task(task, known[task.case.key], state, opened, settings)
        for task in tasks
        if task.case.key in known
    }
    unread = {
        task.case.key: state.unreadable[task.case.file]
        for task in tasks
        if task.case.key not in known and task.case.file in state.unreadable
    }
    reasons = {key: each for key, each in found.items() if isinstance(each, str)}
    differing = {
        task.case.key: known[task.case.key]
        for task in tasks
        if isinstance(found.get(task.case.key), Task)
        if rubrics(known[task.case.key]) != rubrics(task.case)
    }
    return BaseSide(
        base=base,
        committed_at=plumbing.committed_at(opened.change.repository, base.commit),
        tasks={
            key: _marked_by(each, differing.get(key))
            for key, each in found.items()
            if isinstance(each, Task)
        },
        rubrics=differing,
        incomparable={**unread, **reasons},
        removed=tuple(_removed(state, before, settings)),
        worktree=checkout,
        read=cache(then.files.read),
        dependencies=dependencies_on(lambda: snapshot.of_entries(then.entries)),
    )


def _marked_by(task: Task, was: EvalCase | None) -> Task:
    return replace(task, also=was.evaluators) if was else task


def _each_once(tasks: Sequence[Task], before: Mapping[Key, EvalCase]) -> dict[Key, EvalCase]:
    """Return the earlier case of each task; of two cases with one origin, the first has it."""
    known: dict[Key, EvalCase] = {}
    taken: set[Key] = set()
    for task in tasks:
        was = before.get(task.case.key)
        if was is not None and was.key not in taken:
            taken.add(was.key)
            known[task.case.key] = was
    return known


def _base_task(
    task: Task, was: EvalCase, state: BaseState, opened: LoadedProject, settings: RunSettings
) -> Task | str:
    """Return the task of a case at the base, or why the two cannot be compared."""
    if question(task.case) != question(was):
        return "its question changed"
    if problem := state.config_problem(was.file):
        return problem
    mask_secrets(state.project.config_for(was.file))
    project = replace(opened, project=state.project, files=())
    try:
        built = build_task(was, task.why, project, settings)
    except CannotConfigure as error:
        return f"the base cannot be configured: {error.message}"
    graded = replace(
        was,
        evaluators=task.case.evaluators,
        expected_outcome=task.case.expected_outcome,
        expected_messages=task.case.expected_messages,
        turns=task.case.turns,
        trials=task.case.trials,
        metadata=task.case.metadata,
    )
    return replace(built, case=graded, judge=task.judge, cluster=task.cluster, waived=task.waived)


def _removed(
    state: BaseState, before: Mapping[Key, EvalCase], settings: RunSettings
) -> Iterator[RemovedCase]:
    kept = {was.key for was in before.values()}
    for case in state.cases:
        named = is_asked_for(case, ids=settings.cases, tags=settings.tags)
        asked_for = named and not settings.places and read_keyword(settings.keyword)(case)
        if asked_for and case.key not in kept:
            yield RemovedCase(file=case.file, id=case.id)


class Grade(Protocol):
    """Grades tasks; fewer results than tasks mean that the run was interrupted."""

    def __call__(
        self, tasks: Sequence[Task], context: RunContext, trials: int
    ) -> Awaitable[tuple[CaseResult, ...]]:
        """Return the results in the order of the tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Base and head of a change, graded by the same judge under the same rubrics."""

    base: BaseSide
    context: RunContext  # of the head
    grade: Grade
    trials: int
    config: RegressionConfig
    can_ask: bool = True  # False: no further trial is possible
    fresh: bool = False  # no answer of the base comes from the cache
    gate: GateConfig = GateConfig()  # which cases it is about
    apart: bool = False  # each side answers separately, although nothing differs

    @property
    def base_context(self) -> RunContext:
        """The context in which the base answers."""
        side = Side(
            root=self.base.worktree.root,
            read=self.base.read,
            reuse=not self.fresh,
            dependencies=self.base.dependencies,
            given=self.base.given,
        )
        return replace(self.context, side=side)

    def share_answer(self, head: Task, base: Task) -> bool:
        """Return True if nothing that determines the answer differs: both sides share it."""
        if self.apart:
            return False
        match head.target, base.target:
            case (RecordedTarget() as now, RecordedTarget() as then):
                try:
                    own = recorded.answer(head.case, now, self.context)
                    return own == recorded.answer(base.case, then, self.base_context)
                except NoVerdict:
                    return False
            case (MockTarget() as now, MockTarget() as then):
                fixed = recorded.fixed_answer(head.case, now)
                return fixed is not None and fixed == recorded.fixed_answer(base.case, then)
        key = answer_cache.key_of(head.case, head.target, self.context)
        there = answer_cache.key_of(base.case, base.target, self.base_context)
        return key is not None and key == there

    def kept_trials(self, task: Task, first: int, most: int) -> int:
        """Return how many trials of the base, from `first` on, are in the cache."""
        there = (replace(self.base_context, trial=first + number) for number in range(most))
        kept = (answer_cache.find(task.case, task.target, context) for context in there)
        return sum(1 for _ in takewhile(lambda answer: answer is not None, kept))

    def asks_base(self, head: Task) -> bool:
        """Return True if the case is asked at the base as well."""
        base = self.base.tasks.get(head.case.key)
        return base is not None and not self.share_answer(head, base)

    async def graded(
        self, tasks: Sequence[Task], context: RunContext, trials: int = 1
    ) -> Mapping[Key, CaseResult]:
        """Return the results by file and id; none after the run was interrupted."""
        this = asyncio.current_task()
        if not tasks or (this and this.cancelling()):
            return {}
        results = await self.grade(tasks, context, trials)
        return {case.key: case for case in results}


def without_cache(context: RunContext) -> RunContext:
    """Return it without cached judgements too: an equal answer would have its old marks."""
    return replace(context, side=replace(context.side, reuse=False), fresh_judgements=True)


def checkout_dependencies(change: Change, outputs: Iterable[str]) -> Dependencies:
    """Return the digests of the checkout, which is read when the first one is asked for."""

    def read() -> Contents | None:
        try:
            return snapshot.of_working_tree(change.repository, outputs)
        except CannotUseGit:
            return None  # without git, answers that depend on files are not cached

    return dependencies_on(read)


def dependencies_on(read: Callable[[], Contents | None]) -> Dependencies:
    """Return the digests of the files that `read` returns; it is called once, or never.

    A target without `depends_on` that depends on every file has the digest of all of them. Files
    that a command names or gets count as if they were listed.
    """
    known = cache(read)

    @cache
    def of_files(globs: tuple[str, ...] | None, names: tuple[str, ...]) -> str | None:
        found = known()
        matches = (lambda _: True) if globs is None else matcher(globs)
        return None if found is None else found.digest(matches, names)

    def digest(case: EvalCase, target: Target) -> str | None:
        if depends_on_everything(target):
            return of_files(None, ())
        globs = (*case.depends_on, *(target.depends_on or ()))
        names = tuple(dict.fromkeys(command_files(case, target)))
        return of_files(globs, names) if globs or names else ""

    return digest
