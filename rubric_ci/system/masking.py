"""The secrets that this process knows, and the one function that takes them out of a text; state.

They are state of the process, as the streams are that they must not reach: the secret values of
the environment at any moment, and what the configuration added to them.
"""

import os
import sys
from collections.abc import Container, Iterable, Mapping
from typing import Any, TypeVar

from rubric_ci.system.actions_runner import in_workflow
from rubric_ci.system.output import is_file
from rubric_ci.text import redact as pure

T = TypeVar("T")

_hidden: set[str] = set()
_sent: set[str] = set()  # lines that the runner masks already
_known: tuple[Mapping[Any, Any], set[str], pure.Redactor] = ({}, set(), pure.redactor(()))


def hide(secrets: Iterable[str]) -> None:
    """Add values that no output may show from now on."""
    _hidden.update(secrets)


def redactor() -> pure.Redactor:
    """Return a redactor of the secrets that are known now."""
    global _known  # noqa: PLW0603 - the state of the process, as above
    # NOTE: `os.environ` decodes each value that is read, a hundred times as long as a short text
    # takes; what it decodes says as well whether it changed. A copy is faster compared than hashed.
    raw = getattr(os.environ, "_data", os.environ)
    environment, hidden, found = _known
    if environment != raw or hidden != _hidden:
        found = pure.redactor((*_hidden, *pure.environment_secrets(os.environ)))
        _known = dict(raw), set(_hidden), found
    return found


def redact(text: str) -> str:
    """Return the text with every known secret replaced by `***`."""
    return redactor()(text)


def redacted(value: T, kept: Container[str] = ()) -> T:
    """Return a value with every text in it redacted, but the fields that `kept` names."""
    found = redactor()
    return pure.redacted(value, found, kept) if found.needles else value


def mask_on_runner(secrets: Iterable[str]) -> None:
    """Let a GitHub runner mask values in its log; a file would keep them, and gets nothing.

    NOTE: runners read commands from standard error as well; standard output may be data.
    """
    if not in_workflow(os.environ) or is_file(sys.stderr):
        return
    lines = (line.strip() for secret in secrets for line in secret.splitlines())
    masks = {line for line in lines if len(line) >= pure.SHORTEST} - _sent
    _sent.update(masks)
    sys.stderr.flush()
    for line in sorted(masks):
        escaped = line.replace("%", "%25")
        sys.stderr.buffer.write(f"::add-mask::{escaped}\n".encode("utf-8", "surrogateescape"))
    sys.stderr.buffer.flush()
