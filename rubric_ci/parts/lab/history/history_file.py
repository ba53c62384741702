"""The file of a history: JSON Lines, one run per line, the oldest first."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rubric_ci.errors import CannotReadHistory, CannotWriteFile
from rubric_ci.files.project.discovery import check_place, read_text, write_text
from rubric_ci.parts.lab.history.record import RunRecord, dump, load
from rubric_ci.system.file_io import create_folder
from rubric_ci.system.scratch import alone_in


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the folder of a history: of two processes that add a run, none loses the other's.

    Raises CannotWriteFile as `add` does.
    """
    check_place(path)
    try:
        create_folder(path.parent)
        with alone_in(path.parent):
            yield
    except OSError as error:
        raise _cannot_write(path, error) from error


def add(path: Path, record: RunRecord) -> bool:
    """Add a run; return False if the file has it already.

    Raises CannotReadHistory if a line is not a run, CannotWriteFile if the file is read-only or a
    link leads it out of the repository.
    """
    check_place(path)
    known = _read(path) if path.exists() else []
    if record in known:
        return False
    every = sorted([*known, record], key=lambda each: each.started_at)
    try:
        write_text(path, "".join(f"{dump(each)}\n" for each in every))
    except OSError as error:
        raise _cannot_write(path, error) from error
    return True


def records(path: Path, last: int | None = None) -> Sequence[RunRecord]:
    """Return the runs, at least one; of `last`, the newest ones only."""
    found = _read(path) if path.exists() else []
    if not found:
        raise CannotReadHistory(
            f"{path}: there is no history",
            "add a run with `rubric-ci history add`, or set another file with --history",
        )
    return found[-last:] if last else found


def _cannot_write(path: Path, error: OSError) -> CannotWriteFile:
    return CannotWriteFile(
        f"{path}: cannot write the history: {error.strerror}",
        "make the file writable, or set another one with --history",
    )


def _read(path: Path) -> list[RunRecord]:
    lines = enumerate(read_text(path).split("\n"), 1)
    return [load(line, f"{path}:{number}") for number, line in lines if line.strip()]
