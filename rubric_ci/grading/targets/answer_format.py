"""Formats of targets' output: answers as JSON, measurements, traces in the formats of agents.

Evaluators and scripts read the measurements from the answer's `trace_summary`.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rubric_ci.errors import CannotAnswer, CannotReadFile, ScriptTimedOut, TargetBusy
from rubric_ci.files.yaml_text.jsonlines import MEASURES
from rubric_ci.grading.targets.call_spelling import Spelling, spelled
from rubric_ci.models.agents import READERS, format_of, steps_so_far
from rubric_ci.models.agents.program import NO_FILES, AgentFailed, Files, last_event
from rubric_ci.system import file_io
from rubric_ci.system.output_and_masking import redact
from rubric_ci.system.processes import Finished, describe_exit
from rubric_ci.values.json_value import JSON, MAX_DEPTH, depth, parsed
from rubric_ci.values.references import file_text
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import CliTarget
from rubric_ci.values.trace import Step, Trace, call_of, counts_of
from rubric_ci.values.usage import Usage

_NUMBERS = ("duration_ms", "cost_usd", "token_usage")

MOST_RESULT = 20_000  # characters of a step's result


def parse(text: str) -> Answer:
    """Return the answer in a command's output: an object with `text` or `output_messages`, or text.

    An object with any other key is itself the text. Raises CannotAnswer for an invalid
    measurement.
    """
    found = parsed(text)
    value = with_messages(found) if isinstance(found, dict) else {}
    if not value.keys() & {"text", "output_messages"}:
        return Answer(text=text)
    if value.keys() - MEASURES - {"text"}:
        return Answer(text=text)
    return build(value.get("text"), value)


def with_messages(value: dict[str, Any]) -> dict[str, Any]:
    """Return an output whose messages are called `output`, as AgentV calls them, with our key."""
    if not _are_messages(value.get("output")):
        return value
    others = {key: each for key, each in value.items() if key != "output"}
    return {**others, "output_messages": value["output"]}


def _are_messages(value: JSON) -> bool:
    """Return True for a list of messages; another list is itself the answer."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and isinstance(each.get("role"), str) for each in value)
    )


def build(text: JSON, measures: Mapping[str, JSON]) -> Answer:
    """Return an answer with its measurements; without a text, the last message is the text.

    Raises CannotAnswer for an invalid measurement, and for more levels than a report can hold.
    """
    _check_depth([text, measures])
    messages = _messages(measures)
    summary = _summary(measures, messages)
    return Answer(
        text=as_text(text) if text is not None else _last_text(messages),
        messages=messages,
        trace_summary=summary or None,
        duration_seconds=summary["duration_ms"] / 1000 if "duration_ms" in summary else None,
    )


def _check_depth(values: list[JSON]) -> None:
    if depth(values) > MAX_DEPTH:
        raise CannotAnswer(f"the answer has JSON of more than {MAX_DEPTH} levels")


def with_files(given: Answer, read: Callable[[str], bytes | None]) -> Answer:
    """Return an answer with the images and documents that its messages name; see `with_media`."""
    if not any(isinstance(message.get("content"), list) for message in given.messages):
        return given
    from rubric_ci.models.llm.media import with_media  # few answers have one

    return with_media(given, read)


def as_text(value: JSON) -> str:
    """Return a string unchanged, other values as indented JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _last_text(messages: tuple[Mapping[str, JSON], ...]) -> str:
    contents = [m["content"] for m in messages if m.get("role") == "assistant" and m.get("content")]
    return as_text(contents[-1]) if contents else ""


def _messages(measures: Mapping[str, JSON]) -> tuple[Mapping[str, JSON], ...]:
    messages = measures.get("output_messages") or []
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        raise CannotAnswer("`output_messages` must be a list of objects")
    for message in messages:
        calls = message.get("tool_calls") or []
        if not isinstance(calls, list) or not all(_is_call(call) for call in calls):
            raise CannotAnswer("`tool_calls` must be a list of objects with `tool`")
    return tuple(messages)


def _is_call(call: JSON) -> bool:
    return isinstance(call, dict) and isinstance(call.get("tool"), str)


def _summary(
    measures: Mapping[str, JSON], messages: tuple[Mapping[str, JSON], ...]
) -> dict[str, JSON]:
    given = measures.get("trace_summary") or {}
    if not isinstance(given, dict):
        raise CannotAnswer("`trace_summary` must be an object")
    given_directly = {name: measures[name] for name in _NUMBERS if name in measures}
    merged = {**counts(messages), **given, **given_directly}
    return {**merged, **dict(_measured(merged))}


def counts(messages: tuple[Mapping[str, JSON], ...]) -> dict[str, JSON]:
    """Return how often each tool was called; empty without messages."""
    calls = (call["tool"] for m in messages for call in m.get("tool_calls") or [])
    return counts_of(calls) if messages else {}


def _measured(measures: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    for name in ("duration_ms", "cost_usd"):
        value = _number(measures, name)
        if value is not None:
            yield name, value
    tokens = measures.get("token_usage")
    if tokens is None:
        return
    if not isinstance(tokens, dict):
        raise CannotAnswer("`token_usage` must be an object with `input` and `output`")
    yield "token_usage", {name: _number(tokens, name) or 0 for name in tokens}


def _number(measures: Mapping[str, JSON], name: str) -> int | float | None:
    value = measures.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise CannotAnswer(f"`{name}` must be a number, not {json.dumps(value)}")
    if value < 0:
        raise CannotAnswer(f"`{name}` must not be negative, but is {value}")
    return value


def read_trace(
    form: str, stdout: str, stderr: str, target: CliTarget, files: Files = NO_FILES
) -> Trace:
    """Read a format; raises CannotAnswer for a failure, also one that exits with status 0."""
    try:
        return READERS[form].read(stdout, stderr, files)
    except AgentFailed as error:
        known = target.agent and error.cost_usd is not None
        spent = Usage(calls=1, cost_usd=error.cost_usd or 0.0) if known else None
        reason = _why_cut(stdout) or str(error)
        refusal = TargetBusy if error.status == 429 else CannotAnswer
        raise refusal(f"the target `{target.name}` failed: {reason}", spent) from None


def _why_cut(stdout: str) -> str:
    """Return that an output in JSON ends within a line; "": it does not."""
    last = stdout.rpartition("\n")[2]
    if not last.startswith("{") or parsed(last) is not None:
        return ""
    return (
        f"its output ends within a line, after {len(stdout.encode()):,} bytes: the program exited "
        "before all of it was read; let it write to a file, and print that"
    )


def did(form: str, stdout: str, stderr: str, spelling: Spelling) -> Answer | None:
    """Return the work of an agent that gave no answer; None: it reports none."""
    steps = map(_without_depth, steps_so_far(form, stdout))
    calls = [_call(step) for step in spelled(steps, spelling)]
    last = last_event(redact(stdout), stderr) if form in READERS else ""
    if not calls and not last:
        return None
    message = {"role": "assistant", "tool_calls": calls}
    return Answer(text="", messages=(message,) if calls else (), last_event=last)


def _without_depth(step: Step) -> Step:
    """Return a step that a report can hold: a sentence in place of a value of too many levels."""
    if depth(step.arguments) <= MAX_DEPTH:
        return step
    return replace(step, arguments=f"(JSON of more than {MAX_DEPTH} levels)")


def timed_out(
    stopped: ScriptTimedOut, target: CliTarget, form: str, spelling: Spelling
) -> CannotAnswer:
    """Return the error of a target that was killed at its time limit, with its last event."""
    done = did(form, stopped.printed, stopped.complained, spelling)
    last = f"; its last event: {done.last_event}" if done else ""
    killed = f"did not end within {stopped.seconds:g} s and was killed"
    return CannotAnswer(f"the target `{target.name}` {killed}{last}").after(done)


def traced(given: str, finished: Finished, target: CliTarget, folder: Path) -> Answer | None:
    """Return the answer of a command with a `trace`; None: it has none.

    Raises CannotAnswer for an answer that is an agent's output without a declared format.
    """
    if target.trace in READERS:
        trace = read_trace(target.trace, given, finished.stderr, target)
        return answer_of(trace, finished, Spelling(places={folder: "."}), target)
    if target.trace in {"", "none"}:
        if not target.trace and (form := format_of(given)):
            raise CannotAnswer(
                f"the answer of the target `{target.name}` looks like the output of {form}; set "
                f"`trace: {form}` to read it, or `trace: none` to grade it as it is"
            )
        return None
    try:
        text = file_text(file_io.read_named(folder / target.trace, folder), "replace")
    except CannotReadFile as error:
        raise CannotAnswer(f"cannot read the trace {target.trace}: {error.reason}") from None
    if not (form := format_of(text)):
        raise CannotAnswer(f"the trace {target.trace} has none of the formats {', '.join(READERS)}")
    trace = read_trace(form, text, "", target)
    own = replace(trace, answer=given.strip("\n") or trace.answer)
    return answer_of(own, finished, Spelling(places={folder: "."}), target)


def answer_of(trace: Trace, finished: Finished, spelling: Spelling, target: CliTarget) -> Answer:
    """Return the answer in the form in which all targets report their work.

    Raises CannotAnswer with what was used if there is none, or a part of one.
    """
    _check_depth([step.arguments for step in trace.steps])
    calls = [_call(step) for step in spelled(trace.steps, spelling)]
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
    given = measured(build(trace.answer, known), finished)
    if problem := _without_answer(trace, finished):
        raise CannotAnswer(f"the target `{target.name}` {problem}", given.usage)
    return given


def _without_answer(trace: Trace, finished: Finished) -> str:
    """Return why a trace has no answer; a status other than 0 is an error in any case."""
    if finished.status != 0:
        return f"failed: {describe_exit(finished)}"
    if trace.finish != "stop":
        ends = {"length": "reached its token limit", "refusal": "refused to answer"}
        return ends.get(trace.finish, trace.finish)
    if not trace.answer.strip():
        return f"gave an empty answer{' after its last tool call' if trace.steps else ''}"
    return ""


def _call(step: Step) -> dict[str, JSON]:
    return call_of(replace(step, result=_cut(step.result), error=_cut(step.error)))


def _cut(text: str) -> str:
    if len(text) <= MOST_RESULT:
        return text
    text = redact(text)  # before it is cut: half a key is not recognised
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
