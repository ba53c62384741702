"""Health checks with real commands and real HTTP."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import CannotAnswer
from rubric_ci.grading import engine
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.targets import command as healthcheck_module
from rubric_ci.values.agent_program import HealthCheck
from rubric_ci.values.results import CaseResult, Errored, Graded
from rubric_ci.values.targets import CliTarget
from tests import platforms
from tests.cases import build_case, build_context, build_script
from tests.http_server import serving

pytestmark = platforms.SHELL


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/well" else 503)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the library
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with serving(Health) as server:
        yield server.url


def agent(check: dict[str, Any] | None, **facts: Any) -> CliTarget:
    defaults: dict[str, Any] = {"command_template": "echo hello", "timeout_seconds": 10}
    healthcheck = HealthCheck(**check) if check else None
    return CliTarget(name="agent", healthcheck=healthcheck, **{**defaults, **facts})


def problem(target: CliTarget, root: Path) -> str:
    try:
        asyncio.run(healthcheck_module.check_health(target, build_context(root)))
    except CannotAnswer as error:
        return str(error).removeprefix("the health check of the target `agent` failed: ")
    return ""


def command(line: str, **facts: Any) -> CliTarget:
    return agent({"type": "command", "command_template": line, **facts})


def test_no_health_check_is_fine(tmp_path: Path) -> None:
    assert problem(agent(None), tmp_path) == ""


@pytest.mark.parametrize(
    ("line", "facts", "wrong"),
    [
        pytest.param("true", {}, "", id="well"),
        pytest.param("echo no model >&2; exit 4", {}, "exit status 4: no model", id="ill"),
        pytest.param("exit 4", {}, "exit status 4, no output", id="no-output"),
        pytest.param(
            "sleep 30",
            {"timeout_seconds": 0.3},
            "`sleep 30` did not end within 0.3 s and was killed",
            id="late",
        ),
        pytest.param("test -e here", {"cwd": "app"}, "", id="its-own-folder"),
    ],
)
def test_commands(line: str, facts: dict[str, Any], wrong: str, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "here").touch()
    assert problem(command(line, **facts), tmp_path) == wrong


def test_addresses(address: str, tmp_path: Path) -> None:
    assert problem(agent({"type": "http", "url": f"{address}/well"}), tmp_path) == ""
    assert problem(agent({"type": "http", "url": f"{address}/ill"}), tmp_path) == (
        f"{address}/ill responds with 503 Service Unavailable"
    )


def test_an_address_without_a_server(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/well"
    wrong = problem(agent({"type": "http", "url": url}), tmp_path)
    assert wrong.startswith(f"{url} does not respond: ")
    assert "refused" in wrong


def test_other_addresses_are_not_opened(tmp_path: Path) -> None:
    assert problem(agent({"type": "http", "url": "file:///etc/hostname"}), tmp_path) == (
        "file:///etc/hostname is not an http or https URL"
    )


def grade(target: CliTarget, root: Path, *folders: str) -> tuple[CaseResult, ...]:
    check = build_script("true", score_from="exit_status")
    tasks = [
        Task(case=build_case(id=str(n), evaluators=(check,)), target=replace(target, cwd=folder))
        for n, folder in enumerate(folders or (".", ".", "."))
    ]
    return asyncio.run(engine.grade(tasks, build_context(root), concurrency=3))


def test_a_target_is_checked_once(tmp_path: Path) -> None:
    results = grade(command("echo x >> checks"), tmp_path)
    assert [type(result) for result in results] == [Graded] * 3
    assert (tmp_path / "checks").read_text() == "x\n"


def test_a_target_is_checked_in_each_folder_that_it_runs_in(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    grade(command("pwd >> ../checks"), tmp_path, "a", "b", "a")
    checked = (tmp_path / "checks").read_text().split()
    assert sorted(Path(folder).name for folder in checked) == ["a", "b"]


def test_a_target_that_is_ill_is_not_asked(tmp_path: Path) -> None:
    target = agent(
        {"type": "command", "command_template": "echo x >> checks; exit 1"},
        command_template="touch asked; echo hello",
    )
    results = grade(target, tmp_path)
    assert [r.reason for r in results if isinstance(r, Errored)] == [
        "the health check of the target `agent` failed: exit status 1, no output"
    ] * 3
    assert not (tmp_path / "asked").exists()
    assert (tmp_path / "checks").read_text() == "x\n"
