"""The name of the suite that a run grades, where a repository has several; "" for its default.

It identifies the comment of the suite on a pull request and the branch of its drafts, and stands in
the heading.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePosixPath

from rubric_ci.files.project.file_kinds import CONFIG_NAMES
from rubric_ci.files.project.working_tree import find_root, from_root
from rubric_ci.values.command_settings import CommentSettings, SelectOptions

LONGEST = 60  # characters


def suite_of(config: Path | None, paths: Sequence[str]) -> str:
    """Return the name of the suite: of a configuration its folder, or its file by another name.

    Without one it is the paths in one line; a long one ends with a digest of all.
    """
    if config:
        file = PurePosixPath(from_root(config, find_root(Path.cwd())))
        folder = file.parent.as_posix().removeprefix(".")
        return folder if file.name in CONFIG_NAMES else file.with_suffix("").as_posix()
    whole = " ".join(path.rstrip("/") for path in paths)
    if len(whole) <= LONGEST:
        return whole
    return f"{whole[: LONGEST - 9].rstrip()}-{sha256(whole.encode()).hexdigest()[:8]}"


def slug(name: str) -> str:
    """Return the name of a suite as a part of a marker or a file name."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)


def comment_of_suite(comment: CommentSettings, select: SelectOptions) -> CommentSettings:
    """Return the comment with the name of the suite, and a page for each: artifacts differ."""
    name = comment.key or suite_of(select.config, select.paths)
    page = PurePosixPath(comment.page)
    own = f"{page.stem}-{slug(name)}{page.suffix}" if comment.page and name else comment.page
    return replace(comment, key=name, page=own)
