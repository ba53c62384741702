"""A server that a run starts: its process group, its output, and its end, also after our own.

A watcher in its own session waits for the end of this process. Where that comes without
`Server.stop`, as after SIGKILL, it kills the group and runs the command that stops the server.
"""

import os
import re
import shlex
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Final

from rubric_ci.errors import CannotRunScript
from rubric_ci.system import file_io, output_and_masking
from rubric_ci.system.processes import OWN_GROUP, hide_memory, send_signal
from rubric_ci.system.scratch import VARIABLE, scratch_folder
from rubric_ci.values.dataclass import dataclass

LINES: Final = 20  # of the output, that a message shows
STOP_SECONDS: Final = 60.0  # for the command that stops a server
_GRACE_SECONDS: Final = 2.0  # from SIGTERM to SIGKILL
_MOST_LOG: Final = 20_000_000  # bytes of a log
_MOST_LINE: Final = 20_000  # bytes: a longer line is not kept
_MOST_SHOWN: Final = 200  # characters of a line in a message
_CHUNK: Final = 64 * 1024
_POLL_SECONDS: Final = 0.02
_WATCHER: Final = 'read -r _ && exit; kill -s KILL -- "-$1" 2>/dev/null; [ -z "$2" ] || eval "$2"'

Line = str | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand:
    """How a server is started and stopped."""

    start: Line  # a line for the shell, or argv
    stop: Line = ""  # empty: its process group is killed only
    cwd: Path
    environment: Mapping[str, str]
    log: Path


class Server:
    """A started server; raises CannotRunScript if it cannot be started."""

    def __init__(self, command: ServerCommand) -> None:
        self._command = command
        self._log = _Log(command.log)
        self._held = ExitStack()
        folder = self._held.enter_context(scratch_folder())
        self._environment = {**command.environment, VARIABLE: str(folder)}
        try:
            self._process, self._reader = self._spawned(command.start)
        except (OSError, ValueError) as error:
            self._held.close()
            shown = shlex.join([command.start] if isinstance(command.start, str) else command.start)
            raise CannotRunScript(f"{shown} cannot be started: {error}") from None
        self._watcher = Watcher(command.stop, command.cwd, self._environment)
        self._watcher.watch(self._process.pid)
        self.is_stopped = False

    @property
    def status(self) -> int | None:
        """The exit status of its process; None: it runs."""
        return self._process.poll()

    @property
    def last_lines(self) -> str:
        """The end of its output, without secrets."""
        if self.status is not None:
            self._reader.join(_GRACE_SECONDS)
        return "\n".join(self._log.tail)

    def stop(self) -> str:
        """End all of its processes; return why its `stop` command failed, or ""."""
        if self.is_stopped:
            return ""
        self.is_stopped = True
        try:
            return self._stopped() if self._command.stop else ""
        finally:
            self._end()

    def _stopped(self) -> str:
        process, reader = self._spawned(self._command.stop)
        try:
            status = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return f"`stop` did not end within {STOP_SECONDS:g} s and was killed"
        finally:
            send_signal(process, "SIGKILL")
            reader.join(_GRACE_SECONDS)
        return f"`stop` ended with status {status}: {self.last_lines}" if status else ""

    def _end(self) -> None:
        if self.status is None:
            send_signal(self._process, "SIGTERM")
        deadline = monotonic() + _GRACE_SECONDS
        while _is_running(self._process) and monotonic() < deadline:
            sleep(_POLL_SECONDS)
        send_signal(self._process, "SIGKILL")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_SECONDS)
        self._watcher.dismiss()
        self._held.close()  # which ends what left the group
        self._reader.join(_GRACE_SECONDS)

    def _spawned(self, line: Line) -> "tuple[subprocess.Popen[bytes], Thread]":
        """Return a process in its own group, and the thread that reads its output."""
        hide_memory()
        process = subprocess.Popen(
            line,
            shell=isinstance(line, str),
            cwd=self._command.cwd,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            **OWN_GROUP,
        )
        reader = Thread(target=self._log.read, args=(process,), daemon=True)
        reader.start()
        return process, reader


def free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 that nothing listens on; raises CannotRunScript."""
    with ExitStack() as held:
        try:
            sockets = [held.enter_context(socket.socket()) for _ in range(count)]
            for each in sockets:
                each.bind(("127.0.0.1", 0))
        except OSError as error:
            raise CannotRunScript(f"there is no free port on 127.0.0.1: {error}") from None
        return [each.getsockname()[1] for each in sockets]


class _Log:
    """The output of a server, without secrets: in a file, and its last lines."""

    def __init__(self, path: Path) -> None:
        self._path: Path | None = path
        self._left = _MOST_LOG
        self.tail: deque[str] = deque(maxlen=LINES)

    def read(self, process: "subprocess.Popen[bytes]") -> None:
        """Read the output to its end, so that no pipe is ever full."""
        assert process.stdout is not None  # noqa: S101 - it is opened as a pipe
        rest = b""
        with process.stdout as stream, suppress(ValueError, OSError):
            while chunk := stream.read(_CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                if len(rest) > _MOST_LINE:
                    lines, rest = [*lines, rest], b""
                self._keep(lines)
        self._keep([rest] if rest else [])

    def _keep(self, lines: list[bytes]) -> None:
        # A line is masked as a whole: half a key is not recognised.
        texts = [_log_line(line) for line in lines]
        self.tail.extend(text[:_MOST_SHOWN] for text in texts if text.strip())
        data = "".join(f"{text}\n" for text in texts).encode()
        if self._path is None or not data:
            return
        self._left -= len(data)
        try:
            file_io.append(self._path, data if self._left > 0 else b"(the rest is not kept)\n")
        except OSError:  # a full disk must not stop the server
            self._path = None
        if self._left <= 0:
            self._path = None


def _log_line(line: bytes) -> str:
    if len(line) > _MOST_LINE:
        return f"(a line of {len(line):,} bytes or more)"
    text = output_and_masking.redact(line.decode("utf-8", "replace")).rstrip("\r")
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Watcher:
    """Ends the group of a process if ours ends without doing so; not on Windows."""

    def __init__(self, stop: Line, cwd: Path, environment: Mapping[str, str]) -> None:
        self._stop = stop if isinstance(stop, str) else shlex.join(stop)
        self._cwd, self._environment = cwd, environment
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        """Begin with the group of a process."""
        if sys.platform == "win32":
            return
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHER, "sh", str(group), self._stop],
            cwd=self._cwd,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """End the watcher, which ends nothing."""
        if self._process:
            with suppress(OSError, subprocess.TimeoutExpired):
                self._process.communicate(b"\n", timeout=_GRACE_SECONDS)


def _is_running(process: "subprocess.Popen[bytes]") -> bool:
    """Return True if a process of the group is left."""
    ended = process.poll() is not None  # reaps it, so that no zombie keeps the group
    if sys.platform == "win32":
        return not ended
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS: only zombies are left
        return not ended
    return not ended or sys.platform != "linux" or _is_alive(process.pid)


def _is_alive(group: int) -> bool:
    """Return True if a process of a group is no zombie, which an init process reaps late."""
    for path in Path("/proc").iterdir():
        with suppress(OSError):
            if path.name.isdigit():
                state, _, of, *_ = (path / "stat").read_text().rpartition(")")[2].split()
                if of == str(group) and state != "Z":
                    return True
    return False
