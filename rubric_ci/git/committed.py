"""Which files of a folder came with a commit: a change can bring those, and only those; effects.

A folder is judged by its real path, in every repository around it: a link, a submodule or a
repository inside the folder hides nothing.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from rubric_ci.git import plumbing
from rubric_ci.git.plumbing import Repository


def first_tracked(folder: Path, environment: Mapping[str, str]) -> str | None:
    """Return a file of the folder, or a link on the way to it, that git tracks; None: no such file.

    The path is relative to its repository. Raises CannotUseGit if git cannot be asked.
    """
    known = plumbing.clean_environment(environment)
    for place in _places(folder):
        for root in _repositories(place):
            path = place.relative_to(root).as_posix()
            if tracked := _tracked(Repository(root=root, environment=known), path):
                return tracked
    return None


def _places(folder: Path) -> Iterator[Path]:
    """Yield the real folder, then each link on the way to it: who commits a link chooses it."""
    yield folder.resolve()
    path = folder.absolute()
    for link in (path, *path.parents):
        if link.is_symlink():
            yield link.parent.resolve() / link.name


def _repositories(place: Path) -> Iterator[Path]:
    for folder in (place, *place.parents):
        if not folder.is_symlink() and (folder / ".git").exists():
            yield folder


def _tracked(repository: Repository, path: str) -> str:
    # NOTE: file systems of macOS and Windows open a/b where a commit holds A/B.
    listing = plumbing.query(repository, "ls-files", "-z", "--", f":(icase,literal){path}")
    return listing.partition("\0")[0]
