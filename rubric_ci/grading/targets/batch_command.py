"""Batch targets: one process answers all cases of an eval file, in JSON Lines."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from rubric_ci.errors import CannotAnswer, NoVerdict
from rubric_ci.grading.targets import answer_format, command
from rubric_ci.grading.targets.answer_format import measured
from rubric_ci.grading.targets.workplace import with_skill
from rubric_ci.system import coroutines, processes
from rubric_ci.system.processes import Command, Finished
from rubric_ci.system.scratch import program_folder
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON, parsed
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import CliTarget, Target
from rubric_ci.values.usage import NOTHING_USED, Usage

BATCH_ID = "batch"  # {EVAL_ID} of a process that answers several cases

_Lines: TypeAlias = Mapping[str, tuple[int, Mapping[str, JSON]]]
"""Number and object of a line, by the id of its case."""


class Batches:
    """Runs a batch target once per eval file and attempt; its cases share the output."""

    def __init__(self, cases: Iterable[tuple[EvalCase, Target]]) -> None:
        self._cases: dict[str, list[EvalCase]] = defaultdict(list)
        for case, target in cases:
            if target.batched:
                self._cases[_group(case, target)].append(case)
        self._started: dict[tuple[str, int], asyncio.Task[tuple[Finished, _Lines, Usage]]] = {}

    async def answer(
        self, case: EvalCase, target: CliTarget, context: RunContext, attempt: int
    ) -> Answer:
        """Return the answer to the case; raises CannotAnswer if the output has none."""
        group = _group(case, target)
        cases = [replace(each, variant=case.variant) for each in self._cases[group]] or [case]
        key = group, attempt
        if key not in self._started:
            self._started[key] = coroutines.start_shared(_started(cases, target, context, attempt))
        try:
            finished, lines, used = await asyncio.shield(self._started[key])
            given = _answer(case, target, finished, lines, len(cases))
            read = command.reader(context.root / target.cwd, context.root)
            given = answer_format.with_files(given, read)
        except NoVerdict as error:
            raise error if case.key == cases[0].key else error.with_usage(NOTHING_USED) from None
        return replace(given, usage=given.usage + used) if case.key == cases[0].key else given


def _group(case: EvalCase, target: Target) -> str:
    return json.dumps([target.name, target.cwd, target.command_template, case.file])


async def _started(
    cases: Sequence[EvalCase], target: CliTarget, context: RunContext, attempt: int
) -> tuple[Finished, _Lines, Usage]:
    """Return the output of the process, and its cost, which the first case bears."""
    found: list[tuple[Finished, _Lines]] = []

    async def run(_: float | None) -> Answer:
        finished, lines = await _run(cases, target, context, attempt)
        found.append((finished, lines))
        return Answer(text="", usage=Usage(cost_usd=_own_cost(lines)))

    used = (await command.started(target, context, run)).usage
    finished, lines = found[0]
    return finished, lines, replace(used, cost_usd=used.cost_usd - _own_cost(lines))


def _own_cost(lines: _Lines) -> float:
    """Return the cost of the answers in dollars, as their lines name it."""
    costs = (value.get("cost_usd") for _, value in lines.values())
    return sum(cost for cost in costs if isinstance(cost, int | float) and cost > 0)


async def _run(
    cases: Sequence[EvalCase], target: CliTarget, context: RunContext, attempt: int
) -> tuple[Finished, _Lines]:
    with program_folder() as folder:
        written = folder / "output.jsonl"
        values = command.placeholder_values(
            cases, target, context.root, written, attempt, name=BATCH_ID
        )
        asked = (with_skill(case, target) for case in cases)
        line = Command(
            script=command.fill(target.command_template, values),
            cwd=context.root / target.cwd,
            known=context.environment,
            env=target.env,
            timeout_seconds=target.timeout_seconds,
            stdin="".join(f"{json.dumps(_request(each, context.root))}\n" for each in asked),
        )
        finished = await processes.run(line)
        text = command.output(finished, target, written)
    try:
        return finished, dict(_lines(text))
    except CannotAnswer as error:
        raise CannotAnswer(f"the batch of the target `{target.name}`: {error}") from None


def _request(case: EvalCase, root: Path) -> dict[str, JSON]:
    """Return the line of a case on standard input."""
    return {
        "id": case.own_id,
        "prompt": case.question,
        "guidelines": command.guidelines(case),
        "files": [str(root / path) for path in command.file_paths([case])],
    }


def _lines(text: str) -> Iterator[tuple[str, tuple[int, Mapping[str, JSON]]]]:
    seen: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            value = _object(line, number)
            name = value.get("id")
            if not isinstance(name, str) or not name:
                raise CannotAnswer(f"line {number} has no `id` that is a text")
            if name in seen:
                raise CannotAnswer(f"line {number} repeats the id `{name}` of line {seen[name]}")
            seen[name] = number
            yield name, (number, value)


def _object(line: str, number: int) -> Mapping[str, JSON]:
    value = parsed(line)
    if not isinstance(value, dict):
        raise CannotAnswer(f"line {number} is not a JSON object; write one object per case")
    return answer_format.with_messages(value)


def _answer(
    case: EvalCase, target: CliTarget, finished: Finished, lines: _Lines, count: int
) -> Answer:
    where = f"the batch of the target `{target.name}`"
    if case.own_id not in lines:
        message = f'add a line {{"id": "{case.own_id}", "text": "…"}} to its output'
        raise CannotAnswer(f"{where} has no answer for the case `{case.own_id}`; {message}")
    number, value = lines[case.own_id]
    try:
        given = answer_format.build(value.get("text"), value)
    except CannotAnswer as error:
        raise CannotAnswer(f"{where}: line {number}: {error}") from None
    if not given.text.strip() and not given.messages:
        raise CannotAnswer(f"{where}: line {number} has neither `text` nor `output_messages`")
    share = replace(finished, duration_seconds=finished.duration_seconds / count)
    return measured(given, share)
