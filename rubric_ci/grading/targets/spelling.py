"""One spelling of calls: shells are unwrapped, and paths below the workspace are relative.

The folder of a trial has a random name: with it no glob fits, and no judge request comes twice.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from rubric_ci.model.json_value import JSON
from rubric_ci.model.trace import Step
from rubric_ci.models.agents import NAMED
from rubric_ci.text.shell_commands import unwrapped

Places: TypeAlias = Mapping[Path, str]
"""Folders, and how each is written."""


def spelled(steps: Iterable[Step], places: Places) -> tuple[Step, ...]:
    """Return the steps without shells around commands, and with paths relative to the places."""
    shorten = _shortener(places)
    return tuple(_step(each, shorten) for each in steps)


def _shortener(places: Places) -> Callable[[str], str]:
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
    if step.tool in NAMED["shell"] and isinstance(arguments, dict):
        arguments = {
            key: unwrapped(value) if key in {"command", "cmd"} and isinstance(value, str) else value
            for key, value in arguments.items()
        }
    return replace(
        step,
        arguments=_shortened(arguments, shorten),
        result=shorten(step.result),
        error=shorten(step.error),
    )


def _shortened(value: JSON, shorten: Callable[[str], str]) -> JSON:
    match value:
        case str():
            return shorten(value)
        case list():
            return [_shortened(each, shorten) for each in value]
        case dict():
            return {key: _shortened(each, shorten) for key, each in value.items()}
    return value
