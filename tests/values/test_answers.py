"""An answer in a report, and the same answer read back from it."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.values.answers import (
    KeptAnswer,
    answer_of,
    digest,
    identity,
    kept,
    pictures_of,
    reported,
)
from rubric_ci.values.results import Answer
from rubric_ci.values.trace import CaseTrace, FileChange, KeptFile, Step, Work, WorkCheck
from tests.pictures import media, png


def answer(*calls: dict[str, Any], **facts: Any) -> Answer:
    messages = ({"role": "assistant", "tool_calls": calls}, {"role": "assistant", "content": "ok"})
    return Answer(text="ok", messages=messages, **facts)


WORK = Work(
    sandbox="bwrap",
    changes=(FileChange(path="a", kind="added", diff="+1\n"),),
    files=(KeptFile(path="a", text="1"),),
    notes=("n",),
    checks=(WorkCheck(name="exists a", holds=True, found="it is there"),),
)
CALLS: tuple[dict[str, Any], ...] = (
    {"tool": "ls", "input": {"path": "."}, "output": "a", "duration_ms": 85},
    {"tool": "rm", "input": None, "error": "denied"},
)
LONG = tuple({"tool": str(n), "input": None, "output": "x" * 700} for n in range(101))


def test_a_target_without_steps_and_workspace_has_no_trace() -> None:
    assert reported(Answer(text="ok")) is None
    assert reported(answer()) is None


def test_a_short_trace_is_whole() -> None:
    call = {"tool": "ls", "input": {"path": "."}, "output": "a", "duration_ms": True}
    found = reported(answer(call, {"tool": "rm", "error": "denied", "output": [1]}))
    assert found is not None
    assert found.steps == (
        Step(tool="ls", arguments={"path": "."}, result="a"),
        Step(tool="rm", error="denied"),
    )
    assert found.shortened == ""


def test_a_long_trace_says_what_it_leaves_out() -> None:
    calls = [{"tool": str(n), "output": "x" * 600} for n in range(101)]
    calls[0]["output"] = "a" * 400 + "b" * 5 + "c" * 197
    found = reported(answer(*calls))
    assert found is not None
    assert [step.tool for step in found.steps] == [str(n) for n in (*range(50), *range(51, 101))]
    assert found.steps[0].result == f"{'a' * 400} … {'c' * 197}"
    assert found.steps[1].result == "x" * 600
    assert found.shortened == "100 of 101 calls shown; results cut to 600 characters"
    assert found.left_out == 1


@pytest.mark.parametrize(
    ("summary", "seconds", "usage"),
    [
        pytest.param(
            {"token_usage": {"input": 9, "output": 3}, "cost_usd": 0.01, "error_count": 1},
            None,
            {"token_usage": {"input": 9, "output": 3}, "cost_usd": 0.01},
            id="reported",
        ),
        pytest.param({"duration_ms": 5}, 0.005, {"duration_ms": 5}, id="its-own-duration"),
        pytest.param(None, 1.5, {"duration_ms": 1500.0}, id="measured-duration"),
    ],
)
def test_the_usage_is_reported(summary: Any, seconds: float | None, usage: Any) -> None:
    given = answer({"tool": "ls"}, trace_summary=summary, duration_seconds=seconds)
    found = reported(given)
    assert found is not None
    assert found.usage == usage


def test_a_workspace_is_reported_without_steps() -> None:
    found = reported(Answer(text="ok", work=WORK))
    assert found is not None
    assert (found.sandbox, found.files, found.notes) == ("bwrap", WORK.files, ("n",))
    assert found.workspace


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(answer(*CALLS), id="steps"),
        pytest.param(answer(*CALLS, work=WORK), id="steps-and-files"),
        pytest.param(answer(*LONG), id="a-long-trace"),
        pytest.param(Answer(text="ok", work=WORK), id="files"),
        pytest.param(Answer(text="ok", last_event="retry"), id="a-last-event"),
    ],
)
def test_an_answer_that_is_read_back_is_kept_as_it_was(given: Answer) -> None:
    once = kept(given)
    assert kept(answer_of(once)) == once


def test_an_answer_that_is_read_back_has_what_evaluators_read() -> None:
    found = answer_of(kept(answer(*CALLS, trace_summary={"cost_usd": 0.5}, work=WORK)))
    assert found.messages == (
        {"role": "assistant", "tool_calls": [CALLS[0]]},
        {"role": "assistant", "tool_calls": [CALLS[1]]},
        {"role": "assistant", "content": "ok"},
    )
    assert found.trace_summary == {
        "event_count": 2,
        "tool_names": ["ls", "rm"],
        "tool_calls_by_name": {"ls": 1, "rm": 1},
        "error_count": 1,
        "cost_usd": 0.5,
    }
    assert found.work == WORK


def test_the_turns_of_a_conversation_are_kept() -> None:
    messages = ({"role": "assistant", "tool_calls": [{"tool": "ls", "input": None}], "turn": 2},)
    found = answer_of(kept(Answer(text="ok", messages=messages)))
    assert found.messages[0] == messages[0]


def test_equal_texts_with_other_work_are_other_answers() -> None:
    plain = KeptAnswer(answer="ok")
    one = kept(answer(*CALLS))
    other = kept(answer(CALLS[0]))
    assert identity(plain) == "ok"
    assert len({identity(each) for each in (plain, one, other)}) == 3


def test_equal_texts_with_other_images_are_other_answers() -> None:
    shots = [media("out.png", png(width, 3)) for width in (4, 5)]
    every = [kept(Answer(text="ok", media=(shot,))) for shot in shots]
    assert len({identity(each) for each in (*every, KeptAnswer(answer="ok"))}) == 3
    asked = KeptAnswer(answer="ok", media=pictures_of("question", shots))
    assert identity(asked) == "ok"  # the images of a question are no part of the answer


def test_durations_do_not_make_another_answer() -> None:
    trace = CaseTrace(steps=(Step(tool="ls", duration_ms=5),))
    slow = replace(trace, steps=(Step(tool="ls", duration_ms=9),), usage={"duration_ms": 9})
    assert digest(KeptAnswer(answer="", trace=trace)) == digest(KeptAnswer(answer="", trace=slow))
