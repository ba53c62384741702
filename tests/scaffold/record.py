"""Record the judges of the starter files: `python -m tests.scaffold.record`.

A prompt that changed needs another recording. The replies are in judge.json; every model that
`rubric-ci init` offers has its own lines, because the model is part of a request.
"""

import asyncio
import contextlib
import json
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rubric_ci.gate.selection.changed_cases import open_selected
from rubric_ci.grading.engine import grade
from rubric_ci.grading.tasks import build_tasks
from rubric_ci.models.llm.cache_and_recording import record
from rubric_ci.parts.start.init import init
from rubric_ci.parts.start.init_providers_and_targets import PROVIDERS, InitSettings
from rubric_ci.system import installation
from rubric_ci.values.command_settings import Models, ReportOptions, RequestOptions, SelectOptions
from rubric_ci.values.context import RunContext
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.results import Graded

ROOT = Path(__file__).parents[2]
NOT_THERE = {"evidence": "", "reasoning": "The answer has no such word.", "satisfied": False}
"""The mark of the canary, which a command that judges is asked about."""
RECORDING = ROOT / "examples/scaffold/evals/example.replay.jsonl"


def recording() -> str:
    """Return the lines of every provider's judge."""
    with TemporaryDirectory() as folder:
        return "".join(recorded(name, Path(folder) / name) for name in PROVIDERS)


def recorded(provider: str, folder: Path) -> str:
    """Return the lines of one judge; settings count from the current folder."""
    folder.mkdir()
    with contextlib.chdir(folder):
        return record_here(provider)


def record_here(provider: str) -> str:
    """Create the starter files in the current folder, and grade them with our replies."""
    init(InitSettings(provider=provider))
    replayed = RequestOptions(replay=Path("evals/example.replay.jsonl"))  # needs no key
    models = Models(target="recorded")
    opened, selection = open_selected(SelectOptions(), models, ReportOptions())
    tasks = build_tasks(selection.chosen, opened, models, replayed)
    path = Path("recording.jsonl")
    context = RunContext(
        call_model=record(path, opened.root).wrap(reply),
        root=opened.root,
        environment=os.environ,
        judge=opened.config.judge,
    )
    results = asyncio.run(grade(tasks, context, concurrency=1))
    assert all(isinstance(case, Graded) for case in results), results
    return path.read_text(encoding="utf-8")


async def reply(call: ModelCall) -> ModelReply:
    """Return the reply to the case that a request is about."""
    replies = json.loads((ROOT / "tests/scaffold/judge.json").read_text(encoding="utf-8"))
    marks = [*replies[call.about.split(": ")[1]].values()]
    asked = "\n".join(message.content for message in call.messages)
    written = installation.read_example("scaffold/evals/example.eval.yaml")
    for number, text in re.findall(r"^c(\d+): .*\n    (.*)", asked, re.MULTILINE):
        if text not in written and "marked" not in text and len(marks) < 4:
            marks.insert(int(number) - 1, NOT_THERE)
    text = json.dumps({f"c{n}": mark for n, mark in enumerate(marks, start=1)})
    return ModelReply(text=text, finish="stop")


if __name__ == "__main__":
    if not RECORDING.exists():
        RECORDING.touch()
    RECORDING.write_text(recording(), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{RECORDING.relative_to(ROOT)}\n")
