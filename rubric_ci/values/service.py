"""A service that answers over HTTP: deployed, or started by a run once for each side."""

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Final

from rubric_ci.values.config import LlmTarget, Target
from rubric_ci.values.dataclass import dataclass

DEPLOYED: Final = "its service is deployed, and what answers there may have changed"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTarget(LlmTarget):
    """A service answers; `endpoint.http` says how it is asked.

    `depends_on` is None where it is not written: every file of the repository.
    """

    program: ServiceProgram | None = None  # None: it is deployed

    @property
    def url_before(self) -> str:
        """The URL of the deployed service of the base; empty: the base is not deployed."""
        return str(self.endpoint.options.get("url_before", ""))


def is_started(target: Target) -> bool:
    """Return True for a service that a run starts."""
    return isinstance(target, ServiceTarget) and target.program is not None


def at_base(target: Target, head: Target) -> Target:
    """Return a target of the base as it is asked, where the head's says where it is deployed."""
    if not isinstance(target, ServiceTarget) or target.program:
        return target
    options = {k: v for k, v in target.endpoint.options.items() if k != "url_before"}
    if url := head.url_before if isinstance(head, ServiceTarget) else target.url_before:
        options |= {"api_base": url, "url_before": url}
    return replace(target, endpoint=replace(target.endpoint, options=options))


def answers_on_both_sides(target: Target) -> bool:
    """Return True if the base of a change can be asked, and not only the server of the change.

    A service that is deployed at one place would answer as the head. Its kept answers count in
    place of the base's.
    """
    one_server = isinstance(target, ServiceTarget) and not (target.program or target.url_before)
    return not one_server


def always_selected(target: Target) -> str:
    """Return why each case of a target runs, whatever changed; empty: its files decide."""
    if isinstance(target, ServiceTarget) and target.program is None and target.depends_on is None:
        return DEPLOYED
    return ""


def filled(text: str, values: dict[str, str]) -> str:
    """Return a text with the values of its placeholders; others are left as they are."""
    return re.sub(r"(?<!\$)\{([A-Z][A-Z0-9_]*)\}", lambda m: values.get(m[1], m[0]), text)
