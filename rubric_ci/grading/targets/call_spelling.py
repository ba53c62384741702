"""One spelling of calls for all agents: of shells, of paths and of the tools of MCP servers.

The folder of a trial has a random name: with it no glob fits, and no judge request comes twice.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path

from rubric_ci.models.agents import named
from rubric_ci.text.shell_commands import unwrapped
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import with_texts
from rubric_ci.values.trace import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The names that differ from trial to trial, or from agent to agent."""

    places: Mapping[Path, str] = field(default_factory=dict)  # folders, and how each is written
    servers: Mapping[str, str] = field(default_factory=dict)
    """How the names of a server's tools begin, and how they are written."""

    def tool(self, name: str) -> str:
        """Return the name of a tool: `mcp__SERVER__TOOL` for one of a server."""
        for start, written in self.servers.items():
            if name.startswith(start):
                return written + name.removeprefix(start)
        return name


def server_spellings(names: Iterable[str], start: str) -> Mapping[str, str]:
    """Return how the tools of servers are written, by how an agent begins their names."""
    known = {name: re.sub(r"[^\w-]", "_", name, flags=re.ASCII) for name in names}
    longest_first = sorted(known, key=len, reverse=True)
    return {start.format(known[name]): f"mcp__{name}__" for name in longest_first}


def spelled(steps: Iterable[Step], spelling: Spelling) -> tuple[Step, ...]:
    """Return the steps without shells around commands, and with one name for each thing."""
    shorten = _shortener(spelling.places)
    return tuple(replace(_step(each, shorten), tool=spelling.tool(each.tool)) for each in steps)


def _shortener(places: Mapping[Path, str]) -> Callable[[str], str]:
    names = {
        name: short
        for folder, short in places.items()
        for name in (str(folder), os.path.realpath(folder))
    }
    longest_first = sorted(names, key=len, reverse=True)
    either = "|".join(map(re.escape, longest_first))
    place = re.compile(rf"(?P<inside>{either})/(?=[\w.@*~-])|(?P<itself>{either})(?![\w.-])")

    def written(found: re.Match[str]) -> str:
        if folder := found["itself"]:
            return names[folder]
        short = names[found["inside"]]
        return "" if short == "." else f"{short}/"

    return lambda text: place.sub(written, text) if longest_first else text


def _step(step: Step, shorten: Callable[[str], str]) -> Step:
    arguments = step.arguments
    if step.tool in named("shell") and isinstance(arguments, dict):
        arguments = {
            key: unwrapped(value) if key in {"command", "cmd"} and isinstance(value, str) else value
            for key, value in arguments.items()
        }
    return replace(
        step,
        arguments=with_texts(arguments, shorten),
        result=shorten(step.result),
        error=shorten(step.error),
    )
