"""Attacks on `hooks/action.py`: the workspace, the variables of other steps, and other users."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hooks import action, installation
from hooks.installation import CannotStart, Host
from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout
from tests.hooks import composite
from tests.hooks.conftest import ROOT

HOSTILE = "#!/bin/sh\necho pwned; exit 42\n"
TOKEN = "ghs_0123456789abcdef"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository under test, where the step runs."""
    (folder := tmp_path / "workspace").mkdir()
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder))
    monkeypatch.chdir(folder)
    return folder


def program(path: Path, text: str = HOSTILE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_installers_see_listed_variables_only(workspace: Path, tmp_path: Path) -> None:
    dump = "import json, os; json.dump(dict(os.environ), open('seen.json', 'w'))"
    names = ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PIP_INDEX_URL", "PIP_CONFIG_FILE")
    more = ("UV_INDEX_URL", "UV_CONFIG_FILE", "GITHUB_TOKEN", "OPENAI_API_KEY", "LD_PRELOAD")
    hostile = dict.fromkeys((*names, *more, "XDG_CONFIG_HOME", "VIRTUAL_ENV"), str(workspace))
    listed = {"HTTPS_PROXY": "http://proxy:3128", "SSL_CERT_FILE": "/etc/ca.pem", "LC_ALL": "C"}
    path = os.pathsep.join([str(workspace / "bin"), "bin", os.defpath, ""])
    given = {**hostile, **listed, "HOME": str(workspace / "home"), "PATH": path}
    seen = installation.installer_environment(given)
    assert seen == {**listed, "PATH": os.defpath}
    installer = [sys.executable, "-I", "-c", dump]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (hostile | {"PYTHONHOME": "", "LD_PRELOAD": ""}).items():
            patch.setenv(name, value)
        assert installation.run(installer, tmp_path)
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert not [name for name in seen if name in hostile]


@pytest.mark.parametrize("where", ["bin", "node_modules/.bin", "../link"])
def test_uv_of_the_workspace(where: str, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(workspace / "bin" / "uv")
    program(workspace / "node_modules" / ".bin" / "uv")
    platforms.symlink(workspace.parent / "link", workspace / "bin")
    monkeypatch.setenv("PATH", str(workspace / where))
    assert installation.uv(workspace.parent / "environment") == []


@pytest.mark.parametrize("folder", [".cache", "link/.cache"])
def test_a_cache_in_the_workspace_is_not_used(folder: str, workspace: Path) -> None:
    platforms.symlink(workspace.parent / "link", workspace)
    inside = str(workspace.parent / folder if "link" in folder else workspace / folder)
    environ = {"RUNNER_TOOL_CACHE": inside, "XDG_CACHE_HOME": inside}
    assert installation.cache_folder(environ) == Path.home() / ".cache" / "rubric-ci"


def test_no_cache_outside_the_workspace(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(workspace))
    monkeypatch.setenv("USERPROFILE", str(workspace))
    with pytest.raises(CannotStart, match="every cache folder is in the workspace"):
        installation.cache_folder({})


def test_an_interpreter_of_the_workspace_is_not_run(workspace: Path) -> None:
    program(workspace / "Python" / "3.12.1" / "x64" / "bin" / "python3")
    with pytest.raises(CannotStart, match="too old"):
        installation.interpreter({"RUNNER_TOOL_CACHE": str(workspace)}, (3, 10, 1))


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A machine with a small checkout of the action, and an installer that does nothing."""
    folder = tmp_path / "action"
    for name in ("rubric_ci/__init__.py", "schemas/eval.schema.json", "requirements/light.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return Host(checkout=folder, run=lambda *_: True, which=lambda *_, **__: "/opt/uv")


def plant(host: Host, folder: Path) -> None:
    program(folder / f"light-{installation.digest('light', host)}" / "bin" / "python")


def move_behind_a_link(path: Path) -> None:
    platforms.symlink(path, path.rename(path.parent / "elsewhere"))


# What another user did with the folder of environments, and with the one that was installed.
ATTACKS: dict[str, Callable[[Path, Path], None]] = {
    "open to all": lambda folder, _: folder.chmod(0o777),
    "open to the group": lambda folder, _: folder.chmod(0o775),
    "environment open to the group": lambda _, environment: environment.chmod(0o770),
    "environment behind a link": lambda _, environment: move_behind_a_link(environment),
    "folder behind a link": lambda folder, _: move_behind_a_link(folder),
    "of another user": lambda _, environment: os.chown(environment, 12345, 12345),
    "folder of another user": lambda folder, _: os.chown(folder, 12345, 12345),
}


@platforms.MODES
@pytest.mark.parametrize("name", ["planted", *ATTACKS])
def test_an_environment_of_others_is_not_used(name: str, host: Host, tmp_path: Path) -> None:
    if "another user" in name and os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    (folder := tmp_path / "tools" / "rubric-ci").mkdir(parents=True, mode=0o700)
    if name == "planted":
        plant(host, folder)
    else:
        ATTACKS[name](folder, installation.install("light", folder, host))
    with pytest.raises(CannotStart, match="may have been written by another user; remove"):
        installation.install("light", folder, host)


@platforms.MODES
def test_what_is_made_is_private_whatever_the_umask(host: Host, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        environment = installation.install("light", tmp_path / "tools" / "rubric-ci", host)
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o777 for path in (environment, environment.parent)]
    assert modes == [0o700, 0o700]
    assert installation.install("light", tmp_path / "tools" / "rubric-ci", host) == environment


@pytest.mark.parametrize(
    ("command", "inputs", "reaches"),
    [
        ("validate", {}, False),
        ("plan", {}, False),
        ("run", {}, False),
        ("run", {"RUBRIC_CI_COMMENT": "off"}, False),
        ("run", {"RUBRIC_CI_COMMENT": "update"}, True),
        ("run", {"RUBRIC_CI_CHECK_RUN": "evals"}, True),
        ("generate rubrics", {"RUBRIC_CI_GENERATE_RUBRICS_PR": "false"}, False),
        ("generate rubrics", {"RUBRIC_CI_GENERATE_RUBRICS_PR": "true"}, True),
        ("report merge", {"RUBRIC_CI_GENERATE_RUBRICS_PR": "true"}, False),
        ("report merge", {"RUBRIC_CI_COMMENT": "on-failure"}, True),
        ("compare", {}, False),
        ("compare", {"RUBRIC_CI_COMPARE_ISSUE": "Red"}, True),
        ("report comment", {}, True),
    ],
)
def test_the_token_reaches_commands_that_post(
    command: str, inputs: dict[str, str], reaches: bool
) -> None:
    environ = {"RUBRIC_CI_COMMAND": command, "GITHUB_TOKEN": TOKEN, "OTHER": "1", **inputs}
    assert ("GITHUB_TOKEN" in action.environment_of(environ)) is reaches
    assert action.environment_of(environ)["OTHER"] == "1"


@platforms.MODES
@pytest.mark.parametrize(
    "path", ["{workspace}/bin", "bin", "{workspace}/../link", "{workspace}/../links", ""]
)
def test_the_step_starts_no_python_of_the_workspace(path: str, workspace: Path) -> None:
    for name in ("python3", "python"):
        program(workspace / "bin" / name)
        program(workspace / name)
    platforms.symlink(workspace.parent / "link", workspace / "bin")
    (workspace.parent / "links").mkdir()
    platforms.symlink(workspace.parent / "links" / "python3", workspace / "bin" / "python3")
    Checkout.create(workspace)
    first = path.format(workspace=workspace)
    environ = {**ENVIRONMENT, "PATH": os.pathsep.join([first, os.defpath])}
    ran = composite.run(ROOT, {"command": "x"}, workspace=workspace, environ=environ)
    assert ran.stdout.startswith("::error title=rubric-ci::unknown command 'x'"), ran.stdout


@platforms.MODES
def test_no_variable_names_the_interpreter(workspace: Path, tmp_path: Path) -> None:
    """Python 3.11 and newer believe PYTHONEXECUTABLE with `-I`: pip and venv would start it."""
    folder = tmp_path / "action"
    (folder / "hooks").mkdir(parents=True)
    (folder / "hooks" / "action.py").write_text("import sys; print(sys.executable)")
    (folder / "action.yml").write_bytes((ROOT / "action.yml").read_bytes())
    hostile = str(program(workspace / "bin" / "python"))
    environ = {**ENVIRONMENT, "PYTHONEXECUTABLE": hostile, "__PYVENV_LAUNCHER__": hostile}
    ran = composite.run(folder, {"command": "validate"}, workspace=workspace, environ=environ)
    assert Path(ran.stdout.strip()).is_file(), ran.stderr
    assert not Path(ran.stdout.strip()).is_relative_to(workspace)
