"""Commands of GitHub's workflows in a log: annotations, their limits, and text without commands."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from rubric_ci.text.escape import visible

T = TypeVar("T")

PER_LEVEL = 10  # GitHub shows this many errors, warnings and notices per step and drops the rest
MESSAGE_LIMIT = 4096  # the runner cuts longer messages


def command(name: str, message: str, properties: Mapping[str, str | int] | None = None) -> str:
    """Return one line, such as `::error file=a.yaml,line=3::message`, without empty properties.

    A message that the runner would cut is cut here, with an ellipsis.
    """
    shown = ",".join(
        f"{key}={command_property(str(value))}"
        for key, value in (properties or {}).items()
        if value != ""
    )
    is_long = len(message) > MESSAGE_LIMIT
    text = message[: MESSAGE_LIMIT - 1] + "…" if is_long else message
    return f"::{name}{' ' if shown else ''}{shown}::{command_data(text)}"


def command_data(text: str) -> str:
    """Escape the message of a workflow command."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """Escape a property of a workflow command, such as `file` or `title`."""
    return command_data(text).replace(":", "%3A").replace(",", "%2C")


def disable_workflow_commands(text: str, token: str) -> str:
    """Wrap text so that the runner reads no command in it; the token must be random.

    The runner acts on `::name::` at the start and on `##[name]` anywhere in a line of output.
    """
    return f"::stop-commands::{token}\n{text.rstrip(chr(10))}\n::{token}::\n"


def within_cap(entries: Sequence[T], cap: int = PER_LEVEL) -> tuple[Sequence[T], Sequence[T]]:
    """Split the annotations of one level into those shown and the rest.

    If there are too many, the last place stays free for one that counts the rest.
    """
    if len(entries) <= cap:
        return entries, ()
    return entries[: cap - 1], entries[cap - 1 :]
