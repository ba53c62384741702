"""The command in a fork of the tests, which have imported it already, with what only a process has.

For tests of signals, terminals and ends: a process of its own takes 0.2 to 1 s of processor time to
start, a fork a tenth of it. What Python itself does at the start (its streams, their encodings) is
the subject of `tests/cli/test_encodings.py` and `tests/cli/test_output_streams.py`.
"""

import ctypes
import faulthandler
import gc
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import pexpect
from click import Context

from rubric_ci.__main__ import main
from rubric_ci.cli import commands
from rubric_ci.cli import main as command_line
from rubric_ci.system import output_and_masking
from tests.wait import wait_until

Command = tuple[list[str], Callable[[], None] | None]


def started(root: Path, environment: Mapping[str, str], *arguments: str) -> "subprocess.Popen[str]":
    """Start the command in a folder, with pipes for its output."""
    command, become = _command(environment, arguments)
    return subprocess.Popen(
        command,
        cwd=root,
        env={**environment},
        preexec_fn=become,  # noqa: PLW1509 - it is the fork
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def at_a_terminal(
    root: Path, environment: Mapping[str, str], *arguments: str, lines: int = 24, columns: int = 80
) -> "pexpect.spawn[str]":
    """Start the command in a folder, with a terminal of this size."""
    (program, *words), become = _command(environment, arguments)
    return pexpect.spawn(
        program,
        words,
        cwd=str(root),
        env={**environment},
        preexec_fn=become,
        encoding="utf-8",
        timeout=60,
        dimensions=(lines, columns),
    )


def press(terminal: "pexpect.spawn[str]", keys: str) -> None:
    """Press keys once the command reads them; what is typed before that is discarded."""
    wait_until(lambda: not terminal.getecho())
    terminal.send(keys)


def _command(environment: Mapping[str, str], arguments: tuple[str, ...]) -> Command:
    """Return a program, and what its process does instead; elsewhere a fork is not safe."""
    if sys.platform != "linux":
        return [sys.executable, "-m", "rubric_ci", *arguments], None
    _import(arguments)
    return [sys.executable, "-c", "raise SystemExit(99)"], lambda: _become(environment, arguments)


def _import(arguments: tuple[str, ...]) -> None:
    """Import what a fork would import anew: the command, and its module."""
    command_line.main.get_command(Context(command_line.main), arguments[0])
    for name in ("_".join(arguments[:2]), arguments[0]):
        if (Path(commands.__path__[0]) / f"{name}.py").exists():
            import_module(f"rubric_ci.cli.commands.{name}")


def _become(environment: Mapping[str, str], arguments: tuple[str, ...]) -> NoReturn:
    """Run the command as a process of its own does, and end."""
    code: Any = 1
    try:
        _leave_the_tests()
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["rubric-ci", *arguments]
        main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _leave_the_tests() -> None:
    """Let go of what the tests have and a new process has not: files, signals, secrets."""
    gc.freeze()
    faulthandler.disable()
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # also the pipe on which a failed start is told
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python begins; `subprocess` undoes it
    for place, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        stream = os.fdopen(place, mode, encoding="utf-8")
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    output_and_masking._hidden, output_and_masking._sent = set(), set()
    # pytest has imported readline, which asks in another way from then on.
    ctypes.c_void_p.in_dll(ctypes.pythonapi, "PyOS_ReadlineFunctionPointer").value = None
