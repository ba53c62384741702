"""What `action.yml` runs: installs rubric-ci from the action's own checkout, once, and becomes it.

Standard library only, started with `python3 -I`: nothing in the repository under test can be
imported, here or by rubric-ci. The environment is private, holds exactly the packages of one
hash-locked list, and lies in the runner's tool cache under a name that is a digest of everything
in it: a second job finds it there, and another version never meets it.

Nothing below the workspace is executed: the checkout of a pull request is there. Installers see an
environment of a few listed variables, and `GITHUB_TOKEN` reaches only commands that post.
"""

from __future__ import annotations  # an old interpreter must get as far as our message

import hashlib
import importlib.util
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CHECKOUT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
USAGE = 2  # the same exit code as rubric-ci's own
WINDOWS = os.name == "nt"
WRITABLE, REACHABLE = 0o022, 0o077  # mode bits of other users
NOT_POSTING = frozenset({"", "off", "false", "0", "no", "n", "f"})
INSTALLERS_SEE = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TEMP", "TMP"}
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
    | {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
    | {"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT"}
    | {"USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "PROGRAMDATA"}
)
LOCKED = ("--quiet", "--require-hashes", "--no-deps")


class Command(NamedTuple):
    """One command of the action: its words on the command line, and what has to be installed."""

    words: tuple[str, ...]
    requirements: str
    posts_if: tuple[str, ...] = ()  # inputs that make it post, by their variables


COMMANDS = {
    "validate": Command(("validate",), "light"),
    "run": Command(("run",), "judge", ("RUBRIC_CI_RUN_COMMENT", "RUBRIC_CI_RUN_CHECK_RUN")),
    "generate": Command(("generate", "rubrics"), "judge", ("RUBRIC_CI_GENERATE_RUBRICS_PR",)),
    "comment": Command(("comment",), "github", ("RUBRIC_CI_COMMAND",)),
    "plan": Command(("plan",), "light"),
    "merge": Command(
        ("merge",), "github", ("RUBRIC_CI_MERGE_COMMENT", "RUBRIC_CI_MERGE_CHECK_RUN")
    ),
    "compare": Command(("compare",), "github", ("RUBRIC_CI_COMPARE_ISSUE",)),
}


class CannotStart(Exception):
    """rubric-ci cannot be installed or started; the message says what to do."""


def main(environ: Mapping[str, str]) -> NoReturn:
    """Install what the command needs, then become it."""
    try:
        become(prepare(environ), without_token(environ))
    except (CannotStart, OSError) as problem:
        print(f"::error title=rubric-ci::{escape(str(problem))}", flush=True)
        sys.exit(USAGE)


def prepare(environ: Mapping[str, str]) -> list[str]:
    """Return the command line to become, with all that it needs installed."""
    command = choose(environ.get("RUBRIC_CI_COMMAND", ""))
    python = interpreter(environ)
    if python != Path(sys.executable):
        return [str(python), "-I", __file__]
    environment = install(command.requirements, cache_folder(environ))
    return [str(python_of(environment)), "-I", "-X", "utf8", "-m", "rubric_ci", *command.words]


def without_token(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command; the token is in it only where the command posts."""
    asked = choose(environ.get("RUBRIC_CI_COMMAND", "")).posts_if
    posts = any(environ.get(name, "").lower() not in NOT_POSTING for name in asked)
    return {name: value for name, value in environ.items() if posts or name != "GITHUB_TOKEN"}


def in_workspace(path: str | Path) -> bool:
    """Return True if a path is in the repository under test, as written or by its real path."""
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    tops = {workspace, Path(os.path.realpath(workspace))}
    ways = {Path(os.path.abspath(path)), Path(os.path.realpath(path))}  # noqa: PTH100 - links stay
    return any(way.is_relative_to(top) for way in ways for top in tops)


def choose(name: str) -> Command:
    """Return the command that the input `command` names."""
    if name not in COMMANDS:
        raise CannotStart(f"unknown command '{name}'; write one of {', '.join(COMMANDS)}")
    return COMMANDS[name]


def interpreter(
    environ: Mapping[str, str], running: tuple[object, ...] = tuple(sys.version_info)
) -> Path:
    """Return this interpreter or, where it is too old, the newest of the runner's tool cache."""
    if running[:2] >= OLDEST:
        return Path(sys.executable)
    pattern = "Python/3.*/*/python.exe" if WINDOWS else "Python/3.*/*/bin/python3"
    cached = Path(environ.get("RUNNER_TOOL_CACHE") or os.devnull).glob(pattern)
    fitting = {version: path for path in cached if (version := release(path)) >= OLDEST}
    fitting = {version: path for version, path in fitting.items() if not in_workspace(path)}
    if not fitting:
        raise CannotStart(
            f"Python {platform.python_version()} is too old, rubric-ci needs"
            f" {'.'.join(map(str, OLDEST))}; put a step with actions/setup-python before this one"
        )
    return fitting[max(fitting)]


def release(python: Path) -> tuple[int, ...]:
    """Return the version in a path such as `Python/3.12.4/x64/bin/python3`; () for a preview."""
    folder = python.parts[python.parts.index("Python") + 1]
    return tuple(map(int, folder.split("."))) if folder.replace(".", "").isdecimal() else ()


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return where environments are kept: with the runner's tools, else with the user's caches."""
    fallback = Path.home() / ("AppData/Local" if WINDOWS else ".cache")
    named = (environ.get("RUNNER_TOOL_CACHE"), environ.get("XDG_CACHE_HOME"), str(fallback))
    for kept in filter(None, named):
        if not in_workspace(kept):
            return Path(kept) / "rubric-ci"
    raise CannotStart("every cache folder is in the workspace; set RUNNER_TOOL_CACHE to another")


def install(requirements: str, folder: Path) -> Path:
    """Return the environment for this checkout and list, made if it is not there.

    It is made beside its place and renamed: a job that is killed, or runs at the same time,
    never leaves or sees half an environment.
    """
    environment = folder / f"{requirements}-{digest(requirements)}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_owner(folder, WRITABLE)
    if os.path.lexists(environment):
        return check_owner(environment, REACHABLE)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-", ignore_cleanup_errors=True) as new:
        made = make(Path(new) / "environment", CHECKOUT / "requirements" / f"{requirements}.txt")
        made.chmod(0o700)
        try:
            made.rename(environment)
        except OSError:
            if not environment.is_dir():  # else another job was faster: the same content
                raise
    return check_owner(environment, REACHABLE)


def check_owner(folder: Path, forbidden: int) -> Path:
    """Return a folder that is ours and has no forbidden mode bit; raises CannotStart.

    NOTE: Windows has neither; its profile and tool folders are private by their access lists.
    """
    status = folder.lstat()
    mine = WINDOWS or (status.st_uid == os.geteuid() and not status.st_mode & forbidden)
    if stat.S_ISDIR(status.st_mode) and mine:
        return folder
    raise CannotStart(
        f"{folder} may have been written by another user; remove it, or set RUNNER_TOOL_CACHE to a"
        " folder of this user"
    )


def digest(requirements: str) -> str:
    """Name everything that an environment is made of."""
    content = hashlib.sha256(f"{sys.version}|{sys.base_prefix}|{platform.machine()}".encode())
    for path in (CHECKOUT / "requirements" / f"{requirements}.txt", *sources()):
        content.update(b"\0" + str(path.relative_to(CHECKOUT)).encode() + b"\0")
        content.update(path.read_bytes())
    return content.hexdigest()[:20]


def sources() -> Iterator[Path]:
    """Every file that the package is made of, in a fixed order."""
    for top in ("rubric_ci", "schemas"):
        files = (path for path in sorted((CHECKOUT / top).rglob("*")) if path.is_file())
        yield from (path for path in files if "__pycache__" not in path.parts)


def make(environment: Path, requirements: Path) -> Path:
    """Fill a new environment: the locked packages, then ours, laid out as in the wheel."""
    venv.create(environment, symlinks=not WINDOWS)
    fill(environment, requirements)
    packages = next(environment.rglob("site-packages"))
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(CHECKOUT / "rubric_ci", packages / "rubric_ci", ignore=skip)
    shutil.copytree(CHECKOUT / "schemas", packages / "rubric_ci" / "_schemas", ignore=skip)
    return environment


def fill(environment: Path, requirements: Path) -> None:
    """Install a locked list: by the uv that is here, by one that pip fetches, or by pip itself."""
    words = uv(environment)
    if not words:
        pip = pip_of(environment)
        fetched = environment.with_name("uv")
        get_uv = [*pip, "--only-binary=:all:", "--target", str(fetched)]
        if run([*get_uv, "-r", str(CHECKOUT / "requirements" / "uv.txt")], environment):
            words = uv(environment, fetched)
        else:
            print("uv cannot be had here: pip installs the packages, and takes longer", flush=True)
            words = pip
    if not run([*words, "-r", str(requirements)], environment):
        raise CannotStart(
            f"{requirements.name} could not be installed; what pip or uv said is above"
        )


def run(words: list[str], environment: Path) -> bool:
    """Run an installer, away from the workspace, whose configuration files must have no say."""
    seen = installer_environment(os.environ)
    return subprocess.run(words, cwd=environment, env=seen, check=False).returncode == 0


def installer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what an installer may see: no PYTHON*, PIP_*, UV_*, token, or folder of the workspace.

    A mirror of the package index is set in pip's configuration file of the user or the machine.
    """
    seen = {
        name: value
        for name, value in environ.items()
        if name.upper() in INSTALLERS_SEE or name.startswith("LC_")
    }
    paths = [path for path in environ.get("PATH", "").split(os.pathsep) if path]
    outside = os.pathsep.join(path for path in paths if not in_workspace(path))
    named = {
        name for name, value in seen.items() if Path(value).is_absolute() and in_workspace(value)
    }
    return {name: value for name, value in seen.items() if name not in named} | {"PATH": outside}


def uv(environment: Path, fetched: Path | None = None) -> list[str]:
    """Return how uv installs into an environment; [] where there is no uv."""
    found = shutil.which("uv", path=str(fetched / "bin") if fetched else None)
    # NOTE: on Windows `which` looks into the working directory first, and that is the workspace.
    if not found or in_workspace(found):
        return []
    python = str(python_of(environment))
    return [found, "--no-config", "pip", "install", "--python", python, *LOCKED]


def pip_of(environment: Path) -> list[str]:
    """Return how pip installs into an environment: this interpreter's pip, else the bundled one."""
    python = str(python_of(environment))
    quick = ("--no-compile", "--no-input", "--disable-pip-version-check")
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-I", "-m", "pip", "--python", python, "install", *LOCKED, *quick]
    if importlib.util.find_spec("ensurepip") and run(
        [python, "-I", "-m", "ensurepip"], environment
    ):
        return [python, "-I", "-m", "pip", "install", *LOCKED, *quick]
    raise CannotStart("neither uv nor pip is here; put a step with actions/setup-python before")


def python_of(environment: Path) -> Path:
    """Return the interpreter of an environment."""
    return environment / ("Scripts/python.exe" if WINDOWS else "bin/python")


def escape(text: str) -> str:
    """Keep a message in its one workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def become(words: list[str], environ: Mapping[str, str]) -> NoReturn:
    """Run a program in our place, so that signals and the exit code are its own."""
    if WINDOWS:  # NOTE: exec on Windows starts a second process and returns at once
        sys.exit(subprocess.run(words, env=environ, check=False).returncode)
    os.execve(words[0], words, environ)  # noqa: S606 - there is no shell on purpose


if __name__ == "__main__":
    main(os.environ)
