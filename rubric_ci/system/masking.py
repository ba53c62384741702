"""The secrets that this process knows, and the one function that takes them out of a text; state.

They are state of the process, as the streams are that they must not reach: the secret values of
the environment at any moment, and what the configuration added to them.
"""

import os
import sys
from collections.abc import Iterable
from functools import lru_cache

from rubric_ci.system.output import is_file
from rubric_ci.system.runner import in_workflow
from rubric_ci.text import redact as pure

_hidden: set[str] = set()
_sent: set[str] = set()  # lines that the runner masks already


def hide(secrets: Iterable[str]) -> None:
    """Add values that no output may show from now on."""
    _hidden.update(secrets)


def redactor() -> pure.Redactor:
    """Return what replaces the secrets that are known now."""
    # NOTE: `os.environ` decodes each value that is read, a hundred times as long as a short text
    # takes; what it decodes says as well whether it changed.
    raw = getattr(os.environ, "_data", os.environ)
    return _redactor(frozenset(_hidden), frozenset(raw.items()))


@lru_cache(maxsize=4)
def _redactor(hidden: frozenset[str], _environment: frozenset[object]) -> pure.Redactor:
    return pure.redactor((*hidden, *pure.environment_secrets(os.environ)))


def redact(text: str) -> str:
    """Return the text with every known secret replaced by `***`."""
    return redactor()(text)


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
