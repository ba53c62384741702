"""The log of a pinned reference as a file of its folder, next to the reports that are pooled."""

from functools import cache
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from rubric_ci.errors import CannotReadReport, CannotWriteFile
from rubric_ci.model.reference_log import LOG_VERSION, ReferenceLog
from rubric_ci.project.discovery import read_text, write_text

LOG_FILE: Final = "reference.json"


def read_log(folder: Path) -> ReferenceLog | None:
    """Return the log of a folder, None if it has none; raises CannotReadReport."""
    path = folder / LOG_FILE
    if not path.exists():
        return None
    try:
        log = _adapter().validate_json(read_text(path))
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise CannotReadReport(
            f"{path.as_posix()}: not the log of a reference: {where}: {problem['msg']}", _HINT
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
        write_text(path, _adapter().dump_json(log, indent=2).decode() + "\n")
    except OSError as error:
        raise CannotWriteFile(
            f"{path.as_posix()}: cannot write the log: {error.strerror}", "check --baseline"
        ) from error


@cache
def _adapter() -> TypeAdapter[ReferenceLog]:
    return TypeAdapter(ReferenceLog)


_HINT = "remove the folder to start a new reference, or upgrade rubric-ci"
