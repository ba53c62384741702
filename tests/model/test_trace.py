"""What a target did, as a report has it."""

from typing import Any

from rubric_ci.model.trace import FileChange, KeptFile, Step, Work, reported


def messages(*calls: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    return ({"role": "assistant", "tool_calls": calls}, {"role": "assistant", "content": "ok"})


def test_a_target_without_steps_and_workspace_has_no_trace() -> None:
    assert reported((), None) is None
    assert reported(messages(), None) is None


def test_a_short_trace_is_whole() -> None:
    call = {"tool": "ls", "input": {"path": "."}, "output": "a", "duration_ms": True}
    found = reported(messages(call, {"tool": "rm", "error": "denied", "output": [1]}), None)
    assert found is not None
    assert found.steps == (
        Step(tool="ls", arguments={"path": "."}, result="a"),
        Step(tool="rm", error="denied"),
    )
    assert found.shortened == ""


def test_a_long_trace_says_what_it_leaves_out() -> None:
    calls = [{"tool": str(n), "output": "x" * 600} for n in range(101)]
    calls[0]["output"] = "a" * 400 + "b" * 5 + "c" * 200
    found = reported(messages(*calls), None)
    assert found is not None
    assert [step.tool for step in found.steps] == [str(n) for n in (*range(50), *range(51, 101))]
    assert found.steps[0].result == f"{'a' * 400} … {'c' * 200}"
    assert found.steps[1].result == "x" * 600
    assert found.shortened == "100 of 101 calls shown; results cut to 400 + 200 characters"


def test_the_usage_is_as_the_target_reports_it() -> None:
    summary = {"token_usage": {"input": 9, "output": 3}, "cost_usd": 0.01, "error_count": 1}
    found = reported(messages({"tool": "ls"}), None, summary)
    assert found is not None
    assert found.usage == {"token_usage": {"input": 9, "output": 3}, "cost_usd": 0.01}


def test_a_workspace_is_reported_without_steps() -> None:
    work = Work(
        sandbox="bwrap",
        changes=(FileChange(path="a", kind="added"),),
        files=(KeptFile(path="a", text="1"),),
        notes=("n",),
    )
    found = reported((), work)
    assert found is not None
    assert (found.sandbox, found.files, found.notes) == ("bwrap", work.files, ("n",))
