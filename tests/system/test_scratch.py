"""A lock on a file, as another process sees it; real processes."""

import subprocess
import sys
from pathlib import Path

from rubric_ci.system.scratch import hold, is_free
from tests.wait import wait_until

HOLDER = """\
import pathlib, sys, time
from rubric_ci.system.scratch import hold
with hold(pathlib.Path(sys.argv[1])):
    pathlib.Path(sys.argv[2]).touch()
    time.sleep(600)
"""


def test_a_lock_without_a_holder_is_free(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert is_free(lock)
    with hold(lock):
        assert not is_free(lock)
    assert is_free(lock)


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    lock, held = tmp_path / "lock", tmp_path / "held"
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(lock), str(held)])
    try:
        wait_until(held.exists)
        assert not is_free(lock)
    finally:
        process.kill()
        process.wait()
    assert is_free(lock)
