"""A command in a terminal or without: a fork of this process, which has imported it already.

The process is real, and so is its terminal. Started anew it takes 0.5 s of processor time. Where
the start itself is the subject, or a locale, a test starts `python -m rubric_ci`.
"""

import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import IO, Final, NoReturn

import pexpect

from rubric_ci.cli.main import main

LATE: Final = ("click._termui_impl", "pydantic.type_adapter", "rubric_ci.cli.commands.judge_label")
"""What the command imports only where it needs it, which each fork would import again."""


def in_a_terminal(
    root: Path, environment: Mapping[str, str], *arguments: str
) -> "pexpect.spawn[str]":
    """Start the command in a folder with this environment only."""
    for name in LATE:
        import_module(name)
    return pexpect.spawn(
        sys.executable,  # which is not reached
        cwd=str(root),
        preexec_fn=lambda: _become(environment, arguments),
        encoding="utf-8",
        timeout=60,
        dimensions=(100, 140),
    )


def in_a_fork(
    root: Path,
    environment: Mapping[str, str],
    *arguments: str,
    output: int | IO[str] = subprocess.DEVNULL,
) -> "subprocess.Popen[str]":
    """Start the command in a folder with this environment only, without a terminal."""
    return subprocess.Popen(
        [sys.executable],  # which is not reached
        cwd=root,
        preexec_fn=lambda: _become(environment, arguments),  # noqa: PLW1509 - as pexpect does
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        encoding="utf-8",
    )


def _become(environment: Mapping[str, str], arguments: tuple[str, ...]) -> NoReturn:
    """Run the command as a process that was started with it, and end."""
    code: object = 1
    try:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # what starts it waits until its pipe is closed
        streams = zip(range(3), ("r", "w", "w"), strict=True)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(*each, 1, "utf-8") for each in streams)
        os.environ.clear()
        os.environ.update(environment)
        main(arguments)
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        print(end="", flush=True)
        os._exit(code if isinstance(code, int) else 1)
