"""`hooks/action.py`: what it installs and where, whatever the workspace holds."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hooks import action, installation
from hooks.installation import Host

SCRIPT = Path(action.__file__)
EXE = ".exe" if sys.platform == "win32" else ""


def start(command: str, tool_cache: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "RUBRIC_CI_COMMAND": command, "RUNNER_TOOL_CACHE": str(tool_cache)}
    words = [sys.executable, "-I", str(SCRIPT)]
    return subprocess.run(
        words, env=environ | more, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("command", "message"),
    [("", "unknown command ''"), ("100%\nrm", "unknown command '100%25%0Arm'")],
    ids=["none", "hostile"],
)
def test_unknown_command(command: str, message: str, tmp_path: Path) -> None:
    started = start(command, tmp_path)
    # The list itself is in tests/hooks/test_action_ends.py.
    told = f"{message}: set the input `command` to one of {', '.join(action.COMMANDS)}"
    assert started.stdout == f"::error title=rubric-ci::{told}\n"
    assert started.returncode == action.USAGE
    assert not list(tmp_path.iterdir())


def test_no_cache_folder_that_can_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "rubric-ci").write_text("not a folder")
    (tmp_path / ".cache").write_text("not a folder")
    known = {"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    started = start("validate", tmp_path, **known)
    assert started.returncode == action.USAGE
    assert started.stdout == (
        f"::error title=rubric-ci::no cache folder can be written ({tmp_path}, {tmp_path}, "
        f"{tmp_path / '.cache'}); set RUNNER_TOOL_CACHE to one that can\n"
    )
    assert not started.stderr


def test_the_user_s_cache_serves_where_the_tool_cache_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/rubric-ci").write_text("not a folder")
    environ = {"RUNNER_TOOL_CACHE": str(tmp_path / "tools"), "XDG_CACHE_HOME": str(tmp_path)}
    assert installation.cache_folder(environ) == tmp_path / "rubric-ci"


MIRROR = """\
[global]
index-url = https://user:pass@mirror.example/simple
[install]
trusted-host =
    mirror.example
    other.example
"""
CERTIFICATE = """\
[global]
index-url = https://first.example
cert = /etc/company.pem
[install]
index-url = https://second.example
extra-index-url = https://more.example
"""


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("", {}),
        ("not a configuration", {}),
        (
            MIRROR,
            {
                "UV_DEFAULT_INDEX": "https://user:pass@mirror.example/simple",
                "UV_INSECURE_HOST": "mirror.example other.example",
            },
        ),
        (
            CERTIFICATE,
            {
                "UV_DEFAULT_INDEX": "https://second.example",
                "UV_INDEX": "https://more.example",
                "SSL_CERT_FILE": "/etc/company.pem",
            },
        ),
    ],
    ids=["none", "broken", "mirror", "certificate"],
)
def test_uv_gets_what_pip_s_configuration_says(
    config: str, expected: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / ".config/pip/pip.conf"
    file.parent.mkdir(parents=True)
    file.write_text(config)
    known = {"HOME": str(tmp_path)}
    assert installation.pip_files(known, Host(windows=False))[-2] == file
    monkeypatch.setattr(installation, "pip_files", lambda *_: [file])  # not the machine's
    found = installation.uv_settings(known, Host(windows=False))
    assert {name: found[name] for name in found if name != "UV_SYSTEM_CERTS"} == expected
    given = known | {"SSL_CERT_FILE": "/etc/own.pem"}
    assert "SSL_CERT_FILE" not in installation.uv_settings(given, Host(windows=False))


def test_no_pip_configuration_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    paths = installation.pip_files({"HOME": str(tmp_path)}, Host(windows=False))
    assert not any(path.is_relative_to(tmp_path) for path in paths)


def tools(folder: Path, *releases: str, windows: bool = False) -> Path:
    for release in releases:
        python = folder / "Python" / release / "x64" / ("python.exe" if windows else "bin/python3")
        python.parent.mkdir(parents=True)
        python.touch()
    return folder


@pytest.mark.parametrize("windows", [False, True], ids=["posix", "windows"])
def test_too_old_an_interpreter_takes_the_newest_cached(windows: bool, tmp_path: Path) -> None:
    cache = tools(tmp_path, "3.9.9", "3.11.4", "3.14.0-rc.1", "3.12.10", "3.12.9", windows=windows)
    environ = {"RUNNER_TOOL_CACHE": str(cache)}
    found = installation.interpreter(environ, (3, 10, 12), Host(windows=windows))
    assert found.relative_to(cache).parts[:2] == ("Python", "3.12.10")


@pytest.mark.parametrize("releases", [(), ("3.9.9", "3.10.12")], ids=["empty", "old"])
def test_too_old_an_interpreter_and_no_other(releases: tuple[str, ...], tmp_path: Path) -> None:
    environ = {"RUNNER_TOOL_CACHE": str(tools(tmp_path, *releases))}
    message = r"rubric-ci needs 3\.11 or newer; add a step with"
    with pytest.raises(installation.CannotStart, match=message):
        installation.interpreter(environ, (3, 10, 12))


@pytest.mark.parametrize(
    ("environ", "windows", "folder"),
    [
        ({"RUNNER_TOOL_CACHE": "/opt/tools", "XDG_CACHE_HOME": "/xdg"}, False, "/opt/tools"),
        ({"RUNNER_TOOL_CACHE": "", "XDG_CACHE_HOME": "/xdg"}, False, "/xdg"),
        ({}, False, "~/.cache"),
        ({}, True, "~/AppData/Local"),
    ],
    ids=["runner", "xdg", "home", "windows"],
)
def test_cache_folder(environ: dict[str, str], windows: bool, folder: str) -> None:
    found = installation.cache_folder(environ, Host(windows=windows))
    assert found == Path(folder).expanduser() / "rubric-ci"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small checkout of the action, with an empty list of requirements."""
    folder = tmp_path / "checkout"
    for name in ("rubric_ci/__init__.py", "schemas/eval.schema.json", "requirements/light.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return folder


@pytest.mark.parametrize(
    ("changed", "new"),
    [
        ("requirements/light.txt", True),
        ("rubric_ci/__init__.py", True),
        ("rubric_ci/added.py", True),
        ("schemas/eval.schema.json", True),
        ("requirements/judge.txt", False),
        ("rubric_ci/__pycache__/added.pyc", False),
        ("README.md", False),
    ],
)
def test_digest_changes_with_what_is_installed(changed: str, new: bool, checkout: Path) -> None:
    host = Host(checkout=checkout)
    before = installation.digest("light", host)
    (checkout / changed).parent.mkdir(exist_ok=True)
    (checkout / changed).write_text("# changed\n")
    assert (installation.digest("light", host) != before) is new


def test_digest_changes_with_the_interpreter(checkout: Path) -> None:
    hosts = (Host(checkout=checkout), Host(checkout=checkout, version="3.99.0"))
    assert len({installation.digest("light", each) for each in hosts}) == 2


class Installers:
    """Installers that record their names and fail on demand."""

    def __init__(self, *fail: str) -> None:
        self.fail = fail
        self.ran: list[str] = []

    def __call__(self, arguments: list[str], environment: Path) -> bool:
        name = "uv" if Path(arguments[0]).stem == "uv" else arguments[3]
        if "--target" in arguments:
            folder = Path(arguments[arguments.index("--target") + 1]) / "bin"
            folder.mkdir(parents=True)
            (folder / f"uv{EXE}").touch(mode=0o755)
            name = "pip for uv"
        else:
            assert {"--require-hashes", "--no-deps"} <= set(arguments) or name == "ensurepip"
        self.ran.append(name)
        return name not in self.fail


def host(checkout: Path, uv: str | None, modules: set[str], run: Installers) -> Host:
    """A machine with this uv and these Python modules."""

    def which(name: str, path: str | None = None) -> str | None:
        return shutil.which(name, path=path) if path else uv

    return Host(checkout=checkout, run=run, which=which, find_module=lambda name: name in modules)


@pytest.mark.parametrize(
    ("uv", "modules", "fail", "ran"),
    [
        ("/opt/uv", {"pip"}, (), ["uv"]),
        (None, {"pip"}, (), ["pip for uv", "uv"]),
        ("./uv", {"pip"}, (), ["pip for uv", "uv"]),
        (None, {"pip"}, ("pip for uv",), ["pip for uv", "pip"]),
        (None, {"ensurepip"}, (), ["ensurepip", "pip for uv", "uv"]),
        ("/opt/uv", {"pip"}, ("uv",), ["uv", "pip"]),
        (None, {"pip"}, ("uv",), ["pip for uv", "uv", "pip"]),
    ],
    ids=[
        *("uv", "fetched-uv", "uv-of-the-workspace", "no-uv-for-this-machine", "bundled-pip"),
        *("uv-fails", "fetched-uv-fails"),
    ],
)
def test_who_installs(
    uv: str | None,
    modules: set[str],
    fail: tuple[str, ...],
    ran: list[str],
    checkout: Path,
    tmp_path: Path,
) -> None:
    installers = Installers(*fail)
    here = host(checkout, uv, modules, installers)
    assert installation.install("light", tmp_path / "cache", here).is_dir()
    assert installers.ran == ran


@pytest.mark.parametrize(
    ("modules", "fail", "message"),
    [
        (set(), (), r"^neither uv nor pip is available; add a step"),
        ({"ensurepip"}, ("ensurepip",), r"^neither uv nor pip is available; add a step"),
        ({"pip"}, ("uv", "pip"), r"^cannot install light\.txt; see the output of pip above;"),
        ({"pip"}, ("pip for uv", "pip"), r"^cannot install light\.txt"),
    ],
    ids=["no-installer", "broken-ensurepip", "uv-fails", "pip-fails"],
)
def test_failed_installation_leaves_nothing(
    modules: set[str], fail: tuple[str, ...], message: str, checkout: Path, tmp_path: Path
) -> None:
    here = host(checkout, None, modules, Installers(*fail))
    with pytest.raises(installation.CannotStart, match=message):
        installation.install("light", tmp_path / "cache", here)
    assert list((tmp_path / "cache").iterdir()) == []


def test_two_jobs_at_once_get_the_same_environment(checkout: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first: list[Path] = []

    def overtaken(arguments: list[str], environment: Path) -> bool:
        other = host(checkout, "/opt/uv", set(), Installers())
        first.append(installation.install("light", cache, other))
        return True

    here = host(checkout, "/opt/uv", set(), Installers())._replace(run=overtaken)
    assert [installation.install("light", cache, here)] == first == list(cache.iterdir())


@pytest.mark.parametrize(
    ("windows", "python"),
    [(False, "e/bin/python"), (True, "e/Scripts/python.exe")],
    ids=["posix", "windows"],
)
def test_python_of(windows: bool, python: str) -> None:
    assert installation.python_of(Path("e"), Host(windows=windows)) == Path(python)


@pytest.mark.parametrize(
    ("command", "asked", "requirements", "can_start_again"),
    [
        ("validate", {}, "light", True),
        ("run", {}, "github", True),
        ("generate rubrics", {}, "github", True),
        ("judge test", {}, "light", True),
        ("run", {"RUBRIC_CI_REQUIREMENTS": "judge"}, "judge", False),
        ("run", {"RUBRIC_CI_REQUIREMENTS": "../evil"}, "github", True),
        ("run", {"RUBRIC_CI_RESTART": '["evil"]'}, "github", True),
    ],
)
def test_litellm_is_installed_once_a_command_needs_it(
    command: str, asked: dict[str, str], requirements: str, *, can_start_again: bool
) -> None:
    environ = {"RUBRIC_CI_COMMAND": command, **asked}
    assert action.choose(environ).requirements == requirements
    given = action.environment_of(environ)
    assert "RUBRIC_CI_REQUIREMENTS" not in given
    again = json.dumps([sys.executable, "-I", str(SCRIPT)])
    assert given.get("RUBRIC_CI_RESTART") == (again if can_start_again else None)


ENDPOINT, OTEL = "OTEL_EXPORTER_OTLP_ENDPOINT", "https://otel.example"
TRACES = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"


@pytest.mark.parametrize(
    ("command", "given", "requirements"),
    [
        ("run", {ENDPOINT: OTEL}, "github+otel"),
        ("report merge", {ENDPOINT: OTEL}, "github"),
        ("run", {"RUBRIC_CI_ENV": f"A=b\n {TRACES}={OTEL}\n"}, "github+otel"),
        ("run", {"RUBRIC_CI_REQUIREMENTS": "judge", ENDPOINT: OTEL}, "judge+otel"),
        ("run", {"RUBRIC_CI_ENV": f"{ENDPOINT}=\n"}, "github"),
        ("run", {ENDPOINT: ""}, "github"),
        ("validate", {ENDPOINT: OTEL}, "light"),
    ],
    ids=["run", "merge", "input", "litellm", "empty input", "empty variable", "another command"],
)
def test_the_exporter_is_installed_where_an_endpoint_is_set(
    command: str, given: dict[str, str], requirements: str
) -> None:
    assert action.choose({"RUBRIC_CI_COMMAND": command, **given}).requirements == requirements


def test_two_lists_are_installed_one_after_the_other(checkout: Path, tmp_path: Path) -> None:
    (checkout / "requirements" / "otel.txt").write_text("")
    read: list[str] = []

    def installed(arguments: list[str], _: Path) -> bool:
        read.append(Path(arguments[-1]).name)
        return True

    here = host(checkout, "/opt/uv", set(), Installers())._replace(run=installed)
    one = installation.install("light", tmp_path / "cache", here)
    both = installation.install("light+otel", tmp_path / "cache", here)
    assert read == ["light.txt", "light.txt", "otel.txt"]
    assert one != both


def test_the_list_of_the_exporter_has_the_versions_of_the_others() -> None:
    pins = {name: versions(name) for name in ("github", "judge", "otel")}
    for name in ("github", "judge"):
        shared = pins[name].keys() & pins["otel"].keys()
        assert shared >= {"requests", "typing-extensions"}
        assert [each for each in shared if pins[name][each] != pins["otel"][each]] == []


def versions(name: str) -> dict[str, str]:
    text = (installation.CHECKOUT / "requirements" / f"{name}.txt").read_text("utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


def test_variables_of_the_input_are_set_and_masked(capfd: pytest.CaptureFixture[str]) -> None:
    text = "OPENAI_API_KEY=sk-a=b%\n\n  REGION=eu-1 \r\nNONE=\n"
    given = action.environment_of({"RUBRIC_CI_COMMAND": "run", "RUBRIC_CI_ENV": text, "A": "b"})
    del given["RUBRIC_CI_RESTART"]
    own = {"RUBRIC_CI_COMMAND": "run", "A": "b"}
    assert given == own | {"OPENAI_API_KEY": "sk-a=b%", "REGION": "eu-1"}
    assert capfd.readouterr().out == "::add-mask::sk-a=b%25\n"


@pytest.mark.parametrize("line", ["sk-of-nobody", "A KEY=b", "{", "=b"])
def test_a_line_without_a_variable_is_refused_and_not_shown(line: str) -> None:
    with pytest.raises(installation.CannotStart, match=r"not NAME=VALUE; a value is one line$"):
        action.environment_of({"RUBRIC_CI_COMMAND": "run", "RUBRIC_CI_ENV": f"A=b\n{line}\n"})
