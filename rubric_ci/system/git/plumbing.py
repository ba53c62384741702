"""Git objects, the state of a checkout, and the files that came with its commit.

Every path is relative to the root that the repository was opened at, which may be a folder of it.
Nothing here fetches: `git fetch --depth` would truncate a full clone.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rubric_ci.errors import CannotUseGit
from rubric_ci.system.actions_runner import in_workflow
from rubric_ci.system.git.process import (
    Object,
    Repository,
    environment_at,
    output,
    query,
    run,
    stripped,
)
from rubric_ci.system.repository import around, is_repository
from rubric_ci.text.escape import DIRTY
from rubric_ci.values.changes import ABSENT, SYMLINK, Change, Entry

NO_CHECKOUT = (
    "put a step with actions/checkout before; the input `working-directory` is its `path`, if it "
    "has one"
)


def open_repository(root: Path, environment: Mapping[str, str]) -> Repository:
    """Open the working tree that contains `root`."""
    repository = Repository(root=root, environment=environment_at(root, environment))
    facts = ("--is-inside-work-tree", "--git-common-dir", "--show-prefix")
    try:
        inside, common, *prefix = output(repository, "rev-parse", *facts).split("\n")
    except CannotUseGit as error:
        if in_workflow(environment) and "not a git repository" in error.message:
            error.hint = NO_CHECKOUT
        raise
    if inside != "true":
        raise CannotUseGit(f"{root} is not in the working tree of a git repository")
    if not (root / common).is_dir():  # a line feed in a path
        raise CannotUseGit(f"{root}: the repository has no folder `{common}`")
    return replace(repository, prefix="\n".join(prefix).rstrip("\n"), common=root / common)


def is_shallow(repository: Repository) -> bool:
    return query(repository, "rev-parse", "--is-shallow-repository") == "true"


def commit(repository: Repository, revision: str) -> str | None:
    """Return the id of the commit that a revision names, or None if it is missing."""
    found = _commit(repository, revision)
    return found.id if found else None


def committed_at(repository: Repository, revision: str) -> str:
    """Return the time of a commit, RFC 3339."""
    return query(repository, "log", "-1", "--format=%cI", revision, "--")


def parents(repository: Repository, revision: str) -> tuple[str, ...]:
    """Return the parents of a commit; none where a shallow clone lacks one."""
    found = _commit(repository, revision)
    header = found.content.partition(b"\n\n")[0].decode("ascii", "replace") if found else ""
    lines = header.split("\n")
    named = tuple(line.removeprefix("parent ") for line in lines if line.startswith("parent "))
    return named if all(commit(repository, each) for each in named) else ()


def _commit(repository: Repository, revision: str) -> Object | None:
    return repository.objects.find(f"{revision}^{{commit}}") if revision else None


def merge_base(repository: Repository, one: str, other: str) -> str | None:
    """Return the merge base of two revisions, or None if there is none."""
    done = run(repository, "merge-base", one, other)
    return stripped(done.stdout) if done.returncode == 0 else None


def tree(repository: Repository, revision: str) -> dict[str, Entry]:
    """List every file, link and submodule of a commit by path."""
    return dict(_entry(line, 2) for line in _listed(repository, "ls-tree", "-r", "-z", revision))


def large_blobs(repository: Repository, revision: str, most: int) -> frozenset[str]:
    """Return the ids of the blobs of a commit with more than `most` bytes."""
    listing = _listed(repository, "ls-tree", "-r", "-l", "-z", revision)
    facts = (line.split("\t", 1)[0].split() for line in listing)
    return frozenset(each[2] for each in facts if each[3].isdigit() and int(each[3]) > most)


def changes(
    repository: Repository, base: str, new: Sequence[str] | None = None
) -> tuple[Change, ...]:
    """Compare a commit with the working tree; untracked files count as new.

    `new` are the untracked files, if they are known.
    """
    tracked = output(
        repository,
        *("-c", "core.fsmonitor=false", "diff", "--raw", "-z", "--relative", "--no-renames"),
        *("--no-ext-diff", "--no-textconv", "--ignore-submodules=untracked", base, "--"),
    )
    found = dict(_raw_changes(tracked.split("\0")))
    for path in untracked(repository) if new is None else new:
        mode = SYMLINK if (repository.root / path).is_symlink() else "100644"
        found.setdefault(path, Change(path=path, old_mode=ABSENT, new_mode=mode))
    return tuple(found[path] for path in sorted(found))


def untracked(repository: Repository) -> tuple[str, ...]:
    """List the files that git neither tracks nor ignores."""
    return tuple(_listed(repository, "ls-files", "--others", "--exclude-standard", "-z"))


def skipped(repository: Repository) -> dict[str, Entry]:
    """Return the files of the index that git takes for unchanged, whether or not they are there."""
    listing = _listed(repository, "ls-files", "-v", "-s", "-z")
    return dict(_entry(line[2:], 1) for line in listing if line[:2] in {"S ", "s "})


def ignored(repository: Repository) -> tuple[str, ...]:
    """List ignored files; a folder stands for all of its files."""
    others = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    return tuple(path.rstrip("/") for path in _listed(repository, *others))


def _listed(repository: Repository, *arguments: str) -> list[str]:
    """Return the entries of an output that ends each with NUL."""
    return [each for each in output(repository, *arguments).split("\0") if each]


def _entry(line: str, at: int) -> tuple[str, Entry]:
    """Return an entry; its mode is the first word before the path, its object id word `at`."""
    meta, path = line.split("\t", 1)
    words = meta.split(" ")
    return path, Entry(mode=words[0], object_id=words[at])


def _raw_changes(fields: list[str]) -> Iterator[tuple[str, Change]]:
    """Read `:<old mode> <new mode> <old id> <new id> <status>` NUL path NUL."""
    for meta, path in zip(fields[:-1:2], fields[1::2], strict=True):
        old_mode, new_mode = meta.removeprefix(":").split(" ")[:2]
        yield path, Change(path=path, old_mode=old_mode, new_mode=new_mode)


def first_tracked(folder: Path, environment: Mapping[str, str]) -> str | None:
    """Return a file of the folder, or a link on the way to it, that git tracks; None: no such file.

    The path is relative to its repository. Raises CannotUseGit if git cannot be asked, also where
    a runner's workspace has no repository.
    """
    _check_repository(folder, environment)
    for place in _places(folder):
        for root in _repositories(place):
            path = place.relative_to(root).as_posix()
            known = environment_at(root, environment)
            # NOTE: file systems of macOS and Windows open a/b where a commit holds A/B.
            named = ("ls-files", "-z", "--", f":(icase,literal){path}")
            listing = query(Repository(root=root, environment=known), *named)
            if tracked := listing.partition("\0")[0]:
                return tracked
    return None


def checkout_commit(environment: Mapping[str, str]) -> str:
    """Return the commit of the checkout that rubric-ci runs from; empty: it is installed."""
    root = Path(__file__).parents[3]
    return head_of(root, environment).removesuffix(DIRTY) if is_repository(root) else ""


def head_of(folder: Path, environment: Mapping[str, str]) -> str:
    """Return the commit of the working tree, with DIRTY if tracked files differ; empty: none."""
    status = ("status", "--porcelain=v2", "--branch", "--untracked-files=no")
    with suppress(CannotUseGit):
        known = environment_at(folder, environment)
        found = run(Repository(root=folder, environment=known), *status).stdout
        first, *lines = stripped(found).splitlines() or [""]
        commit = first.removeprefix("# branch.oid ")
        changed = any(not line.startswith("#") for line in lines)
        return commit + DIRTY * changed if commit.isalnum() else ""  # "(initial)" is none
    return ""


def _check_repository(folder: Path, environment: Mapping[str, str]) -> None:
    """Raise CannotUseGit for files in a runner's workspace outside of every repository.

    NOTE: actions/checkout downloads an archive where git is not installed, as in slim images.
    """
    real, top = _real(folder), environment.get("GITHUB_WORKSPACE", "")
    if not top or not folder.exists() or any(_repositories(real)):
        return
    if real.is_relative_to(_real(Path(top))):
        raise CannotUseGit("the workspace has no git, which hides the files of its commit")


def _places(folder: Path) -> Iterator[Path]:
    """Yield the real folder, then each link on the way to it: who commits a link chooses it."""
    yield _real(folder)
    ways, seen = [folder.absolute()], set[Path]()
    for way in ways:
        for link in filter(Path.is_symlink, (way, *way.parents)):
            place = _real(link.parent) / link.name
            if place not in seen:
                seen.add(place)
                ways.append(place.parent / link.readlink())
                yield place


def _real(path: Path) -> Path:
    """Return the path without links; `Path.resolve` raises RuntimeError for a loop of them."""
    return Path(os.path.realpath(path))


def _repositories(place: Path) -> Iterator[Path]:
    return (folder for folder in around(place) if not folder.is_symlink())
