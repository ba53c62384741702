"""Put answers that are there already to the judge, whatever target they came from."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rubric_ci.commands.asking import build_ask
from rubric_ci.commands.judges import choose_judge, resolve_judge
from rubric_ci.commands.opening import Opened
from rubric_ci.engine import Task, grade
from rubric_ci.errors import CannotConfigure
from rubric_ci.model.config import JudgeConfig, MockTarget
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.report import Assessed, CaseResult, CriterionResult, Skipped
from rubric_ci.model.tools import Tools

GIVEN = MockTarget(name="given", response="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Posed:
    """An answer to mark by a rubric of its case, and who is to mark it."""

    case: EvalCase
    spec: RubricSpec
    answer: str
    judge: JudgeConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmarked:
    """Why there is no judgement."""

    reason: str


Marks = Mapping[str, CriterionResult]
"""By criterion id."""


def judge_of(opened: Opened, override: str, *, replayed: bool) -> JudgeConfig:
    """Return the judge of the command line or the configuration, ready to be asked."""
    judge = choose_judge(opened.config, GIVEN, override)
    if judge is None:
        raise CannotConfigure(
            "no judge is configured", "set `judge: {model: ...}` in rubric-ci.yaml, or use --judge"
        )
    return judge if replayed else resolve_judge(judge, os.environ)


def build_tools(
    opened: Opened, *, record: Path | None, replay: Path | None, concurrency: int
) -> Tools:
    """Hand the labour what it may use of the world."""
    return Tools(
        ask=build_ask(record_to=record, replay_from=replay, concurrency=concurrency),
        root=opened.root,
        environment=os.environ,
        thresholds=opened.config.gate.thresholds,
    )


def mark(posed: Sequence[Posed], tools: Tools, concurrency: int) -> tuple[Marks | Unmarked, ...]:
    """Ask about every answer; the order is kept."""
    tasks = [_task(each) for each in posed]
    results = asyncio.run(grade(tasks, tools, concurrency=concurrency))
    if len(results) < len(tasks):
        raise KeyboardInterrupt
    return tuple(_marks(result) for result in results)


def _task(posed: Posed) -> Task:
    # Alone and with a weight, or it would not count.
    spec = replace(posed.spec, weight=1.0)
    return Task(
        case=replace(posed.case, evaluators=(spec,)),
        target=replace(GIVEN, response=posed.answer),
        judge=posed.judge,
    )


def _marks(result: CaseResult) -> Marks | Unmarked:
    if isinstance(result, Skipped):
        return Unmarked(reason=result.reason)
    for each in result.evaluators:
        if isinstance(each, Assessed):
            return {criterion.id: criterion for criterion in each.criteria}
        return Unmarked(reason=each.reason)
    return Unmarked(reason=result.reason)
