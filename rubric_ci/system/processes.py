"""Run a command in its own session and leave no process of it.

All processes of the session are killed when the command ends, times out or is cancelled.
"""

import asyncio
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from functools import cache, partial
from pathlib import Path
from tempfile import mkstemp
from time import perf_counter
from typing import Any, BinaryIO, Final

from rubric_ci.errors import CannotRunScript, ScriptTimedOut
from rubric_ci.system.actions_runner import how_to_set
from rubric_ci.system.output_and_masking import redact
from rubric_ci.text.redact import is_secret_name
from rubric_ci.values.dataclass import dataclass

OUTPUT_LIMIT = 8 * 1024 * 1024
STDERR_LIMIT = 64 * 1024  # bytes, from the end, where the reason is
TAIL_LENGTH = 300  # characters of an output in a message
_CHUNK = 64 * 1024
_GRACE_SECONDS = 2.0  # for pipes to close after the kill
_POLL_SECONDS = 0.25
_WATCH_SECONDS = 0.1  # between two looks at the size of a file
_PR_SET_DUMPABLE = 4
OWN_GROUP: Final[Mapping[str, Any]] = {
    "start_new_session": sys.platform != "win32",
    "creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
}
"""Of a process that is started: what it starts is killed with it."""

_OF_CMD = re.compile(r"[%^&|<>\r\n]")
_NODE = re.compile(r"Node\.js v[\d.]+")
_VARIABLE = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9]*_[A-Z0-9_]+(?![A-Za-z0-9_])")

_RUNNERS = ("ACTIONS_", "GITHUB_", "RUNNER_")
_INHERITED = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "TMPDIR", "LANG", "LANGUAGE"}
    | {"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP"}
    | {"USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "PROGRAMDATA"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command, its folder, environment and limits."""

    script: str | tuple[str, ...]  # a line for the shell, or argv
    cwd: Path
    known: Mapping[str, str]  # of this process: PATH, HOME and the locale of it are passed on
    env: tuple[str, ...] = ()  # further variables of it, by name
    added: Mapping[str, str] = field(default_factory=dict)  # variables with their values
    timeout_seconds: float
    stdin: str = ""
    gives_up: Callable[[bytes], bool] = lambda _: False  # its output so far says that it failed
    begun: Callable[[int], object] = lambda _: None  # gets the id of the process
    to_file: bool = False  # its stdout: a program that exits before a pipe is read loses the rest

    def __post_init__(self) -> None:
        """Raise CannotRunScript for a name in `env` that is not set, before anything is paid."""
        _check_names(self.env, self.known)

    @property
    def environment(self) -> dict[str, str]:
        return clean_environment(self.known, self.env) | dict(self.added)

    def __str__(self) -> str:
        """Return the command in backquotes, short enough for a message."""
        line = self.script if isinstance(self.script, str) else subprocess.list2cmdline(self.script)
        line = " ".join(redact(line).split())  # before it is cut: half a key is not recognised
        return f"`{line}`" if len(line) <= 120 else f"`{line[:117]}…`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The result of a command that was not stopped; its stderr has no secret of this process."""

    status: int  # negative: the signal that ended it
    stdout: str
    stderr: str  # its end, where it is long
    duration_seconds: float
    withheld: tuple[str, ...] = ()  # variables that the output names and the command did not get


def clean_environment(environment: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment of a script: PATH, HOME, the locale, and the given names."""
    named = tuple(names)
    _check_names(named, environment)
    return {
        name: value
        for name, value in environment.items()
        if name in _INHERITED or name.startswith("LC_") or name in named
    }


def _check_names(names: Iterable[str], environment: Mapping[str, str]) -> None:
    for name in names:
        if name.upper().startswith(_RUNNERS) and is_secret_name(name):
            raise CannotRunScript(f"`{name}`, named in `env`, is the runner's: no script gets it")
        if name not in environment:
            advice = how_to_set(name, environment)
            raise CannotRunScript(
                f"the environment variable `{name}`, named in `env`, is not set"
                f"{advice and f'; {advice}'}"
            )


def describe_exit(finished: Finished, why_withheld: str = "not listed in `env`") -> str:
    """Return the exit status and the end of the output: of stderr, else of stdout.

    Without a reason, as of a program that the user does not name, no variable is withheld.
    """
    tail = one_line_tail(finished.stderr) or one_line_tail(redact(finished.stdout))
    shown = f": {tail}" if tail else ", no output"
    return f"exit status {finished.status}{missing_variables(finished, why_withheld)}{shown}"


def missing_variables(finished: Finished, why: str = "not listed in `env`") -> str:
    """Return a hint at variables that the output names and the command did not get, or ""."""
    names = [f"`{name}`" for name in finished.withheld if why]
    verb = "is" if len(names) == 1 else "are"
    return f" ({', '.join(names)} {verb} set here, but {why})" if names else ""


def one_line_tail(output: str) -> str:
    """Return the end of an output in one line: the last line, then the text before it.

    The reason of a failure is in the last line, and messages are cut at their end.
    """
    *before, last = _without_stack(output).strip()[-TAIL_LENGTH:].splitlines() or [""]
    last, text = (" ".join(part.split()) for part in (last, " ".join(before)))
    return f"{last} (after: {text})" if text else last


def _without_stack(output: str) -> str:
    """Remove what node prints after an error: the places of its calls and the version of node."""
    lines = output.rstrip().splitlines()
    if not lines or not _NODE.fullmatch(lines[-1]):
        return output
    places = reversed([*enumerate(lines[:-1], start=1)])
    ends = (n for n, line in places if line and not line[0].isspace() and line != "}")
    return "\n".join(lines[: next(ends, len(lines))])


async def run(command: Command) -> Finished:
    """Run a command to its end; raises CannotRunScript."""
    if not command.to_file:
        return await _run(command)
    with _output_file() as (written, read):
        return await _run(command, written, read)


async def _run(
    command: Command, written: BinaryIO | None = None, read: BinaryIO | None = None
) -> Finished:
    started = perf_counter()
    process = await _start(command, written)
    command.begun(process.pid)
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None  # noqa: S101 - they are opened as pipes
    assert stderr is not None  # noqa: S101 - as above
    kill, over = partial(send_signal, process), asyncio.Event()
    pipes = asyncio.gather(
        _read_pipe(stdout, command, kill) if stdout else _watch(read, command, kill, over),
        _read_tail(stderr),
        _feed(stdin, command.stdin.encode()),
    )
    try:
        ended = await _wait(process, command.timeout_seconds)
    finally:
        kill()
        over.set()
        drained = await _drain(process, pipes)
    duration = perf_counter() - started
    if not ended:
        limit = f"{command.timeout_seconds:g} s"
        raise ScriptTimedOut(
            f"{command} did not end within {limit} and was killed",
            seconds=command.timeout_seconds,
            printed=_decoded(pipes.result()[0]) if drained else "",
            complained=redact(_decoded(pipes.result()[1])) if drained else "",
        )
    if not drained:
        raise CannotRunScript(f"{command} left a process behind that holds its output open")
    printed, stderr_tail, _ = pipes.result()
    if len(printed) > OUTPUT_LIMIT:
        raise CannotRunScript(f"{command} printed more than {OUTPUT_LIMIT} bytes")
    return Finished(
        status=process.returncode if process.returncode is not None else 0,
        stdout=_decoded(printed),
        stderr=redact(_decoded(stderr_tail)),
        duration_seconds=duration,
        withheld=_withheld(command, _decoded(stderr_tail + b"\n" + printed[-STDERR_LIMIT:])),
    )


def _withheld(command: Command, output: str) -> tuple[str, ...]:
    """Return the variables of upper case with an underscore that the output names."""
    missing = command.known.keys() - command.environment.keys()
    return tuple(name for name in dict.fromkeys(_VARIABLE.findall(output)) if name in missing)


@contextmanager
def _output_file() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Yield a new file to append to, and the same one to read; no run leaves it behind."""
    descriptor, name = mkstemp(prefix="rubric-ci-output-")
    with os.fdopen(descriptor, "rb") as read, Path(name).open("ab") as written:
        if sys.platform != "win32":
            Path(name).unlink()
        yield written, read
    with suppress(OSError):  # Windows keeps a file that a process holds open
        Path(name).unlink(missing_ok=True)


async def _start(command: Command, out: BinaryIO | None) -> Process:
    if not command.cwd.is_dir():
        raise CannotRunScript(f"{command} cannot run in {command.cwd}: there is no such folder")
    starting = asyncio.ensure_future(_spawn(command, out))
    try:
        return await asyncio.shield(starting)
    except (OSError, ValueError) as error:
        reason = str(error)
        if isinstance(error, OSError) and error.errno == errno.E2BIG:
            words = "a command with `{PROMPT}` needs `{PROMPT_FILE}` in its place"
            reason = f"{error.strerror}; {words}"
        raise CannotRunScript(f"{command} cannot be started: {reason}") from None
    except asyncio.CancelledError:
        with suppress(OSError, ValueError):
            await _abandon(await starting)
        raise


async def _abandon(process: Process) -> None:
    """Kill a command that was being started when the run was cancelled.

    NOTE: asyncio would kill only the process itself, and wait for the processes that it started.
    """
    send_signal(process)
    await _wait(process, _GRACE_SECONDS)
    _close(process)


@cache
def hide_memory() -> None:
    """Keep this process from scripts of the same user: its environment, memory and open files.

    NOTE: Linux only. A script that is root, or the shell that started us, can still be read.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


async def _spawn(command: Command, out: BinaryIO | None) -> Process:
    hide_memory()
    env = command.environment
    if isinstance(command.script, str):
        start = partial(asyncio.create_subprocess_shell, command.script)
    else:
        start = partial(asyncio.create_subprocess_exec, *_startable(command.script, env))
    return await start(
        stdin=PIPE, stdout=out or PIPE, stderr=PIPE, cwd=command.cwd, env=env, **OWN_GROUP
    )


def _startable(argv: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    """Return the words with the path of a program that Windows would not find, such as `npx.cmd`.

    Raises CannotRunScript for words that the cmd.exe of such a file could take for a command.
    """
    if sys.platform != "win32":
        return argv
    program = shutil.which(argv[0], path=environment.get("PATH"))
    if program is None or not program.lower().endswith((".cmd", ".bat")):
        return argv
    if word := next((each for each in argv[1:] if _OF_CMD.search(each)), ""):
        raise CannotRunScript(
            f"`{argv[0]}` is a batch file, whose cmd.exe cannot be given the word {word!r}; start "
            "the program in it, such as `node FILE`"
        )
    return [program, *argv[1:]]


def send_signal(process: "Process | subprocess.Popen[bytes]", name: str = "SIGKILL") -> None:
    """Send a signal to all processes of a group; on Windows, kill its tree. May be called again."""
    if sys.platform == "win32":
        if process.returncode is None:
            argv = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
            subprocess.run(argv, capture_output=True, check=False)
    else:
        # NOTE: macOS refuses with EPERM where only zombies are left.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, getattr(signal, name))


async def _wait(process: Process, seconds: float) -> bool:
    """Wait for the end of the process itself; return False after the timeout.

    NOTE: some Pythons let `wait()` hang while a grandchild holds a pipe (gh-119710), so the
    return code is looked at as well.
    """
    deadline = perf_counter() + seconds
    while process.returncode is None:
        left = deadline - perf_counter()
        if left <= 0:
            return False
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), min(left, _POLL_SECONDS))
    return True


async def _drain(process: Process, pipes: "asyncio.Future[tuple[bytes, bytes, None]]") -> bool:
    """Read the pipes to their end after the kill; return False if a process holds them open."""
    await _wait(process, _GRACE_SECONDS)
    done, _ = await asyncio.wait([pipes], timeout=_GRACE_SECONDS)
    if not done:
        pipes.cancel()
        await asyncio.gather(pipes, return_exceptions=True)  # or asyncio complains in the log
    _close(process)
    return bool(done)


def _close(process: Process) -> None:
    # NOTE: no public function closes this end of the pipes.
    process._transport.close()  # type: ignore[attr-defined]


async def _read_pipe(stream: StreamReader, command: Command, kill: Callable[[], None]) -> bytes:
    """Read to the end; keep little more than the limit, and end a command that gives up."""
    kept = bytearray()
    while chunk := await stream.read(_CHUNK):
        if len(kept) > OUTPUT_LIMIT:
            kill()
            continue
        kept += chunk
        if command.gives_up(bytes(kept)):
            kill()
    return bytes(kept)


async def _watch(
    file: BinaryIO | None, command: Command, kill: Callable[[], None], over: asyncio.Event
) -> bytes:
    """Read a file while a command writes it, as `_read_pipe` reads a pipe, to its end."""
    assert file is not None  # noqa: S101 - without a file there is a pipe
    kept = b""
    while True:
        is_last = over.is_set()
        if more := file.read(OUTPUT_LIMIT + 1 - len(kept)):
            kept += more
            if len(kept) > OUTPUT_LIMIT or command.gives_up(kept):
                kill()
        if is_last:
            return kept
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), _WATCH_SECONDS)


async def _read_tail(stream: StreamReader) -> bytes:
    kept = b""
    while chunk := await stream.read(_CHUNK):
        kept = (kept + chunk)[-STDERR_LIMIT:]
    return kept


async def _feed(stream: StreamWriter, data: bytes) -> None:
    """Write all of the input; a command may ignore it."""
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.write(data)
        await stream.drain()
    with suppress(BrokenPipeError, ConnectionResetError):
        stream.close()
        await stream.wait_closed()


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", errors="replace").replace("\r\n", "\n")
