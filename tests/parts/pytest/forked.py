"""Sessions of pytest in forks of a process that has imported pytest and the program already.

A process that starts them takes 1 to 2 s of processor time, a fork 0.3 s. The process that is
forked is a fork of the tests, made before the first one: it has one thread, and nothing that a test
changed.
"""

import atexit
import faulthandler
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

ROOT = str(Path(__file__).parents[3])
LOADED = (  # what a session imports besides what the tests have imported, for half of its time
    "aiohttp",
    "hypothesis",
    "rubric_ci.parts.pytest.hooks",
    "rubric_ci.files.validation.assertion_rules",
    "rubric_ci.files.validation.config_rules",
    "rubric_ci.files.validation.evaluator_rules",
    "rubric_ci.files.validation.model_rules",
    "rubric_ci.files.validation.project_rules",
)
_control: list[socket.socket] = []


@contextmanager
def ready() -> Iterator[None]:
    """Make the process that is forked; it ends with this context."""
    if sys.platform != "linux":  # sessions start as usual
        yield
        return
    for stream in (sys.__stdout__, sys.__stderr__):
        print(end="", file=stream, flush=True)
    ours, theirs = socket.socketpair()
    if (pid := os.fork()) == 0:
        ours.close()
        _serve(theirs)
    theirs.close()
    _control.append(ours)
    yield
    _control.remove(ours)
    ours.close()
    os.waitpid(pid, 0)


def run(
    arguments: Sequence[str], root: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `python -m pytest` in a folder."""
    if not _control:
        return start(arguments, root, environment)
    request = {"arguments": [*arguments], "root": str(root), "environment": {**environment}}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        code = _ask(_control[0], request, [output.fileno(), errors.fileno()])
        texts = []
        for each in (output, errors):
            each.seek(0)
            texts.append(each.read().decode())
    return subprocess.CompletedProcess(arguments, code, *texts)


def start(
    arguments: Sequence[str], root: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `python -m pytest` in a folder, in a process that imports what it needs."""
    command = [sys.executable, "-m", "pytest", *arguments]
    options: dict[str, Any] = {"capture_output": True, "text": True, "encoding": "utf-8"}
    return subprocess.run(command, check=False, cwd=root, env=environment, **options)


def _ask(control: socket.socket, request: Mapping[str, Any], streams: list[int]) -> int:
    """Return the exit code of the session."""
    data = json.dumps(request).encode()
    socket.send_fds(control, [len(data).to_bytes(4, "big")], streams)
    control.sendall(data)
    pid = int.from_bytes(_read(control, 4), "big")
    try:
        return int.from_bytes(_read(control, 4), "big", signed=True)
    except BaseException:  # the time of the test is over
        os.kill(pid, signal.SIGKILL)
        _read(control, 4)
        raise


def _read(control: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        if not (more := control.recv(length - len(data))):
            raise EOFError
        data += more
    return data


def _serve(control: socket.socket) -> NoReturn:
    """Fork for one request after the other, until the tests have ended."""
    try:
        _leave_the_tests(control)
        while True:
            length, streams, *_ = socket.recv_fds(control, 4, 2)
            if not length:
                os._exit(0)
            request = json.loads(_read(control, int.from_bytes(length, "big")))
            _load()
            if (pid := os.fork()) == 0:
                control.close()
                _become(request, streams)
            for each in streams:
                os.close(each)
            control.sendall(pid.to_bytes(4, "big"))
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            control.sendall(code.to_bytes(4, "big", signed=True))
    finally:
        os._exit(1)


def _leave_the_tests(control: socket.socket) -> None:
    """Let go of what the tests have and a new process has not: files, signals, hooks, modules."""
    faulthandler.disable()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.closerange(3, control.fileno())
    os.closerange(control.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
    for number in (signal.SIGALRM, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.meta_path[:] = [each for each in sys.meta_path if "pytest" not in type(each).__module__]
    for name in [name for name in sys.modules if name.partition(".")[0] in {"tests", "conftest"}]:
        del sys.modules[name]
    sys.path[:] = [*(each for each in sys.path if each not in {"", ROOT}), ROOT]
    warnings.resetwarnings()


def _load() -> None:
    """Import what a session needs, with the first one: few workers of a whole run have one."""
    for name in LOADED:
        import_module(name)
    gc.freeze()


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> NoReturn:
    """Run the session as a process of its own does, and end."""
    code = 1
    try:
        for number, each in enumerate(streams, start=1):
            os.dup2(each, number)
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
        os.chdir(request["root"])
        os.environ.clear()
        os.environ.update(request["environment"])
        time.tzset()
        sys.path.insert(0, request["root"])
        sys.argv = ["pytest", *request["arguments"]]
        code = _code()
        atexit._run_exitfuncs()
        print(end="", flush=True)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def _code() -> int:
    try:
        runpy.run_module("pytest", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return int(end.code or 0)
    return 0
