"""Output streams that survive a closed pipe and report a full disk.

A reader that stops early, such as `head`, changes neither the work nor the exit code.
"""

import io
import sys
from typing import TYPE_CHECKING, BinaryIO, TextIO

from rubric_ci.errors import CannotWriteFile

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def open_streams() -> None:
    """Replace stdout and stderr by streams that survive a closed pipe, except at a terminal."""
    sys.stdout = _safe(sys.stdout, "standard output")
    sys.stderr = _safe(sys.stderr, "")


class _SafeOutput(io.RawIOBase):
    """Writes until the first failure; discards everything after it."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        super().__init__()
        self._file = file
        self._name = name  # empty: a failure cannot be reported
        self._failed = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, data: "ReadableBuffer") -> int | None:
        if self._failed:
            return memoryview(data).nbytes
        try:
            return self._file.write(data)
        except OSError as error:
            self._failed = True
            if self._name and not isinstance(error, BrokenPipeError):
                raise CannotWriteFile(f"cannot write to {self._name}: {error.strerror}") from error
            return memoryview(data).nbytes


def _safe(stream: TextIO, name: str) -> TextIO:
    if stream is None or stream.isatty():
        return stream
    raw = getattr(stream.buffer, "raw", stream.buffer)  # with -u there is only one layer
    return io.TextIOWrapper(
        io.BufferedWriter(_SafeOutput(raw, name)),
        encoding=stream.encoding,
        errors="backslashreplace",  # encodings of Windows lack most characters
        line_buffering=bool(stream.line_buffering),
    )
