"""The output of the process: its streams, their colours and width; and masking, of secrets in them.

A reader that stops early, such as `head`, changes neither the work nor the exit code. No stream
shows a secret that the process knows, not even in the traceback of a bug: these are state of the
process, the secret values of the environment at any moment and what the configuration added.
"""

import io
import os
import sys
from codecs import lookup
from collections.abc import Container, Iterable, Mapping
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TextIO, TypeVar

from rubric_ci.errors import CannotWriteFile
from rubric_ci.system.actions_runner import in_workflow
from rubric_ci.text import redact as pure

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

T = TypeVar("T")
SPELLED_OUT: Final = "backslashreplace"  # encodings of Windows lack most characters

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


def print_block(text: str, *, err: bool = False) -> None:
    """Print a block on standard output, or with `err` on standard error."""
    stream = sys.stderr if err else sys.stdout
    stream.flush()
    stream.buffer.write(_printable(text, stream).encode("utf-8", "surrogateescape"))
    stream.flush()


def _printable(text: str, stream: TextIO) -> str:
    # Output without blocks needs no patterns.
    from rubric_ci.text.escape import disable_workflow_commands, visible

    if stream.isatty():
        return visible(text)
    if not in_workflow(os.environ) or is_file(stream):
        return text
    from secrets import token_hex

    return disable_workflow_commands(visible(text), token_hex(16))


def is_file(stream: TextIO) -> bool:
    try:
        return S_ISREG(os.fstat(stream.fileno()).st_mode)
    except io.UnsupportedOperation:
        return False


def use_color(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return True at a terminal that is not dumb.

    NO_COLOR turns colours off, FORCE_COLOR on, also in a log.
    """
    if environment.get("NO_COLOR"):
        return False
    has_colors = stream.isatty() and environment.get("TERM") != "dumb"
    return bool(environment.get("FORCE_COLOR")) or has_colors


def is_interactive() -> bool:
    """Return True if a person can be asked.

    NOTE: standard input alone does not show it: on Windows the null device is a terminal, too.
    """
    return sys.stdin.isatty() and sys.stdout.isatty()


def wrapped(text: str, stream: TextIO) -> str:
    """Return a text whose long lines end at a word at a terminal; unchanged elsewhere."""
    if not stream.isatty():
        return text
    # A command without a message to show needs neither.
    from shutil import get_terminal_size
    from textwrap import TextWrapper

    wrapper = TextWrapper(
        width=get_terminal_size((100, 24)).columns,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(map(wrapper.fill, text.split("\n")))


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
