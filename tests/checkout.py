"""A real git repository for a test, cut off from this machine's configuration."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rubric_ci.system.git.plumbing import open_repository
from rubric_ci.system.git.process import Repository
from tests.captured import captured

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
AT_A_DESK = {k: v for k, v in ENVIRONMENT.items() if not k.startswith(("GITHUB_", "RUBRIC_CI_"))}
# Names of commits are whole. A commit starts no other process, which takes as much time as the
# commit.
OPTIONS = tuple(
    word
    for setting in ("protocol.file.allow=always", "core.abbrev=no", "maintenance.auto=false")
    for word in ("-c", setting)
)


def start_repository(root: Path) -> None:
    """Write what `git init` writes, in a sixth of its processor time; leave one that exists."""
    new = {} if (root / ".git").exists() else _empty_repository()
    for path, content in new.items():
        if content is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(content)


@cache
def _empty_repository() -> Mapping[Path, bytes | None]:
    """Return the files of a new repository without the samples of hooks, and its folders."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["git", "init", "--quiet", "--initial-branch=main", folder]
        subprocess.run(command, env=ENVIRONMENT, check=True)
        return {
            path.relative_to(folder): path.read_bytes() if path.is_file() else None
            for path in sorted(Path(folder).rglob("*"))
            if path.suffix != ".sample"
        }


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree that a test writes, commits and rewrites."""

    root: Path

    @classmethod
    def create(cls, root: Path) -> "Checkout":
        root.mkdir(parents=True, exist_ok=True)
        start_repository(root)
        return cls(root)

    def clone(self, root: Path, *options: str) -> "Checkout":
        self.git("clone", "--quiet", *options, self.root.as_uri(), str(root))
        return Checkout(root)

    def copy(self, root: Path) -> "Checkout":
        """Return the same repository in another folder, in less time than it takes to make it."""
        shutil.copytree(self.root, root, symlinks=True)
        return Checkout(root)

    def git(self, *arguments: str) -> str:
        done = captured(
            ["git", *OPTIONS, *arguments], cwd=self.root, env=ENVIRONMENT, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, files: dict[str, str]) -> None:
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text, encoding="utf-8", newline="")

    def commit(self, files: dict[str, str] | None = None) -> str:
        self.write(files or {})
        self.git("add", "--all")
        said = self.git("commit", "--allow-empty", "--message", "change")
        return said.partition("] ")[0].rpartition(" ")[2]  # "[main (root-commit) 1b2c...] change"

    @property
    def repository(self) -> Repository:
        return open_repository(self.root, ENVIRONMENT)
