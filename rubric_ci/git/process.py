"""Run the git command in a working tree, with an environment that cannot point it elsewhere."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rubric_ci.errors import CannotUseGit
from rubric_ci.git.objects import Objects

TIMEOUT_SECONDS = 300.0

# A hook's GIT_DIR or GIT_INDEX_FILE points elsewhere; these only configure git.
KEPT = ("GIT_ALLOW_PROTOCOL", "GIT_ASKPASS", "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH")
KEPT_PREFIXES = ("GIT_AUTHOR", "GIT_COMMITTER", "GIT_CONFIG", "GIT_SSH", "GIT_SSL")
QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A git working tree."""

    root: Path
    environment: Mapping[str, str] = field(repr=False)
    prefix: str = ""  # of `root` in the working tree: "app/"
    common: Path | None = None  # the folder of git's own files; None: not known

    @cached_property
    def objects(self) -> Objects:
        """The objects, read by one process."""
        return Objects(self.root, self.environment)


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Remove variables that point git elsewhere or let it prompt."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith("GIT_") or name in KEPT or name.startswith(KEPT_PREFIXES)
    }
    return kept | QUIET


def query(repository: Repository, *arguments: str) -> str:
    """Return the output of git, stripped; raises CannotUseGit as `output` does."""
    return output(repository, *arguments).strip()


def output(repository: Repository, *arguments: str) -> str:
    """Return the output of git; raises CannotUseGit if it fails."""
    done = run(repository, *arguments)
    if done.returncode != 0:
        error, *more = stripped(done.stderr).removeprefix("fatal: ").splitlines() or [
            "no reason given"
        ]
        hint = " ".join(" ".join(more).split())  # such as how to trust a folder of another owner
        raise CannotUseGit(f"git {arguments[0]} failed in {repository.root}: {error}", hint)
    return done.stdout.decode("utf-8", "surrogateescape")


def run(repository: Repository, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    """Run git and return the completed process, also if it failed."""
    try:
        return subprocess.run(
            ["git", *arguments],
            cwd=repository.root,
            env=repository.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise CannotUseGit("git is not installed, or not on PATH") from None
    except subprocess.TimeoutExpired:
        message = f"git {arguments[0]} did not end within {TIMEOUT_SECONDS:g} s"
        raise CannotUseGit(message) from None


def stripped(output: bytes) -> str:
    """Return the output of git, stripped."""
    return output.decode("utf-8", "replace").strip()
