"""Nightly reports and a history of them, for tests."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rubric_ci.parts.lab import history_commands
from rubric_ci.parts.lab.history import RunRecord, record_of
from rubric_ci.values.report import JudgeInfo, RunReport
from rubric_ci.values.results import CaseResult, Trial
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.usage import Usage
from tests.sample_reports import a_report, errored, graded, skipped

WORDS: dict[str, Verdict] = {"p": "pass", "b": "borderline", "f": "fail"}
SCORES = {"p": 1.0, "b": 0.7, "f": 0.2}
SUITE = {
    "greeting": "pppppppppppp",
    "refund": "ppppffffpppp",
    "tone": "pbpbpbpbpbpb",
    "late": "------pppepp",
    "broken": "ppppppppppff",
    "draft": "ssssssssssss",
}
"""A letter per night: the verdict, e errored, s skipped, - not in the suite."""


def a_case(name: str, letter: str, *trials: str) -> CaseResult:
    match letter:
        case "e":
            return errored(name)
        case "s":
            return skipped(name)
        case _:
            each = tuple(Trial(verdict=WORDS[one], score=SCORES[one]) for one in trials)
            usage = Usage(calls=1, cost_usd=0.01)
            return graded(
                name, WORDS[letter], score=SCORES[letter], usage=usage, trials=each, evaluators=()
            )


def a_night(number: int, **changes: Any) -> RunReport:
    """Return the report of a night of the suite, from 0."""
    cases = [a_case(name, row[number]) for name, row in SUITE.items() if row[number] != "-"]
    facts: dict[str, Any] = {
        "started_at": f"2026-01-{number + 1:02}T02:43:00+00:00",
        "judge": JudgeInfo(model="gpt" if number < 8 else "opus", prompt_version="1"),
        "metadata": {"run_url": f"https://example.com/runs/{number}", "head_sha": f"{number:040x}"},
    }
    return a_report(*cases, **{**facts, **changes})


def records() -> Iterator[RunRecord]:
    """Yield a record per night."""
    nights = len(SUITE["greeting"])
    yield from (record_of(a_night(number)) for number in range(nights))


def a_history(folder: Path) -> Path:
    """Return the file of a history with all nights."""
    path = folder / "history.jsonl"
    for record in records():
        history_commands.add_record(path, record)
    return path
