"""Output streams that survive a closed pipe and report a full disk.

A reader that stops early, such as `head`, changes neither the work nor the exit code. No stream
shows a secret that the process knows, not even in the traceback of a bug.
"""

import io
import sys
from codecs import lookup
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

from rubric_ci.errors import CannotWriteFile
from rubric_ci.system.masking import redact

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SPELLED_OUT: Final = "backslashreplace"  # encodings of Windows lack most characters


def open_streams() -> None:
    """Replace stdout and stderr by streams that hide secrets and survive a closed pipe."""
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


class _Redacting(io.TextIOWrapper):
    """Writes text with `***` in place of every secret."""

    def write(self, text: str, /) -> int:
        super().write(redact(text))
        return len(text)


def _safe(stream: TextIO, name: str) -> TextIO:
    if stream is None:
        return stream
    if stream.isatty():
        return _Redacting(
            stream.buffer, encoding=_encoding(stream), errors=SPELLED_OUT, line_buffering=True
        )
    raw = getattr(stream.buffer, "raw", stream.buffer)  # with -u there is only one layer
    return _Redacting(
        io.BufferedWriter(_SafeOutput(raw, name)),
        encoding=_encoding(stream),
        errors=SPELLED_OUT,
        newline="\n",  # also on Windows: `git apply` takes no diff whose line ends were replaced
        line_buffering=bool(stream.line_buffering),
    )


def _encoding(stream: TextIO) -> str:
    """Return the encoding of a stream; UTF-8 for ASCII, which is what `LC_ALL=C` sets.

    NOTE: click takes ASCII for a mistake, and writes UTF-8 past this stream, and so past `redact`.
    """
    return "utf-8" if lookup(stream.encoding).name == "ascii" else stream.encoding
