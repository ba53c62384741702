"""Where output goes when nobody reads it any more, or there is no room for it.

A reader that stops early, such as `head`, changes nothing about the work or its exit code.
"""

import io
import sys
from typing import TYPE_CHECKING, BinaryIO, TextIO

from rubric_ci.errors import CannotWriteFile

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def open_streams() -> None:
    """Put streams that survive their reader in place of those that are no terminal."""
    sys.stdout = _lasting(sys.stdout, "standard output")
    sys.stderr = _lasting(sys.stderr, "")


class _Lasting(io.RawIOBase):
    """Writes while somebody reads; afterwards what is written is forgotten."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        super().__init__()
        self._file = file
        self._name = name  # empty: nobody can be told that it is full
        self._lost = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, data: "ReadableBuffer") -> int | None:
        if self._lost:
            return memoryview(data).nbytes
        try:
            return self._file.write(data)
        except OSError as error:
            self._lost = True
            if self._name and not isinstance(error, BrokenPipeError):
                raise CannotWriteFile(f"cannot write to {self._name}: {error.strerror}") from error
            return memoryview(data).nbytes


def _lasting(stream: TextIO, name: str) -> TextIO:
    if stream is None or stream.isatty():
        return stream
    raw = getattr(stream.buffer, "raw", stream.buffer)  # unbuffered, there is but one layer
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(raw, name)),
        encoding=stream.encoding,
        errors="backslashreplace",  # Windows writes files in an encoding of few characters
        line_buffering=bool(stream.line_buffering),
    )
