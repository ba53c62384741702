"""An agent program: how it is started, and how its output is read."""

from collections.abc import Callable, Mapping
from dataclasses import field

from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.trace import Trace

Read = Callable[[str, str], Trace]
"""The reader of stdout and stderr; raises AgentFailed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A command line, environment and home folder."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)  # {home}: its home folder
    files: Mapping[str, str] = field(default_factory=dict)  # in its home folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent program."""

    judge: Callable[[str], Start]
    """The start that marks answers with a model, "" for its own: without tools."""
    work: Callable[[str, tuple[str, ...] | None, bool], Start]
    """The start that works on files: model, tools or None for its own, files of the project."""
    planted: tuple[str, ...]  # globs of what it reads from a working folder by itself
    host: str
    read: Read
    is_output: Callable[[Mapping[str, object]], bool]
    """Whether an object is one that only this agent prints."""


def option(name: str, value: str) -> tuple[str, ...]:
    """Return an option with its value; () without a value."""
    return (name, value) if value else ()
