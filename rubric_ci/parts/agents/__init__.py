"""Agent programs and the formats of agents' reports, by name: one file each."""

from collections.abc import Callable, Mapping
from typing import Final

from rubric_ci.parts.agents import (
    atif,
    claude_code,
    codex,
    copilot,
    gemini_cli,
    opencode,
    otlp,
    qwen,
)
from rubric_ci.parts.agents.program import KINDS, Agent, Read, events
from rubric_ci.values.trace import Step

AGENTS: Final[Mapping[str, Agent]] = {
    "claude-code": claude_code.AGENT,
    "codex": codex.AGENT,
    "copilot": copilot.AGENT,
    "gemini-cli": gemini_cli.AGENT,
    "opencode": opencode.AGENT,
    "qwen": qwen.AGENT,
}
NAMED: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset(name for agent in AGENTS.values() for name in agent.tools.get(kind, ()))
    for kind in KINDS
}
"""The names that the tools of a kind have, of all agents."""

READERS: Final[Mapping[str, Read]] = {
    **{name: agent.read for name, agent in AGENTS.items()},
    "atif": atif.read,
    "otlp": otlp.read,
}
_IS_OUTPUT: Final[dict[str, Callable[[Mapping[str, object]], bool]]] = {
    **{name: agent.is_output for name, agent in AGENTS.items()},
    "atif": atif.is_output,
    "otlp": otlp.is_output,
}


def steps_so_far(form: str, stdout: str) -> tuple[Step, ...]:
    """Return the steps of an agent that gave no answer."""
    return tuple(AGENTS[form].steps(stdout)) if form in AGENTS else ()


def format_of(text: str) -> str:
    """Return the format that a text shows to have, or ""."""
    if text.lstrip()[:1] not in {"{", "["}:
        return ""
    said = list(events(text))
    ends = [*said[:1], *said[-1:]]
    # From the end: the stream of Qwen Code is one of Claude Code that has more.
    found = (name for name in reversed(_IS_OUTPUT) if any(map(_IS_OUTPUT[name], ends)))
    return next(found, "")
