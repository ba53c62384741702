"""Real processes: their input, their output, and that none of them is left."""

import asyncio
import gc
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import CannotRunScript, ScriptTimedOut
from rubric_ci.system import processes
from rubric_ci.system.processes import (
    STDERR_LIMIT,
    Command,
    Finished,
    clean_environment,
    one_line_tail,
    run,
)
from tests import platforms
from tests.wait import wait_until

pytestmark = platforms.SIGNALS

STUBBORN = "trap '' TERM INT HUP; echo $$ > pid; while :; do sleep 1; done"
PATH = {"PATH": os.environ["PATH"]}


def execute(
    script: str | tuple[str, ...], cwd: Path, *, timeout: float = 20, **more: Any
) -> Finished:
    given = {"known": PATH, "timeout_seconds": timeout, **more}
    return asyncio.run(run(Command(script=script, cwd=cwd, **given)))


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def wait_for_file(path: Path) -> None:
    wait_until(lambda: path.exists() and bool(path.read_text().strip()))


def is_alive(pid: int) -> bool:
    ps = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, check=False)
    return ps.stdout.strip()[:1] not in {b"", b"Z"}


def wait_for_death(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


@pytest.mark.parametrize(
    ("script", "status", "stdout", "stderr"),
    [
        pytest.param("echo hello", 0, "hello\n", "", id="shell-line"),
        pytest.param(("echo", "a b", "$HOME"), 0, "a b $HOME\n", "", id="argv-is-not-expanded"),
        pytest.param("echo no >&2; exit 3", 3, "", "no\n", id="status-and-stderr"),
        pytest.param("printf 'a\\r\\nb'", 0, "a\nb", "", id="crlf"),
        pytest.param("printf '\\377'", 0, "�", "", id="not-utf-8"),
        pytest.param("kill -9 $$", -9, "", "", id="signal"),
    ],
)
def test_finished(
    script: str | tuple[str, ...], status: int, stdout: str, stderr: str, tmp_path: Path
) -> None:
    finished = execute(script, tmp_path)
    assert (finished.status, finished.stdout, finished.stderr) == (status, stdout, stderr)


def test_runs_in_its_folder(tmp_path: Path) -> None:
    assert execute("pwd -P", tmp_path).stdout.strip() == str(tmp_path.resolve())


AT = "    at run (file:///a.mjs:1:2)\n"
NODE = "\nNode.js v20.20.2\n"


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (f"Error: no disk\n{AT}{AT}{NODE}", "Error: no disk"),
        (
            f"    ^\n\nError: no disk\n    at a {{\n  code: 'E'\n}}\n{NODE}",
            "Error: no disk (after: ^)",
        ),
        (f"bad\nthing\n{AT}{NODE}", "thing (after: bad)"),
        (f"Error: {'x' * 9}\n{AT * 20}{NODE}", f"Error: {'x' * 9}"),
        ("Node.js v20.20.2\n", "Node.js v20.20.2"),
        (f"{AT}Node.js v20\n", "Node.js v20 (after: at run (file:///a.mjs:1:2))"),
        (f"Error\n{AT}", "at run (file:///a.mjs:1:2) (after: Error)"),
        ("one\ntwo\n", "two (after: one)"),
        ("", ""),
    ],
)
def test_the_last_line_is_the_reason(output: str, line: str) -> None:
    assert one_line_tail(output) == line


def test_may_print_much(tmp_path: Path) -> None:
    finished = execute(python("print('x' * 5_000_000)"), tmp_path)
    assert len(finished.stdout) == 5_000_001


def test_printing_without_end_is_stopped_long_before_the_timeout(tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript, match=r"^`yes` printed more than 8388608 bytes$"):
        execute("yes", tmp_path, timeout=100)


HASTY = """\
import os
os.set_blocking(1, False)
left = b"x" * 1_000_000
try:
    while left:
        left = left[os.write(1, left):]
except BlockingIOError:
    pass
"""


def test_a_program_that_does_not_wait_for_its_reader_loses_nothing_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As programs of Node that exit before their pipe is read."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    finished = execute(python(HASTY), tmp_path, to_file=True)
    assert (finished.status, finished.stdout) == (0, "x" * 1_000_000)
    assert not [*tmp_path.glob("rubric-ci-output-*")]


@pytest.mark.parametrize(
    ("script", "timeout", "message"),
    [
        ("yes", 100, "`yes` printed more than 8388608 bytes"),
        ("echo begun; sleep 60", 1, "did not end within 1 s and was killed"),
    ],
)
def test_limits_of_an_output_file(script: str, timeout: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript, match=re.escape(message)) as caught:
        execute(script, tmp_path, timeout=timeout, to_file=True)
    if isinstance(caught.value, ScriptTimedOut):
        assert caught.value.printed == "begun\n"


def test_an_output_in_a_file_may_say_that_it_failed(tmp_path: Path) -> None:
    lost: dict[str, Any] = {"to_file": True, "gives_up": lambda printed: b"lost" in printed}
    finished = execute("echo lost; sleep 60", tmp_path, timeout=50, **lost)
    assert (finished.status, finished.stdout) == (-9, "lost\n")


def test_keeps_the_end_of_a_long_stderr(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('x' * 1_000_000 + 'the reason'); sys.exit(1)"
    finished = execute(python(code), tmp_path)
    assert len(finished.stderr) == STDERR_LIMIT
    assert finished.stderr.endswith("xthe reason")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        pytest.param(
            ("no-such-program", "x"),
            (
                "`no-such-program x` cannot be started: [Errno 2] No such file or directory: "
                "'no-such-program'"
            ),
            id="no-program",
        ),
        pytest.param("sleep 30", "`sleep 30` did not end within 0.3 s and was killed", id="late"),
        pytest.param(
            ("echo", "\0"), "`echo \0` cannot be started: embedded null byte", id="null-byte"
        ),
    ],
)
def test_no_end_that_counts(script: str | tuple[str, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript) as caught:
        execute(script, tmp_path, timeout=0.3)
    assert str(caught.value) == message


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript) as caught:
        execute("true", tmp_path / "gone")
    assert str(caught.value) == f"`true` cannot run in {tmp_path / 'gone'}: there is no such folder"


def test_a_long_command_is_shortened_in_messages(tmp_path: Path) -> None:
    command = Command(script="x" * 200, cwd=tmp_path, known={}, timeout_seconds=1)
    assert str(command) == "`" + "x" * 117 + "…`"


def test_the_timeout_kills_what_ignores_a_polite_signal(tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript, match=r"did not end within 2 s"):
        execute(STUBBORN, tmp_path, timeout=2)
    assert wait_for_death(int((tmp_path / "pid").read_text()))


def test_a_background_process_does_not_outlive_its_parent(tmp_path: Path) -> None:
    started = time.monotonic()
    finished = execute("sleep 60 & echo $! > pid; echo done", tmp_path)
    assert finished.stdout == "done\n"
    assert time.monotonic() - started < 50
    assert wait_for_death(int((tmp_path / "pid").read_text()))


def test_a_daemon_holds_the_output_open(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid(); open('pid', 'w').write(str(os.getpid())); time.sleep(30)\n"
        "else:\n"
        "    time.sleep(0.5)\n"
    )
    with pytest.raises(CannotRunScript, match=r"left a process behind that holds its output open$"):
        execute(python(code), tmp_path)
    os.kill(int((tmp_path / "pid").read_text()), 9)
    gc.collect()  # asyncio complains of results that were not read when it deletes them
    assert caplog.text == ""


def test_cancelling_kills_the_command(tmp_path: Path) -> None:
    async def cancelled() -> None:
        command = Command(
            script="echo $$ > pid; sleep 60", cwd=tmp_path, known=PATH, timeout_seconds=50
        )
        task = asyncio.create_task(run(command))
        await asyncio.to_thread(wait_for_file, tmp_path / "pid")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert wait_for_death(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("delay", [0, 0.001, 0.003, 0.01])
def test_cancelling_may_come_at_any_moment(delay: float, tmp_path: Path) -> None:
    async def cancelled() -> None:
        script = "echo $$ >> pids; sleep 50 & echo $! >> pids; sleep 50; true"
        command = Command(script=script, cwd=tmp_path, known=PATH, timeout_seconds=50)
        task = asyncio.create_task(run(command))
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = time.monotonic()
    asyncio.run(cancelled())
    assert time.monotonic() - started < 40
    pids = tmp_path / "pids"
    assert all(
        wait_for_death(int(pid)) for pid in (pids.read_text() if pids.exists() else "").split()
    )


SHELL = {
    "PATH": "/bin",
    "HOME": "/home/u",
    "LANG": "C.UTF-8",
    "LC_ALL": "C",
    "OPENAI_API_KEY": "sk-1",
    "GITHUB_TOKEN": "ghs",
    "DEMO": "1",
}


def test_secrets_stay_out_of_a_clean_environment() -> None:
    kept = ("PATH", "HOME", "LANG", "LC_ALL", "DEMO")
    assert clean_environment(SHELL, ["DEMO"]) == {name: SHELL[name] for name in kept}


def test_a_variable_that_is_named_but_not_set_is_an_error() -> None:
    with pytest.raises(CannotRunScript) as caught:
        clean_environment(SHELL, ["TOKEN"])
    assert str(caught.value) == "the environment variable `TOKEN`, named in `env`, is not set"


def test_a_missing_variable_is_an_error_before_anything_is_started(tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript, match="`TOKEN`, named in `env`, is not set"):
        Command(script="true", cwd=tmp_path, known=SHELL, env=("TOKEN",), timeout_seconds=1)


def test_a_command_sees_no_other_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    seen = execute("env", tmp_path, added={"ONLY": "this"}).stdout
    assert "ONLY=this" in seen
    assert "sk-secret" not in seen


@pytest.mark.parametrize(
    ("name", "argv", "expected"),
    [
        ("npx.cmd", ("npx", "a b", "c"), ["{folder}/npx.cmd", "a b", "c"]),
        ("npx.exe", ("npx", "a&b"), ["npx", "a&b"]),
        ("other.cmd", ("npx", "a"), ["npx", "a"]),
        ("npx.cmd", ("npx", "-y", "a & calc"), "'a & calc'"),
        ("npx.BAT", ("npx", "%PATH%"), "'%PATH%'"),
    ],
)
def test_a_batch_file_on_windows(
    name: str,
    argv: tuple[str, ...],
    expected: list[str] | str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`npx` is `npx.cmd` there, which is not found by its name, and whose words cmd.exe reads."""
    monkeypatch.setattr("sys.platform", "win32")
    stem = name.partition(".")[0]
    found = {stem: f"{tmp_path}/{name}"}
    monkeypatch.setattr("shutil.which", lambda program, path=None: found.get(program))
    if isinstance(expected, list):
        words = [each.format(folder=tmp_path) for each in expected]
        assert list(processes._startable(argv, {"PATH": "x"})) == words
        return
    reason = f"`npx` is a batch file, whose cmd.exe cannot be given the word {expected}; "
    with pytest.raises(CannotRunScript, match=re.escape(reason)):
        processes._startable(argv, {"PATH": "x"})
