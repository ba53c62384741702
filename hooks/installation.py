"""The private environment that rubric-ci runs in: where it is kept, and who installs it.

Standard library only, as `hooks/action.py`, which starts it.
"""

from __future__ import annotations  # an old interpreter must get as far as the error message

import configparser
import contextlib
import hashlib
import importlib.util
import os
import platform
import shutil
import ssl
import stat
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CHECKOUT, OLDEST = Path(__file__).resolve().parents[1], (3, 11)
WRITABLE, REACHABLE = 0o022, 0o077  # mode bits of other users
INSTALLERS_SEE = """
    PATH HOME USER LOGNAME LANG TMPDIR TEMP TMP HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE SYSTEMROOT SYSTEMDRIVE WINDIR
    COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA PROGRAMFILES PROGRAMDATA
"""
FROM_PIP = {
    "UV_DEFAULT_INDEX": "index-url",
    "UV_INDEX": "extra-index-url",
    "UV_INSECURE_HOST": "trusted-host",
    "SSL_CERT_FILE": "cert",
}
NETWORK = (
    "see the output of pip above; pip's configuration file has a mirror, the system store or "
    "SSL_CERT_FILE a certificate authority"
)
ADD_PYTHON = "add a step with actions/setup-python before this one"
LOCKED = ("--quiet", "--require-hashes", "--no-deps")


class CannotStart(Exception):
    """rubric-ci cannot be installed or started."""


def run(arguments: list[str], environment: Path) -> bool:
    """Run an installer outside of the workspace, so that no configuration file there applies."""
    env = installer_environment(os.environ)
    env |= uv_settings(env)
    return subprocess.run(arguments, cwd=environment, env=env, check=False).returncode == 0


def can_write(folder: Path) -> bool:
    """Create a folder; return False if this user cannot, or cannot write to it."""
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)
    return False


class Host(NamedTuple):
    """The machine and its tools: what decides which packages are installed and by what."""

    checkout: Path = CHECKOUT
    windows: bool = os.name == "nt"
    version: str = sys.version  # of the interpreter
    run: Callable[[list[str], Path], bool] = run
    can_write: Callable[[Path], bool] = can_write
    which: Callable[..., str | None] = shutil.which
    find_module: Callable[[str], object] = importlib.util.find_spec


THIS = Host()


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
    outside = [Path(folder) for folder in named if folder and not in_workspace(folder)]
    if not outside:
        raise CannotStart(
            "every cache folder is in the workspace; set RUNNER_TOOL_CACHE to another"
        )
    for folder in outside:
        if host.can_write(folder / "rubric-ci"):
            return folder / "rubric-ci"
    tried = ", ".join(map(str, outside))
    raise CannotStart(
        f"no cache folder can be written ({tried}); set RUNNER_TOOL_CACHE to one that can"
    )


def install(requirements: str, folder: Path, host: Host = THIS) -> Path:
    """Return the environment for this checkout and list of requirements; create it if missing.

    It is created elsewhere and renamed: no job leaves or reads an incomplete one.
    """
    environment = folder / f"{requirements}-{digest(requirements, host)}"
    host.can_write(folder)
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
    folder = host.checkout / "requirements"
    return [folder / f"{name}.txt" for name in requirements.split("+")]


def create(environment: Path, requirements: list[Path], host: Host) -> None:
    """Create an environment with the locked packages and rubric-ci, laid out as in the wheel."""
    venv.create(environment, symlinks=not host.windows)
    install_packages(environment, requirements, host)
    packages, skip = next(environment.rglob("site-packages")), shutil.ignore_patterns("__pycache__")
    for tests in packages.glob("*/tests"):  # of a few packages; nothing imports them
        shutil.rmtree(tests)
    for top, place in (("rubric_ci", "rubric_ci"), ("schemas", "rubric_ci/_schemas")):
        shutil.copytree(host.checkout / top, packages / place, ignore=skip)


def install_packages(environment: Path, requirements: list[Path], host: Host) -> None:
    """Install locked lists with the installed uv, a uv that pip downloads, or pip itself.

    NOTE: uv does not read pip's configuration; where a network needs more than the settings that
    are passed on, only pip serves.
    """
    installer = uv(environment, host) or fetched_uv(environment, host)
    for path in requirements:
        if installer and host.run([*installer, "-r", str(path)], environment):
            continue
        print("uv cannot install the packages; using pip (slower)", flush=True)
        installer = []
        if not host.run([*pip_of(environment, host), "-r", str(path)], environment):
            raise CannotStart(f"cannot install {path.name}; {NETWORK}")


def fetched_uv(environment: Path, host: Host) -> list[str]:
    """Return the command of a uv that pip downloads; [] if there is none for this machine."""
    folder = environment.with_name("uv")
    get_uv = [*pip_of(environment, host), "--only-binary=:all:", "--target", str(folder)]
    wanted = str(host.checkout / "requirements" / "uv.txt")
    return uv(environment, host, folder) if host.run([*get_uv, "-r", wanted], environment) else []


def uv_settings(environ: Mapping[str, str], host: Host = THIS) -> dict[str, str]:
    """Return pip's mirror and certificates for uv, and that the system's certificates hold."""
    parser = configparser.RawConfigParser(strict=False)
    with contextlib.suppress(configparser.Error, UnicodeDecodeError):
        parser.read(pip_files(environ, host), encoding="utf-8")
    known = {**dict(parser["global"] if parser.has_section("global") else {})}
    known.update(parser["install"] if parser.has_section("install") else {})
    found = {name: " ".join(known.get(key, "").split()) for name, key in FROM_PIP.items()}
    verify = ssl.get_default_verify_paths()
    if host.windows or sys.platform == "darwin" or verify.cafile or verify.capath:
        found["UV_SYSTEM_CERTS"] = "true"
    return {name: value for name, value in found.items() if value and name not in environ}


def pip_files(environ: Mapping[str, str], host: Host) -> list[Path]:
    """Return the files of pip's configuration, of the machine and of the user; later ones win."""
    if host.windows:
        tops = (environ.get("PROGRAMDATA", ""), environ.get("APPDATA", ""))
        files = [Path(top) / "pip" / "pip.ini" for top in tops if top]
    else:
        home = Path(environ.get("HOME") or os.devnull)
        user = (".pip", ".config/pip", "Library/Application Support/pip")
        machine = ("/Library/Application Support/pip", "/etc/xdg/pip", "/etc")
        files = [
            *(Path(top) / "pip.conf" for top in machine),
            *(home / top / "pip.conf" for top in user),
        ]
    return [path for path in files if not in_workspace(path)]


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


def in_workspace(path: str | Path) -> bool:
    """Return True if a path is in the repository under test, as written or by its real path."""
    workspace = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
    tops = {workspace, Path(os.path.realpath(workspace))}
    ways = {Path(os.path.abspath(path)), Path(os.path.realpath(path))}  # noqa: PTH100 - links stay
    return any(way.is_relative_to(top) for way in ways for top in tops)


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
    return environment / ("Scripts/python.exe" if host.windows else "bin/python")
