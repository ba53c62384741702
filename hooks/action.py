"""Entry point of `action.yml`: install rubric-ci from the action's own checkout and run it.

Standard library only, started with `python3 -I`, so that nothing in the repository under test can
be imported. The virtual environment is private and has the packages of one hash-locked list; later
jobs find it in the runner's tool cache under a digest of its content.

Nothing below the workspace is executed: the checkout of a pull request is there. Installers see an
environment of a few listed variables, and `GITHUB_TOKEN` reaches only commands that post.
"""

from __future__ import annotations  # an old interpreter must get as far as the error message

import contextlib
import difflib
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CHECKOUT, OLDEST = Path(__file__).resolve().parents[1], (3, 11)
USAGE, SHORTEST = 2, 6  # exit code of a usage error; characters of a value that is masked
WRITABLE, REACHABLE = 0o022, 0o077  # mode bits of other users
NOT_POSTING = frozenset({"", "off", "false", "0", "no", "n", "f"})
INSTALLERS_SEE = """
    PATH HOME USER LOGNAME LANG TMPDIR TEMP TMP HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE SYSTEMROOT SYSTEMDRIVE WINDIR
    COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA PROGRAMFILES PROGRAMDATA
"""
ADD_PYTHON = "add a step with actions/setup-python before this one"
ALL, VARIABLES = "judge", "RUBRIC_CI_ENV"
INPUTS, FOLDER = "RUBRIC_CI_INPUTS", "RUBRIC_CI_WORKING_DIRECTORY"
NAMES = "RUBRIC_CI_INPUT_NAMES"  # of the variables, for messages
EVERYWHERE = {"command", "env", "github-token", "working-directory"}  # inputs of every command
REQUIREMENTS, RESTART = "RUBRIC_CI_REQUIREMENTS", "RUBRIC_CI_RESTART"
EXPORT = "otel"  # the list that is added where results are sent to a tracing tool
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
LOCKED = ("--quiet", "--require-hashes", "--no-deps")


def run(arguments: list[str], environment: Path) -> bool:
    """Run an installer outside of the workspace, so that no configuration file there applies."""
    env = installer_environment(os.environ)
    return subprocess.run(arguments, cwd=environment, env=env, check=False).returncode == 0


class Host(NamedTuple):
    """The machine and its tools: what decides which packages are installed and by what."""

    checkout: Path = CHECKOUT
    windows: bool = os.name == "nt"
    version: str = sys.version  # of the interpreter
    run: Callable[[list[str], Path], bool] = run
    which: Callable[..., str | None] = shutil.which
    find_module: Callable[[str], object] = importlib.util.find_spec


THIS = Host()


class Command(NamedTuple):
    """How a command of rubric-ci is started: its list of requirements, and when it posts."""

    requirements: str  # lists, joined by `+`; enough for models of OpenAI, Anthropic and Gemini
    posts_if: tuple[str, ...] = ()  # inputs that make it post, as RUBRIC_CI_ variables
    shared: tuple[str, ...] = ()  # inputs of several commands that it reads, as such variables
    exports: bool = False  # it sends results to the endpoint that a variable names


POSTS = ("COMMENT", "CHECK_RUN")
COMMANDS = {  # as they are typed on the command line
    "validate": Command("light"),
    "run": Command("github", POSTS, (*POSTS, "COMMENT_KEY", "PAGE", "ALLOWED_HOSTS"), exports=True),
    "generate rubrics": Command("github", ("GENERATE_RUBRICS_PR",), ("ALLOWED_HOSTS",)),
    "compare": Command("github", ("COMPARE_ISSUE",)),
    "baseline keep": Command("github"),
    "baseline accept": Command("github"),
    "history add": Command("light"),
    "history publish": Command("light"),
    "plan": Command("light"),
    "report merge": Command("github", POSTS, (*POSTS, "COMMENT_KEY", "PAGE")),
    "report comment": Command("github", ("COMMAND",), ("COMMENT_KEY", "CHECK_RUN", "PAGE")),
    "authorize": Command("github", ("COMMAND",), ("COMMENT_KEY",)),
}


class CannotStart(Exception):
    """rubric-ci cannot be installed or started."""


def main(environ: Mapping[str, str]) -> NoReturn:
    """Install the requirements of the command, then run it in place of this process."""
    try:
        check_inputs(environ)
        names = {v: name for name, every in variables_of_inputs().items() for v in every}
        arguments = prepare(environ)
        environment = environment_of(environ) | {NAMES: json.dumps(names)}
        enter(environ.get(FOLDER, ""))
        become(arguments, environment)
    except (CannotStart, OSError) as error:
        annotate("error", str(error))
        end(" ".join(str(error).split()), environ)


def annotate(level: str, message: str) -> None:
    """Print an annotation."""
    data = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{level} title=rubric-ci::{data}", flush=True)


def end(reason: str, environ: Mapping[str, str]) -> NoReturn:
    """Add the reason to the summary, set the output `failure`, and end."""
    summary = f"## \u26a0\ufe0f rubric-ci \u00b7 the action could not start\n\n    {reason}\n"
    texts = {"GITHUB_STEP_SUMMARY": summary, "GITHUB_OUTPUT": f"failure={reason}\n"}
    for name, text in texts.items():
        file = Path(environ.get(name, ""))
        with contextlib.suppress(OSError), file.open("a", encoding="utf-8") as written:
            written.write(text)
    sys.exit(USAGE)


def check_inputs(environ: Mapping[str, str], host: Host = THIS) -> None:
    """Warn of inputs that the command does not use; raises CannotStart for an unknown one.

    GitHub passes an unknown input on with a warning, so a misspelt `fail-on` would not hold.
    """
    given = [name for name, value in json.loads(environ.get(INPUTS) or "{}").items() if value]
    variables = variables_of_inputs(host)
    for name in given:
        if name.lower() not in variables:
            near = difflib.get_close_matches(name.lower().replace("_", "-"), variables, 1)
            fix = f"did you mean `{near[0]}`?" if near else "remove it"
            raise CannotStart(f"unknown input `{name}`; {fix}")
    words, command = environ.get("RUBRIC_CI_COMMAND", ""), choose(environ)
    own, shared = (
        re.sub(r"\W", "_", words.upper()),
        {f"RUBRIC_CI_{name}" for name in command.shared},
    )
    unused = [
        f"`{name}`"
        for name in given
        if name.lower() not in EVERYWHERE
        and not any(
            v in shared or v.startswith(f"RUBRIC_CI_{own}_") for v in variables[name.lower()]
        )
    ]
    if unused:
        annotate("warning", f"`{words}` does not use the input {', '.join(unused)}; remove it")


def variables_of_inputs(host: Host = THIS) -> dict[str, list[str]]:
    """Return the variables that each input sets, as `action.yml` has them."""
    text = (host.checkout / "action.yml").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for variable, name in re.findall(r"(?m)^ +(\w+): \$\{\{ inputs\.([\w-]+) \}\}$", text):
        found.setdefault(name, []).append(variable)
    return found


def enter(folder: str) -> None:
    """Go to the folder of the input `working-directory`."""
    if folder and not Path(folder).is_dir():
        raise CannotStart(f"working-directory: there is no folder {folder} in the workspace")
    os.chdir(folder or ".")


def prepare(environ: Mapping[str, str]) -> list[str]:
    """Install the requirements of the command and return its command line."""
    if (python := interpreter(environ)) != Path(sys.executable):
        return [str(python), "-I", __file__]
    environment = install(choose(environ).requirements, cache_folder(environ))
    words = environ["RUBRIC_CI_COMMAND"].split()
    return [str(python_of(environment)), "-I", "-X", "utf8", "-m", "rubric_ci", *words]


def environment_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: with the token if it posts, and how to start again."""
    inputs = (environ.get(f"RUBRIC_CI_{name}", "") for name in choose(environ).posts_if)
    posts = any(given.lower() not in NOT_POSTING for given in inputs)
    dropped = {REQUIREMENTS, RESTART, VARIABLES, INPUTS, FOLDER} | (
        set() if posts else {"GITHUB_TOKEN"}
    )
    known = {name: value for name, value in environ.items() if name not in dropped}
    known |= masked(variables(environ.get(VARIABLES, "")))
    again = json.dumps([sys.executable, "-I", __file__])
    return known if environ.get(REQUIREMENTS) == ALL else {**known, RESTART: again}


def variables(text: str) -> dict[str, str]:
    """Return the variables of the input `env` that have a value."""
    lines = [line.strip().partition("=") for line in text.splitlines() if line.strip()]
    if any(not equals or not name.isidentifier() for name, equals, _ in lines):
        raise CannotStart("the input `env` has a line that is not NAME=VALUE; a value is one line")
    return {name: value for name, _, value in lines if value}


def masked(found: dict[str, str]) -> dict[str, str]:
    """Return the variables, with their values masked in the log."""
    for value in (value for value in found.values() if len(value) >= SHORTEST):
        print(f"::add-mask::{value.replace('%', '%25')}", flush=True)
    return found


def in_workspace(path: str | Path) -> bool:
    """Return True if a path is in the repository under test, as written or by its real path."""
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    tops = {workspace, Path(os.path.realpath(workspace))}
    ways = {Path(os.path.abspath(path)), Path(os.path.realpath(path))}  # noqa: PTH100 - links stay
    return any(way.is_relative_to(top) for way in ways for top in tops)


def choose(environ: Mapping[str, str]) -> Command:
    """Return the command that the input `command` names, with the lists that this run needs.

    With litellm once it asked for that, and with the exporter where an endpoint is set.
    """
    if (name := environ.get("RUBRIC_CI_COMMAND", "")) not in COMMANDS:
        known = ", ".join(COMMANDS)
        raise CannotStart(f"unknown command '{name}': set the input `command` to one of {known}")
    command = COMMANDS[name]
    lists = ALL if environ.get(REQUIREMENTS) == ALL else command.requirements
    given = {**environ, **variables(environ.get(VARIABLES, ""))}
    exports = command.exports and any(given.get(each) for each in ENDPOINTS)
    return command._replace(requirements=f"{lists}+{EXPORT}" if exports else lists)


def interpreter(
    environ: Mapping[str, str],
    running: tuple[object, ...] = tuple(sys.version_info),
    host: Host = THIS,
) -> Path:
    """Return this interpreter, or the newest of the runner's tool cache if this one is too old."""
    if running[:2] >= OLDEST:
        return Path(sys.executable)
    pattern = "Python/3.*/*/python.exe" if host.windows else "Python/3.*/*/bin/python3"
    cached = Path(environ.get("RUNNER_TOOL_CACHE") or os.devnull).glob(pattern)
    versions = {release(path): path for path in cached if not in_workspace(path)}
    fitting = {version: path for version, path in versions.items() if version >= OLDEST}
    if not fitting:
        known = f"Python {platform.python_version()} is too old: rubric-ci needs"
        raise CannotStart(f"{known} {'.'.join(map(str, OLDEST))} or newer; {ADD_PYTHON}")
    return fitting[max(fitting)]


def release(python: Path) -> tuple[int, ...]:
    """Return the version in a path such as `Python/3.12.4/x64/bin/python3`; () for a preview."""
    folder = python.parts[python.parts.index("Python") + 1]
    return tuple(map(int, folder.split("."))) if folder.replace(".", "").isdecimal() else ()


def cache_folder(environ: Mapping[str, str], host: Host = THIS) -> Path:
    """Return the folder of the environments: in the runner's tool cache, else the user's cache."""
    fallback = Path.home() / ("AppData/Local" if host.windows else ".cache")
    named = (environ.get("RUNNER_TOOL_CACHE"), environ.get("XDG_CACHE_HOME"), str(fallback))
    for folder in filter(None, named):
        if not in_workspace(folder):
            return Path(folder) / "rubric-ci"
    raise CannotStart("every cache folder is in the workspace; set RUNNER_TOOL_CACHE to another")


def install(requirements: str, folder: Path, host: Host = THIS) -> Path:
    """Return the environment for this checkout and list of requirements; create it if missing.

    It is created elsewhere and renamed: no job leaves or reads an incomplete one.
    """
    environment = folder / f"{requirements}-{digest(requirements, host)}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_owner(folder, WRITABLE, host)
    if os.path.lexists(environment):
        return check_owner(environment, REACHABLE, host)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-", ignore_cleanup_errors=True) as new:
        created = Path(new) / "environment"
        create(created, lists_of(requirements, host), host)
        created.chmod(0o700)
        try:
            created.rename(environment)
        except OSError:
            if not environment.is_dir():  # a parallel job was faster; its content is the same
                raise
    return check_owner(environment, REACHABLE, host)


def check_owner(folder: Path, forbidden: int, host: Host = THIS) -> Path:
    """Return a folder of this user without forbidden mode bits; raises CannotStart."""
    status = folder.lstat()  # NOTE: Windows has neither; access lists keep its folders private
    mine = status.st_uid == getattr(os, "geteuid", int)() and not status.st_mode & forbidden
    if stat.S_ISDIR(status.st_mode) and (mine or host.windows):
        return folder
    fix = "remove it, or set RUNNER_TOOL_CACHE to a folder of this user"
    raise CannotStart(f"{folder} may have been written by another user; {fix}")


def digest(requirements: str, host: Host = THIS) -> str:
    """Return a digest of the interpreter, the requirements and the source files."""
    content = hashlib.sha256(f"{host.version}|{sys.base_prefix}|{platform.machine()}".encode())
    paths = lists_of(requirements, host)
    for top in ("rubric_ci", "schemas"):
        paths += [path for path in sorted((host.checkout / top).rglob("*")) if path.is_file()]
    for path in (each for each in paths if "__pycache__" not in each.parts):
        content.update(b"\0" + str(path.relative_to(host.checkout)).encode() + b"\0")
        content.update(path.read_bytes())
    return content.hexdigest()[:20]


def lists_of(requirements: str, host: Host) -> list[Path]:
    """Return the files of the lists of requirements."""
    folder = host.checkout / "requirements"
    return [folder / f"{name}.txt" for name in requirements.split("+")]


def create(environment: Path, requirements: list[Path], host: Host) -> None:
    """Create an environment with the locked packages and rubric-ci, laid out as in the wheel."""
    venv.create(environment, symlinks=not host.windows)
    install_packages(environment, requirements, host)
    packages, skip = next(environment.rglob("site-packages")), shutil.ignore_patterns("__pycache__")
    for top, place in (("rubric_ci", "rubric_ci"), ("schemas", "rubric_ci/_schemas")):
        shutil.copytree(host.checkout / top, packages / place, ignore=skip)


def install_packages(environment: Path, requirements: list[Path], host: Host) -> None:
    """Install locked lists with the installed uv, a uv that pip downloads, or pip itself."""
    installer = uv(environment, host)
    if not installer:
        pip = pip_of(environment, host)
        folder = environment.with_name("uv")
        get_uv = [*pip, "--only-binary=:all:", "--target", str(folder)]
        if host.run([*get_uv, "-r", str(host.checkout / "requirements" / "uv.txt")], environment):
            installer = uv(environment, host, folder)
        else:
            print("uv is not available; using pip (slower)", flush=True)
            installer = pip
    for path in requirements:
        if not host.run([*installer, "-r", str(path)], environment):
            raise CannotStart(f"cannot install {path.name}; see the output of pip or uv above")


def installer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for an installer: no PYTHON*, PIP_*, UV_*, token or workspace path."""
    paths = environ.get("PATH", "").split(os.pathsep)
    outside = os.pathsep.join(path for path in paths if path and not in_workspace(path))
    listed = {
        name: value
        for name, value in environ.items()
        if (name.upper() in INSTALLERS_SEE.split() or name.startswith("LC_"))
        and not (Path(value).is_absolute() and in_workspace(value))
    }
    return listed | {"PATH": outside}


def uv(environment: Path, host: Host = THIS, folder: Path | None = None) -> list[str]:
    """Return uv's command for installing into an environment; [] if there is no uv."""
    found = host.which("uv", path=str(folder / "bin") if folder else None)
    if not found or in_workspace(found):  # Windows searches the working directory first
        return []
    python = str(python_of(environment, host))
    return [found, "--no-config", "pip", "install", "--python", python, *LOCKED]


def pip_of(environment: Path, host: Host = THIS) -> list[str]:
    """Return pip's command for installing: of this interpreter's pip, else of the bundled one."""
    python = str(python_of(environment, host))
    install = ("install", *LOCKED, "--no-compile", "--no-input", "--disable-pip-version-check")
    if host.find_module("pip"):
        return [sys.executable, "-I", "-m", "pip", "--python", python, *install]
    if host.find_module("ensurepip") and host.run([python, "-I", "-m", "ensurepip"], environment):
        return [python, "-I", "-m", "pip", *install]
    raise CannotStart(f"neither uv nor pip is available; {ADD_PYTHON}")


def python_of(environment: Path, host: Host = THIS) -> Path:
    """Return the interpreter of an environment."""
    return environment / ("Scripts/python.exe" if host.windows else "bin/python")


def become(arguments: list[str], environ: Mapping[str, str]) -> NoReturn:
    """Replace this process by a program, so that signals and exit code are the program's."""
    if os.name == "nt":  # NOTE: exec on Windows starts a second process and returns at once
        sys.exit(subprocess.run(arguments, env=environ, check=False).returncode)
    os.execve(arguments[0], arguments, environ)  # noqa: S606 - there is no shell on purpose


if __name__ == "__main__":
    main(os.environ)
