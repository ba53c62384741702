"""What the GitHub runner reads from a step: its summary and its outputs, through files."""

import secrets
from collections.abc import Mapping
from pathlib import Path

from rubric_ci.errors import CannotWriteFile


def add_summary(file: str, markdown: str) -> None:
    """Append to the step's summary, the file of `GITHUB_STEP_SUMMARY`."""
    _append(file, markdown.rstrip("\n") + "\n")


def set_outputs(file: str, values: Mapping[str, str]) -> None:
    """Append to the step's outputs, the file of `GITHUB_OUTPUT`; any value is taken whole.

    The delimiter is random, so that no value can end itself and begin another output.
    """
    _append(file, "".join(_output(name, value) for name, value in values.items()))


def _output(name: str, value: str) -> str:
    delimiter = f"end-{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _append(file: str, text: str) -> None:
    try:
        with Path(file).open("a", encoding="utf-8", errors="backslashreplace", newline="\n") as end:
            end.write(text)
    except OSError as error:
        raise CannotWriteFile(f"{file}: {error.strerror}", "the runner makes this file") from error
