"""The program of a service, and the placeholders of its texts."""

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Final

from rubric_ci.values.dataclass import dataclass

_PORT: Final = re.compile(r"(?<!\$)\{(PORT(?:_[A-Z0-9_]+)?)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceProgram:
    """The program of a service, which a run starts once for each side.

    Its texts may hold `{PORT}`, `{PORT_NAME}` and `{SIDE}`.
    """

    start: str | tuple[str, ...]  # a line for the shell, or argv
    setup: str | tuple[str, ...] = ""  # once for each side and folder, before the start
    stop: str | tuple[str, ...] = ""  # always run at the end; empty: its processes are killed
    ready: str = ""  # the path that replies with 2xx; empty: the port accepts a connection
    ready_seconds: float = 60.0
    setup_seconds: float = 600.0
    cwd: str = "."  # relative to the repository root
    env: tuple[str, ...] = ()  # variables that it gets

    @property
    def ports(self) -> tuple[str, ...]:
        """The names of the ports that its texts hold; `PORT` always."""
        values = [getattr(self, field.name) for field in fields(self)]
        texts = [text for value in values for text in _texts(value)]
        return tuple(dict.fromkeys(["PORT", *(n for text in texts for n in _PORT.findall(text))]))


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return value if isinstance(value, tuple) else ()


def filled(text: str, values: dict[str, str]) -> str:
    """Return a text with the values of its placeholders; others are left as they are."""
    return re.sub(r"(?<!\$)\{([A-Z][A-Z0-9_]*)\}", lambda m: values.get(m[1], m[0]), text)
