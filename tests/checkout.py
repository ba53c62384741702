"""A real git repository for a test, cut off from this machine's configuration."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rubric_ci.system.git.plumbing import open_repository
from rubric_ci.system.git.process import Repository

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}
# A commit starts no other process, which takes as much time as the commit.
OPTIONS = ("-c", "protocol.file.allow=always", "-c", "maintenance.auto=false")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree that a test writes, commits and rewrites."""

    root: Path

    @classmethod
    def create(cls, root: Path) -> "Checkout":
        root.mkdir(parents=True, exist_ok=True)
        checkout = cls(root)
        checkout.git("init", "--quiet", "--initial-branch=main")
        return checkout

    def clone(self, root: Path, *options: str) -> "Checkout":
        self.git("clone", "--quiet", *options, self.root.as_uri(), str(root))
        return Checkout(root)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *OPTIONS, *arguments],
            cwd=self.root,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
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
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        return self.git("rev-parse", "HEAD")

    @property
    def repository(self) -> Repository:
        return open_repository(self.root, ENVIRONMENT)
