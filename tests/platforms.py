"""What a test needs and Windows lacks; the mark skips the test there and says why."""

import os
import sys
import sysconfig
from pathlib import Path
from typing import Final

import pytest

_WINDOWS: Final = sys.platform == "win32"
SCRIPTS: Final = Path(sysconfig.get_path("scripts"))
"""The folder of `rubric-ci` and other installed programs; Windows has one next to its Python."""
INHERITED: Final = {n: os.environ[n] for n in ("PYTHONUTF8", "SYSTEMROOT") if n in os.environ}
"""What a process on Windows needs of the environment of the tests."""

ONLY_WINDOWS: Final = pytest.mark.skipif(not _WINDOWS, reason="only Windows has this")

FILE_NAMES: Final = pytest.mark.skipif(_WINDOWS, reason="Windows refuses such a file name")
LINUX: Final = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux shows the environment of other processes"
)
MESSAGES: Final = pytest.mark.skipif(_WINDOWS, reason="Windows has other texts for errors of files")
MEMORY: Final = pytest.mark.skipif(_WINDOWS, reason="Windows keeps no peak of a process's children")
MODES: Final = pytest.mark.skipif(_WINDOWS, reason="Windows has no such file modes")
PIPES: Final = pytest.mark.skipif(_WINDOWS, reason="Windows has no such pipes and devices")
SHELL: Final = pytest.mark.skipif(_WINDOWS, reason="a POSIX shell runs its lines and scripts")
SIGNALS: Final = pytest.mark.skipif(
    _WINDOWS, reason="Windows has no such signals, forks and sessions"
)
TERMINALS: Final = pytest.mark.skipif(_WINDOWS, reason="pexpect needs a pseudo-terminal of POSIX")


def symlink(path: Path, target: str | Path) -> None:
    """Create a symbolic link; skips the test on Windows, where that needs a privilege."""
    if _WINDOWS:
        pytest.skip("on Windows a symbolic link needs a privilege")
    path.symlink_to(target)
