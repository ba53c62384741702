"""A command run in this process, which has imported it already; its targets are real processes."""

import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from rubric_ci.cli.main import main


def invoke(
    root: Path, environment: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder with this environment only."""
    gone = dict.fromkeys(os.environ.keys() - environment.keys())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        done = CliRunner().invoke(main, arguments, env=gone | environment, catch_exceptions=False)
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)
