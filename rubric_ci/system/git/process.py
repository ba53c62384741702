"""The git command in a working tree, with an environment that cannot point it elsewhere.

One process reads all objects; it starts with the first and ends with its owner.
"""

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from weakref import finalize

from rubric_ci.errors import CannotUseGit
from rubric_ci.system.actions_runner import in_workflow
from rubric_ci.system.repository import around
from rubric_ci.values.dataclass import dataclass

TIMEOUT_SECONDS = 300.0
READ_OBJECTS = ("git", "cat-file", "--batch")

# A hook's GIT_DIR or GIT_INDEX_FILE points elsewhere; these only configure git.
KEPT = ("GIT_ALLOW_PROTOCOL", "GIT_ASKPASS", "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH")
KEPT_PREFIXES = ("GIT_AUTHOR", "GIT_COMMITTER", "GIT_CONFIG", "GIT_SSH", "GIT_SSL")
QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


_OFF = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "credential.helper": "",
    "diff.external": "",
}
_PROBE = "rubric-ci.guarded"  # a setting of no effect, which shows that the others are read
_GUARDED = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """A blob, commit, tree or tag."""

    id: str
    content: bytes


class Objects:
    """The objects of a repository; not for several threads at once."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self._root, self._environment = root, environment
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # id of the process that started it: a forked one needs its own

    def find(self, name: str) -> Object | None:
        """Return the object that a name of `git rev-parse` means; None: there is none."""
        if not name or "\n" in name or "\0" in name:
            return None
        line = f"{name}\n".encode("utf-8", "surrogateescape")
        try:
            return _ask(self._running(), line)
        except (OSError, ValueError):
            self._process = None  # Ctrl-C ends git as well, while a report is still to be written
            try:
                return _ask(self._running(), line)
            except (OSError, ValueError):
                raise _unreadable(name) from None

    def read(self, object_id: str) -> bytes:
        """Return the bytes of an object; raises CannotUseGit if it cannot be read."""
        found = self.find(object_id)
        if found is None:
            raise _unreadable(object_id)
        return found.content

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None or self._owner != os.getpid():
            try:
                self._process = subprocess.Popen(
                    READ_OBJECTS,
                    cwd=self._root,
                    env=self._environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            except FileNotFoundError:
                raise _not_installed() from None
            self._owner = os.getpid()
            finalize(self, _end, self._process, self._owner)
        return self._process


@dataclass(frozen=True, kw_only=True)
class Repository:
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


def environment_at(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for git in a folder; one of the job's workspace is trusted.

    NOTE: in a job in a container the workspace belongs to the runner's user, and the trust that
    actions/checkout gives it ends with its step.
    """
    known = clean_environment(environment)
    workspace = environment.get("GITHUB_WORKSPACE")
    if not in_workflow(environment) or not workspace:
        return known
    top = Path(os.path.realpath(next(around(folder), folder)))
    if not top.is_relative_to(os.path.realpath(workspace)):
        return known
    return configured(known, {"safe.directory": str(top)})


def configured(environment: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which git has these settings besides its own."""
    first = int(environment.get("GIT_CONFIG_COUNT") or 0)
    pairs = {
        f"GIT_CONFIG_{part}_{number}": text
        for number, pair in enumerate(settings.items(), first)
        for part, text in zip(("KEY", "VALUE"), pair, strict=True)
    }
    return {**environment, **pairs, "GIT_CONFIG_COUNT": str(first + len(settings))}


def guarded(repository: Repository) -> Repository:
    """Return the repository with git's hooks, filters, helpers and replacements turned off.

    Nothing is fetched, not even a missing object of a partial clone. Raises CannotUseGit for a git
    that reads no settings from variables.
    """
    programs = r"^(filter|diff|merge)\..*\.(clean|smudge|process|textconv|command|driver)$"
    environment = configured({**repository.environment, **_GUARDED}, _OFF | {_PROBE: "true"})
    quiet = replace(repository, environment=environment)
    found = run(quiet, "config", "--name-only", "-z", "--get-regexp", f"{programs}|^{_PROBE}$")
    names = {*found.stdout.decode("utf-8", "surrogateescape").split("\0")} - {""}
    if _PROBE not in names:
        raise CannotUseGit(
            "this git is older than 2.31, so hooks and filters of a checkout cannot be turned off",
            "install a newer git",
        )
    off = dict.fromkeys(sorted(names - {_PROBE}), "")
    return replace(repository, environment=configured(environment, off))


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
        raise _not_installed() from None
    except subprocess.TimeoutExpired:
        message = f"git {arguments[0]} did not end within {TIMEOUT_SECONDS:g} s"
        raise CannotUseGit(message) from None


def stripped(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip()


def _ask(process: "subprocess.Popen[bytes]", line: bytes) -> Object | None:
    """Return the answer to a line; raises OSError or ValueError if git has ended."""
    assert process.stdin is not None  # noqa: S101 - both are pipes, see above
    assert process.stdout is not None  # noqa: S101 - as above
    process.stdin.write(line)
    process.stdin.flush()
    header = process.stdout.readline().split()
    if not header:
        raise BrokenPipeError
    if len(header) != 3 or not header[2].isdigit():  # "<name> missing", "<name> ambiguous"
        return None
    content = process.stdout.read(int(header[2]))
    if process.stdout.read(1) != b"\n":  # the line feed after the content
        raise BrokenPipeError
    return Object(id=header[0].decode(), content=content)


def _end(process: "subprocess.Popen[bytes]", owner: int) -> None:
    """Close the pipes, and end git where this process started it."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    if owner == os.getpid():
        process.kill()
        process.wait()


def _not_installed() -> CannotUseGit:
    hint = "in a workflow, install it before actions/checkout, which else leaves the files only"
    return CannotUseGit("git is not installed, or not on PATH", hint)


def _unreadable(name: str) -> CannotUseGit:
    return CannotUseGit(f"git object {name} cannot be read", "fetch it, or run `git fsck`")
