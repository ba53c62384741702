"""Agent programs and the formats of agents' reports, by name, as parts offer them."""

from collections import ChainMap
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Protocol, cast

from rubric_ci.models.agents import atif, otlp
from rubric_ci.models.agents.program import Agent, Read, events
from rubric_ci.values.parts import Offers
from rubric_ci.values.trace import Step

AGENTS: Final[Mapping[str, Agent]] = Offers("programs")


class Format(Protocol):
    """A format of reports: its reader, and the recognition of one of its objects."""

    @property
    def read(self) -> Read:
        """The reader of a whole output."""

    def is_output(self, event: Mapping[str, object], /) -> bool:
        """Return True for an object that has this format only."""


# Agent programs first, then the formats of any command; a ChainMap writes to its first map only.
READERS: Final[Mapping[str, Format]] = ChainMap(
    {"atif": atif, "otlp": otlp}, cast("Any", Offers("programs"))
)


@cache
def named(kind: str) -> frozenset[str]:
    """Return the name of a kind of tools, and the names that these tools have, of all agents."""
    own = (name for agent in AGENTS.values() for name in agent.tools.get(kind, ()))
    return frozenset((kind, *own))


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
    return next(
        (name for name in reversed([*READERS]) if any(map(READERS[name].is_output, ends))), ""
    )
