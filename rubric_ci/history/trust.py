"""A history that came with a commit is not read: a pull request could bring its own."""

from collections.abc import Mapping
from pathlib import Path

from rubric_ci.errors import CannotReadHistory, CannotUseGit
from rubric_ci.git.committed import first_tracked


def check_untracked(path: Path, environment: Mapping[str, str]) -> None:
    """Raise CannotReadHistory if git tracks the file, or if that is unknown."""
    if reason := why_untrusted(path, environment):
        raise CannotReadHistory(
            f"the history {path.as_posix()} was not read: {reason}",
            "set another file with --history; `rubric-ci history export` and `import` keep a "
            "history on a branch of its own",
        )


def why_untrusted(path: Path, environment: Mapping[str, str]) -> str:
    """Return why a history must not be read; empty: it may."""
    try:
        tracked = first_tracked(path, environment)
    except CannotUseGit as error:
        return f"{error.message}; check that git can read the checkout"
    if tracked is None:
        return ""
    return f"git tracks {tracked}; run `git rm --cached {tracked}` and commit"
