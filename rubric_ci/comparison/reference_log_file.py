"""The log of a pinned reference as a file of its folder, next to the reports that are pooled."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotReadReport, CannotWriteFile
from rubric_ci.model.reference_log import LOG_VERSION, ReferenceLog
from rubric_ci.parsing import typed_json
from rubric_ci.parsing.typed_json import Mismatch
from rubric_ci.project.discovery import read_text, write_text

LOG_FILE: Final = "reference.json"


def read_log(folder: Path) -> ReferenceLog | None:
    """Return the log of a folder, None if it has none; raises CannotReadReport."""
    path = folder / LOG_FILE
    if not path.exists():
        return None
    try:
        text = read_text(path)
        typed_json.load(text)
        log: ReferenceLog = typed_json.value_of(ReferenceLog, text)
    except Mismatch as error:
        raise CannotReadReport(
            f"{path.as_posix()}: not the log of a reference: {error}", _HINT
        ) from error
    if log.version > LOG_VERSION or not log.decisions:
        raise CannotReadReport(
            f"{path.as_posix()}: version {log.version}, or no decision: it cannot be read", _HINT
        )
    return log


def write_log(folder: Path, log: ReferenceLog) -> None:
    """Write the log, atomically; raises CannotWriteFile."""
    path = folder / LOG_FILE
    try:
        write_text(path, json.dumps(asdict(log), indent=2) + "\n")
    except OSError as error:
        raise CannotWriteFile(
            f"{path.as_posix()}: cannot write the log: {error.strerror}", "check --baseline"
        ) from error


_HINT = "remove the folder to start a new reference, or upgrade rubric-ci"
