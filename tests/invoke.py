"""A command run in this process, which has imported it already; its targets are real processes.

A process of its own takes 0.3 to 1 s of processor time to start. A test needs one where exit,
start-up or locks are the subject: `in_a_process`. Where signals or terminals are, a fork is enough:
`tests/forked_command.py`; where secrets or characters in the output are, the streams of the
program: `through_streams`.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from rubric_ci.cli.main import main
from rubric_ci.system import output_and_masking
from rubric_ci.system.output_and_masking import open_streams
from tests.captured import captured


def invoke(
    root: Path, environment: Mapping[str, str], *arguments: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder with this environment only."""
    return _invoke(main, root, environment, *arguments, stdin=stdin)


def through_streams(
    root: Path, environment: Mapping[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run the command with the output streams that the program opens when it starts."""
    return _invoke(_Started(), root, environment, *arguments)


class _Started(click.Command):
    """The program as its process starts it."""

    def __init__(self) -> None:
        super().__init__("rubric-ci")

    def main(self, *arguments: Any, **options: Any) -> Any:
        open_streams()
        try:
            return main.main(*arguments, **options)
        finally:
            sys.stderr.flush()


def _invoke(
    command: click.Command,
    root: Path,
    environment: Mapping[str, str],
    *arguments: str,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    gone = dict.fromkeys(os.environ.keys() - environment.keys())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        for state in ("_hidden", "_sent"):  # the secrets of a process are its own
            patch.setattr(output_and_masking, state, set())
        done = CliRunner().invoke(
            command, arguments, input=stdin, env={**gone, **environment}, catch_exceptions=False
        )
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def in_a_process(
    root: Path, environment: Mapping[str, str], *arguments: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the command as a shell does."""
    return captured(
        [sys.executable, "-m", "rubric_ci", *arguments], cwd=root, env={**environment}, input=stdin
    )
