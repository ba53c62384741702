"""The work of an agent: its steps with their results, its files, and its usage."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON, is_number

Finish: TypeAlias = Literal["stop", "length", "refusal"]
"""Why a reply ended: complete, at the token limit, or refused by the model or its filter."""

SeenPart: TypeAlias = Literal["answer", "conversation", "tool_calls", "file_changes", "files"]
"""The parts of a trial that a judge can be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of a tool."""

    tool: str
    arguments: JSON = None
    result: str = ""
    error: str = ""  # why the call failed; empty: it did not
    duration_ms: float | None = None  # None: not reported
    turn: int = 0  # of a conversation, from 1; 0: of none


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """An agent's answer and how it got there."""

    answer: str = ""
    steps: tuple[Step, ...] = ()
    finish: Finish = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    duration_ms: float | None = None
    model: str = ""
    session: str = ""  # its id, by which the program resumes it


def steps_of(messages: tuple[Mapping[str, Any], ...]) -> tuple[Step, ...]:
    """Return the calls of tools in the messages of an answer."""
    calls = ((m.get("turn"), call) for m in messages for call in m.get("tool_calls") or ())
    return tuple(
        Step(
            tool=call["tool"],
            arguments=call.get("input"),
            result=call["output"] if isinstance(call.get("output"), str) else "",
            error=call["error"] if isinstance(call.get("error"), str) else "",
            duration_ms=duration if is_number(duration := call.get("duration_ms")) else None,
            turn=turn if isinstance(turn, int) else 0,
        )
        for turn, call in calls
    )


def call_of(step: Step) -> dict[str, JSON]:
    """Return a call of a tool as it stands in a message, which `steps_of` reads."""
    facts = {"output": step.result, "error": step.error, "duration_ms": step.duration_ms}
    known = {name: fact for name, fact in facts.items() if fact not in ("", None)}
    return {"tool": step.tool, "input": step.arguments, **known}


def counts_of(tools: Iterable[str]) -> dict[str, JSON]:
    """Return how often each tool was called, as summaries of answers have it."""
    calls = Counter(tools)
    return {
        "event_count": calls.total(),
        "tool_names": sorted(calls),
        "tool_calls_by_name": dict(sorted(calls.items())),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file of the workspace that the agent changed."""

    path: str
    kind: Literal["added", "modified", "deleted"]
    diff: str = ""  # unified; "" for a file without text, and where it was left out


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """The text of a file that `keep` names, at the end."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCheck:
    """The finding of an assertion about the workspace, made while it existed."""

    name: str  # of the assertion
    holds: bool = False
    found: str = ""
    evidence: str = ""
    error: str = ""  # why it could not be checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The files that an agent left in its workspace."""

    sandbox: str = ""  # the program that confined it
    changes: tuple[FileChange, ...] = ()
    files: tuple[KeptFile, ...] = ()
    notes: tuple[str, ...] = ()  # what was left out, and by which rule
    checks: tuple[WorkCheck, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTrace:
    """The work of a target, as a report shows it; long traces and results are shortened."""

    steps: tuple[Step, ...] = ()
    left_out: int = 0  # calls between the first and the last ones of a long trace
    shortened: str = ""  # by which rule; "": nothing is left out
    workspace: bool = False  # the target worked in one
    sandbox: str = ""  # the program that confined it
    files: tuple[KeptFile, ...] = ()
    notes: tuple[str, ...] = ()
    checks: tuple[WorkCheck, ...] = ()
    usage: Mapping[str, JSON] = field(default_factory=dict)  # tokens, cost, duration
    last_event: str = ""  # of an agent that gave no answer
