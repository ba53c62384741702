"""Git objects and the state of a checkout, read with the git command.

Every path is relative to the root that the repository was opened at, which may be a folder of it.
Nothing here fetches: `git fetch --depth` would truncate a full clone.
"""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from rubric_ci.errors import CannotUseGit
from rubric_ci.git.process import Repository, clean_environment, output, query, run, stripped
from rubric_ci.model.git_changes import ABSENT, SYMLINK, Change, Entry

ReadBlob: TypeAlias = Callable[[str], bytes]
"""The bytes of the blob with this object id."""


def open_repository(root: Path, environment: Mapping[str, str]) -> Repository:
    """Open the working tree that contains `root`."""
    repository = Repository(root=root, environment=clean_environment(environment))
    if query(repository, "rev-parse", "--is-inside-work-tree") != "true":
        raise CannotUseGit(f"{root} is not in the working tree of a git repository")
    return repository


def is_shallow(repository: Repository) -> bool:
    """Return True if the clone is shallow."""
    return query(repository, "rev-parse", "--is-shallow-repository") == "true"


def commit(repository: Repository, revision: str) -> str | None:
    """Return the id of the commit that a revision names, or None if it is missing."""
    named = f"{revision}^{{commit}}"
    done = run(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", named)
    return stripped(done.stdout) if done.returncode == 0 else None


def committed_at(repository: Repository, revision: str) -> str:
    """Return the time of a commit, RFC 3339."""
    return query(repository, "log", "-1", "--format=%cI", revision, "--")


def parents(repository: Repository, revision: str) -> tuple[str, ...]:
    """Return the parents of a commit; a shallow clone may lack them."""
    return tuple(query(repository, "log", "-1", "--format=%P", revision, "--").split())


def merge_base(repository: Repository, one: str, other: str) -> str | None:
    """Return the merge base of two revisions, or None if there is none."""
    done = run(repository, "merge-base", one, other)
    return stripped(done.stdout) if done.returncode == 0 else None


def tree(repository: Repository, revision: str) -> dict[str, Entry]:
    """List every file, link and submodule of a commit by path."""
    listing = output(repository, "ls-tree", "-r", "-z", revision)
    return dict(_entry(line) for line in listing.split("\0") if line)


def changes(repository: Repository, base: str) -> tuple[Change, ...]:
    """Compare a commit with the working tree; untracked files count as new."""
    tracked = output(
        repository,
        *("-c", "core.fsmonitor=false", "diff", "--raw", "-z", "--relative", "--no-renames"),
        *("--no-ext-diff", "--no-textconv", "--ignore-submodules=untracked", base, "--"),
    )
    untracked = output(repository, "ls-files", "--others", "--exclude-standard", "-z")
    found = dict(_raw_changes(tracked.split("\0")))
    for path in filter(None, untracked.split("\0")):
        mode = SYMLINK if (repository.root / path).is_symlink() else "100644"
        found.setdefault(path, Change(path=path, old_mode=ABSENT, new_mode=mode))
    return tuple(found[path] for path in sorted(found))


def ignored(repository: Repository) -> tuple[str, ...]:
    """List ignored files; a folder stands for all of its files."""
    listing = output(
        repository, "ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"
    )
    return tuple(path.rstrip("/") for path in listing.split("\0") if path)


@contextmanager
def blobs(repository: Repository) -> Iterator[ReadBlob]:
    """Open one git process that reads any number of blobs."""
    command = ["git", "cat-file", "--batch"]
    with subprocess.Popen(
        command,
        cwd=repository.root,
        env=repository.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        yield lambda object_id: _read_blob(process, object_id)


def blob(repository: Repository, object_id: str) -> bytes:
    """Return the bytes of one blob."""
    done = run(repository, "cat-file", "blob", object_id)
    if done.returncode != 0:
        raise _unreadable(object_id)
    return done.stdout


def _read_blob(process: "subprocess.Popen[bytes]", object_id: str) -> bytes:
    assert process.stdin is not None  # noqa: S101 - both are pipes, see above
    assert process.stdout is not None  # noqa: S101
    process.stdin.write(f"{object_id}\n".encode())
    process.stdin.flush()
    header = process.stdout.readline().split()
    if len(header) != 3:  # "<id> missing", or nothing when git has ended
        raise _unreadable(object_id)
    content = process.stdout.read(int(header[2]))
    process.stdout.read(1)  # the line feed after the content
    return content


def _unreadable(object_id: str) -> CannotUseGit:
    return CannotUseGit(f"git object {object_id} cannot be read", "fetch it, or run `git fsck`")


def _entry(line: str) -> tuple[str, Entry]:
    meta, path = line.split("\t", 1)
    mode, _, object_id = meta.split(" ")
    return path, Entry(mode=mode, object_id=object_id)


def _raw_changes(fields: list[str]) -> Iterator[tuple[str, Change]]:
    """Read `:<old mode> <new mode> <old id> <new id> <status>` NUL path NUL."""
    for meta, path in zip(fields[:-1:2], fields[1::2], strict=True):
        old_mode, new_mode = meta.removeprefix(":").split(" ")[:2]
        yield path, Change(path=path, old_mode=old_mode, new_mode=new_mode)
