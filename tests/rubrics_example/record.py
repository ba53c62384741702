"""Record the judge of the library of rubrics: `python -m tests.rubrics_example.record`.

The recorded judge gives the marks that the tests expect, so the tests show that they can be met,
not that a model meets them.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.files.project.working_tree import lookup
from rubric_ci.models.llm.cache_and_recording import record
from rubric_ci.parts.lab.judge_test import RubricTest, read_tests
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.results import Assessed
from rubric_ci.values.rubric import ByJudge, Chosen, Judged, Levelled
from rubric_ci.values.scoring import NOT_APPLICABLE
from rubric_ci.values.targets import Endpoint

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/rubrics"
RECORDING = FOLDER / "judge.replay.jsonl"
JUDGE = JudgeConfig(endpoint=Endpoint(model="openai/gpt-6-luna"))


def every_test() -> list[RubricTest]:
    """Return the tests of every rubric of the library."""
    return [
        test
        for path in sorted((FOLDER / "rubrics").glob("*.rubric.yaml"))
        for test in read_tests(
            path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"), lookup(ROOT, path)
        )
    ]


NAMES = {"checklist": "satisfied", "score-range": "score", "levels": "level", "choices": "choice"}


def mark_of(test: RubricTest, criterion: Judged) -> JSON:
    """Return the first mark that a test expects of the judge, or one of a good answer."""
    expected = test.expected.get(criterion.id, ())
    by_judge = isinstance(criterion.applies_if, ByJudge)
    asked = [mark for mark in expected if by_judge or mark != NOT_APPLICABLE]
    if asked:
        return asked[0]
    if isinstance(criterion, Chosen):
        return criterion.choices[0].name
    if isinstance(criterion, Levelled):
        return criterion.levels[-1].level
    return not criterion.fault


def reply(test: RubricTest) -> str:
    """Return the reply of a judge that marks a test as it expects."""
    marks = {}
    for number, each in enumerate(test.spec.rubric.judged, start=1):
        name = "present" if each.fault and each.kind == "checklist" else NAMES[each.kind]
        why = "As the author of the test marks it."
        marks[f"c{number}"] = {"evidence": "", "reasoning": why, name: mark_of(test, each)}
    return json.dumps(marks)


def write() -> None:
    """Write the recording."""

    async def ask(call: ModelCall) -> ModelReply:
        return ModelReply(text=reply(test), finish="stop")

    lines = ""
    for test in every_test():
        context = RunContext(
            call_model=record(RECORDING, ROOT).wrap(ask),
            root=ROOT,
            environment=os.environ,
            judge=JUDGE,
        )
        found = asyncio.run(evaluate(test.case, test.answer, test.spec, context))
        assert isinstance(found, Assessed), found
        lines += RECORDING.read_text(encoding="utf-8")
    RECORDING.write_text(lines, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
    sys.stdout.write(f"{RECORDING.relative_to(ROOT)}\n")
