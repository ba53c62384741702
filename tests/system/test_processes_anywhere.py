"""Processes on every platform: the commands are Python, so no shell is needed."""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from rubric_ci.errors import CannotRunScript
from rubric_ci.system.processes import Command, Finished, run
from tests import platforms
from tests.wait import wait_until

ENVIRONMENT: Final = {
    name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ
}
BEATS: Final = """\
import pathlib, time
while True:
    pathlib.Path('beats').open('a').write('.')
    time.sleep(0.05)
"""
STARTS: Final = f"""\
import subprocess, sys, time
subprocess.Popen([sys.executable, '-c', {BEATS!r}])
"""


def command(code: str, cwd: Path, *, stdin: str = "", timeout: float = 50) -> Command:
    return Command(
        script=(sys.executable, "-c", code),
        cwd=cwd,
        known=ENVIRONMENT,
        timeout_seconds=timeout,
        stdin=stdin,
    )


def execute(code: str, cwd: Path, *, stdin: str = "", timeout: float = 50) -> Finished:
    return asyncio.run(run(command(code, cwd, stdin=stdin, timeout=timeout)))


@pytest.mark.parametrize(
    ("code", "stdin", "expected"),
    [
        pytest.param("print('a'); print('b')", "", (0, "a\nb\n", ""), id="lines"),
        pytest.param("import sys; sys.exit('no')", "", (1, "", "no\n"), id="status"),
        pytest.param(
            "import sys; print(len(sys.stdin.buffer.read()))",
            "é" * 1_000_000,
            (0, "2000000\n", ""),
            id="a long input",
        ),
        pytest.param("print('ok')", "x" * 5_000_000, (0, "ok\n", ""), id="an input not read"),
        pytest.param(
            "import sys; print(sys.argv[0], '$HOME %PATH%')",
            "",
            (0, "-c $HOME %PATH%\n", ""),
            id="not expanded",
        ),
    ],
)
def test_finished(code: str, stdin: str, expected: tuple[int, str, str], tmp_path: Path) -> None:
    done = execute(code, tmp_path, stdin=stdin)
    assert (done.status, done.stdout, done.stderr.replace("\r\n", "\n")) == expected


def test_a_line_for_the_shell(tmp_path: Path) -> None:
    line = Command(
        script="echo hello&& exit 3", cwd=tmp_path, known=ENVIRONMENT, timeout_seconds=50
    )
    done = asyncio.run(run(line))
    assert (done.status, done.stdout) == (3, "hello\n")


def test_printing_too_much_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript, match=r"printed more than 8388608 bytes$"):
        execute("while 1: print('x' * 100_000)", tmp_path)


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    missing = Command(
        script=("no-such-program", "x"), cwd=tmp_path, known=ENVIRONMENT, timeout_seconds=50
    )
    with pytest.raises(CannotRunScript, match=r"^`no-such-program x` cannot be started: "):
        asyncio.run(run(missing))


@platforms.SHELL
def test_a_prompt_that_is_too_long_for_an_argument(tmp_path: Path) -> None:
    long = Command(
        script=f"echo {'x' * 200_000}", cwd=tmp_path, known=ENVIRONMENT, timeout_seconds=50
    )
    with pytest.raises(CannotRunScript) as caught:
        asyncio.run(run(long))
    assert str(caught.value).endswith(
        "cannot be started: Argument list too long; a command with `{PROMPT}` needs "
        "`{PROMPT_FILE}` in its place"
    )


def test_the_timeout_kills_grandchildren(tmp_path: Path) -> None:
    with pytest.raises(CannotRunScript, match=r"did not end within 3 s and was killed$"):
        execute(STARTS + "time.sleep(60)", tmp_path, timeout=3)
    assert_no_beats(tmp_path)


def test_cancelling_kills_grandchildren(tmp_path: Path) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(run(command(STARTS + "time.sleep(60)", tmp_path)))
        await asyncio.to_thread(wait_until, (tmp_path / "beats").exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert_no_beats(tmp_path)


def assert_no_beats(folder: Path) -> None:
    beats = folder / "beats"
    before = beats.stat().st_size
    time.sleep(1)
    assert beats.stat().st_size == before


def test_many_at_once(tmp_path: Path) -> None:
    async def all_of_them() -> list[Finished]:
        return await asyncio.gather(*(run(command(f"print({n})", tmp_path)) for n in range(12)))

    assert [done.stdout for done in asyncio.run(all_of_them())] == [f"{n}\n" for n in range(12)]
