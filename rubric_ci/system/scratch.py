"""Temporary folders that no run leaves behind: the next run removes those of a killed one.

The owner of a folder holds a lock in it. A folder whose lock is free has no owner.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Final

from rubric_ci.errors import CannotRunScript
from rubric_ci.system.file_lock import hold, is_free

PREFIX: Final = "rubric-ci-work-"
LOCK: Final = "lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield an empty folder outside of every repository; raises CannotRunScript.

    NOTE: agents read instructions and settings of all folders above theirs.
    """
    above = Path(gettempdir()).resolve()
    if any((folder / ".git").exists() for folder in (above, *above.parents)):
        raise CannotRunScript(f"the temporary folder {above} is in a repository; set TMPDIR")
    _remove_abandoned(above)
    new = Path(mkdtemp(prefix="rubric-ci-new-", dir=above))
    try:
        with hold(new / LOCK):
            if sys.platform != "win32":  # which moves no folder with an open file
                new = new.rename(above / new.name.replace("rubric-ci-new-", PREFIX))
            inner = new / "folder"
            inner.mkdir()
            yield inner
    finally:
        remove(new)


def remove(folder: Path) -> None:
    """Remove a folder with all that a program may have made of it; links are not followed."""
    for place, names, _ in os.walk(folder):
        for name in names:
            path = Path(place, name)
            with suppress(OSError):
                if not path.is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


@cache
def _remove_abandoned(above: Path) -> None:
    """Remove the folders of killed runs, once per process."""
    for folder in above.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if (folder / LOCK).exists() and is_free(folder / LOCK):
                remove(folder)
