"""Git's objects by name, read by one process that starts with the first and ends with its owner."""

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from weakref import finalize

from rubric_ci.errors import CannotUseGit

COMMAND = ("git", "cat-file", "--batch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """A blob, commit, tree or tag."""

    id: str
    content: bytes


class Objects:
    """The objects of a repository; not for several threads at once."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self._root, self._environment = root, environment
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # id of the process that started it: a forked one needs its own

    def find(self, name: str) -> Object | None:
        """Return the object that a name of `git rev-parse` means; None: there is none."""
        if not name or "\n" in name or "\0" in name:
            return None
        line = f"{name}\n".encode("utf-8", "surrogateescape")
        try:
            return _ask(self._running(), line)
        except (OSError, ValueError):
            self._process = None  # Ctrl-C ends git as well, while a report is still to be written
            try:
                return _ask(self._running(), line)
            except (OSError, ValueError):
                raise _unreadable(name) from None

    def read(self, object_id: str) -> bytes:
        """Return the bytes of an object; raises CannotUseGit if it cannot be read."""
        found = self.find(object_id)
        if found is None:
            raise _unreadable(object_id)
        return found.content

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._owner != os.getpid():
            try:
                self._process = subprocess.Popen(
                    COMMAND,
                    cwd=self._root,
                    env=self._environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            except FileNotFoundError:
                raise CannotUseGit("git is not installed, or not on PATH") from None
            self._owner = os.getpid()
            finalize(self, _end, self._process, self._owner)
        return self._process


def _ask(process: "subprocess.Popen[bytes]", line: bytes) -> Object | None:
    """Return the answer to a line; raises OSError or ValueError if git has ended."""
    assert process.stdin is not None  # noqa: S101 - both are pipes, see above
    assert process.stdout is not None  # noqa: S101
    process.stdin.write(line)
    process.stdin.flush()
    header = process.stdout.readline().split()
    if not header:
        raise BrokenPipeError
    if len(header) != 3 or not header[2].isdigit():  # "<name> missing", "<name> ambiguous"
        return None
    content = process.stdout.read(int(header[2]))
    if process.stdout.read(1) != b"\n":  # the line feed after the content
        raise BrokenPipeError
    return Object(id=header[0].decode(), content=content)


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    """Close the pipes, and end git where this process started it."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    if owner == os.getpid():
        process.kill()
        process.wait()


def _unreadable(name: str) -> CannotUseGit:
    return CannotUseGit(f"git object {name} cannot be read", "fetch it, or run `git fsck`")
