"""The name of the suite that a run grades, where a repository has several; "" for its default.

It identifies the comment of the suite on a pull request, and stands in the heading.
"""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath

from rubric_ci.files.project.discovery import find_root, from_root
from rubric_ci.files.project.file_kinds import CONFIG_NAMES
from rubric_ci.values.command_settings import RunSettings

LONGEST = 60  # characters


def suite_name(settings: RunSettings) -> str:
    """Return the key that is given, else the configuration or the paths that are."""
    if settings.comment_key:
        return settings.comment_key
    if settings.config:
        return _of_config(from_root(settings.config, find_root(Path.cwd())))
    return _short(settings.paths)


def _of_config(name: str) -> str:
    """Return the folder of a configuration; the file, if it has a name of its own."""
    file = PurePosixPath(name)
    folder = file.parent.as_posix().removeprefix(".")
    return folder if file.name in CONFIG_NAMES else file.with_suffix("").as_posix()


def _short(paths: Sequence[str]) -> str:
    """Return the paths in one line; a long one ends with a digest of all."""
    whole = " ".join(path.rstrip("/") for path in paths)
    if len(whole) <= LONGEST:
        return whole
    return f"{whole[: LONGEST - 9].rstrip()}-{sha256(whole.encode()).hexdigest()[:8]}"
