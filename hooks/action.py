"""What `action.yml` runs: installs rubric-ci from the action's own checkout, once, and becomes it.

Standard library only, started with `python3 -I`: nothing in the repository under test can be
imported, here or by rubric-ci. The environment is private, holds exactly the packages of one
hash-locked list, and lies in the runner's tool cache under a name that is a digest of everything
in it: a second job finds it there, and another version never meets it.
"""

from __future__ import annotations  # an old interpreter must get as far as our message

import hashlib
import importlib.util
import os
import platform
import shutil
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
LOCKED = ("--quiet", "--require-hashes", "--no-deps")


class Command(NamedTuple):
    """One command of the action: its words on the command line, and what has to be installed."""

    words: tuple[str, ...]
    requirements: str


COMMANDS = {
    "validate": Command(("validate",), "light"),
    "run": Command(("run",), "judge"),
    "generate": Command(("generate", "rubrics"), "judge"),
    "comment": Command(("comment",), "github"),
    "plan": Command(("plan",), "light"),
    "merge": Command(("merge",), "github"),
    "compare": Command(("compare",), "github"),
}


class CannotStart(Exception):
    """rubric-ci cannot be installed or started; the message says what to do."""


def main(environ: Mapping[str, str]) -> NoReturn:
    """Install what the command needs, then become it."""
    try:
        become(prepare(environ))
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
    kept = environ.get("RUNNER_TOOL_CACHE") or environ.get("XDG_CACHE_HOME") or str(fallback)
    return Path(kept) / "rubric-ci"


def install(requirements: str, folder: Path) -> Path:
    """Return the environment for this checkout and list, made if it is not there.

    It is made beside its place and renamed: a job that is killed, or runs at the same time,
    never leaves or sees half an environment.
    """
    environment = folder / f"{requirements}-{digest(requirements)}"
    if environment.is_dir():
        return environment
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-", ignore_cleanup_errors=True) as new:
        made = make(Path(new) / "environment", CHECKOUT / "requirements" / f"{requirements}.txt")
        try:
            made.rename(environment)
        except OSError:
            if not environment.is_dir():  # else another job was faster: the same content
                raise
    return environment


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
    return subprocess.run(words, cwd=environment, check=False).returncode == 0


def uv(environment: Path, fetched: Path | None = None) -> list[str]:
    """Return how uv installs into an environment; [] where there is no uv."""
    found = shutil.which("uv", path=str(fetched / "bin") if fetched else None)
    # NOTE: on Windows `which` looks into the working directory first, and that is the workspace.
    if not found or Path(found).resolve().parent == Path.cwd():
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


def become(words: list[str]) -> NoReturn:
    """Run a program in our place, so that signals and the exit code are its own."""
    if WINDOWS:  # NOTE: exec on Windows starts a second process and returns at once
        sys.exit(subprocess.run(words, check=False).returncode)
    os.execv(words[0], words)  # noqa: S606 - there is no shell on purpose


if __name__ == "__main__":
    main(os.environ)
