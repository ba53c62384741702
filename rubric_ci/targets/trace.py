"""Work that targets report: traces in the formats of agents, measurements."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from rubric_ci.agents import READERS, format_of
from rubric_ci.agents.output import AgentFailed, is_refusal
from rubric_ci.errors import CannotAnswer, CannotReadFile
from rubric_ci.model.config import CliTarget
from rubric_ci.model.llm_calls import Usage
from rubric_ci.model.references import file_text
from rubric_ci.model.results import Answer
from rubric_ci.model.trace import Step, Trace
from rubric_ci.system import confined
from rubric_ci.system.processes import Finished
from rubric_ci.targets import answer_format

MOST_RESULT = 20_000  # characters of a step's result


def read(form: str, stdout: str, stderr: str, target: CliTarget) -> Trace:
    """Read a format; raises CannotAnswer for a failure, also one that exits with status 0."""
    try:
        trace = READERS[form](stdout, stderr)
    except AgentFailed as error:
        raise CannotAnswer(f"the target `{target.name}` failed: {error}") from None
    said_only = not trace.steps and not trace.output_tokens
    if said_only and len(trace.answer) < 300 and is_refusal(trace.answer):
        raise CannotAnswer(f"the target `{target.name}` failed: {trace.answer.strip()}")
    return trace


def traced(given: str, finished: Finished, target: CliTarget, folder: Path) -> Answer | None:
    """Return the answer of a command with a `trace`; None: it has none.

    Raises CannotAnswer for an answer that is an agent's output which nobody declared.
    """
    if target.trace in READERS:
        return answer_of(read(target.trace, given, finished.stderr, target), finished)
    if target.trace in {"", "none"}:
        if not target.trace and (form := format_of(given)):
            raise CannotAnswer(
                f"the answer of the target `{target.name}` looks like the output of {form}; set "
                f"`trace: {form}` to read it, or `trace: none` to grade it as it is"
            )
        return None
    try:
        text = file_text(confined.read_named(folder / target.trace, folder), "replace")
    except CannotReadFile as error:
        raise CannotAnswer(f"cannot read the trace {target.trace}: {error.reason}") from None
    if not (form := format_of(text)):
        raise CannotAnswer(f"the trace {target.trace} has none of the formats {', '.join(READERS)}")
    trace = read(form, text, "", target)
    return answer_of(replace(trace, answer=given.strip("\n") or trace.answer), finished)


def answer_of(trace: Trace, finished: Finished) -> Answer:
    """Return the answer in the form in which all targets report their work."""
    calls = [_call(step) for step in trace.steps]
    measures: dict[str, Any] = {
        "output_messages": [
            {"role": "assistant", "tool_calls": calls},
            {"role": "assistant", "content": trace.answer},
        ],
        "trace_summary": {"error_count": sum(bool(step.error) for step in trace.steps)},
        "duration_ms": trace.duration_ms,
        "cost_usd": trace.cost_usd,
    }
    if trace.input_tokens or trace.output_tokens:
        measures["token_usage"] = {"input": trace.input_tokens, "output": trace.output_tokens}
    known = {name: value for name, value in measures.items() if value is not None}
    return measured(answer_format.build(trace.answer, known), finished)


def _call(step: Step) -> dict[str, Any]:
    facts = {
        "input": step.arguments,
        "output": _cut(step.result),
        "error": _cut(step.error),
        "duration_ms": step.duration_ms,
    }
    return {
        "tool": step.tool,
        **{name: fact for name, fact in facts.items() if fact not in ("", None)},
    }


def _cut(text: str) -> str:
    if len(text) <= MOST_RESULT:
        return text
    return f"{text[:MOST_RESULT]}… ({len(text) - MOST_RESULT:,} more characters)"


def measured(given: Answer, finished: Finished) -> Answer:
    """Return the answer with the measured duration, unless it has its own, and its usage."""
    summary = given.trace_summary or {}
    tokens = summary.get("token_usage") or {}
    return replace(
        given,
        duration_seconds=given.duration_seconds
        if given.duration_seconds is not None
        else finished.duration_seconds,
        usage=Usage(
            input_tokens=int(tokens.get("input") or 0),
            output_tokens=int(tokens.get("output") or 0),
            cost_usd=float(summary.get("cost_usd") or 0),
        ),
    )
