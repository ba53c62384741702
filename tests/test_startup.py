"""Modules that a command must not load."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.gate.report import json_format
from rubric_ci.model.usage import Usage
from rubric_ci.model.used_by import UsedBy
from tests.checkout import Checkout
from tests.sample_reports import a_report, graded

HEAVY = {
    *("litellm", "openai", "httpx", "aiohttp", "requests", "urllib3", "github"),
    *("rich", "pydantic", "asyncio", "jinja2", "markdown_it", "opentelemetry"),
}
OF_A_RUN = {  # their classes take longer to create than a file takes to check
    *("rubric_ci.model.report", "rubric_ci.model.results", "rubric_ci.model.config"),
    *("rubric_ci.model.evals", "rubric_ci.model.command_settings"),
}
EVAL = "evalcases:\n  - id: one\n    input: Hi\n    rubrics: [Greets back]\n"
BROKEN = "evalcases:\n  - id: one\n    input: Hi\n    rubric: [Greets back]\n"


def loaded(tmp_path: Path, *arguments: str, **environment: str) -> set[str]:
    """Return the top-level modules that a command loaded, and the modules of rubric-ci."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "rubric_ci", *arguments],
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr[-500:]  # 2: the command line is wrong
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert len(lines) > 10
    names = [line.rpartition("|")[2].strip().split(".") for line in lines]
    return {".".join(name if name[0] == "rubric_ci" else name[:1]) for name in names}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--help"], ""),
        (["--version"], ""),
        (["validate", "a.eval.yaml"], EVAL),
        (["validate", "a.eval.yaml"], BROKEN),
        (["validate", "--format", "github", "a.eval.yaml"], BROKEN),
    ],
    ids=["help", "version", "validate a good file", "validate a bad file", "validate for github"],
)
def test_light_commands_load_nothing_heavy(tmp_path: Path, arguments: list[str], text: str) -> None:
    (tmp_path / "a.eval.yaml").write_text(text)
    modules = loaded(tmp_path, *arguments)
    assert "click" in modules
    assert modules.isdisjoint(HEAVY)
    assert modules.isdisjoint(OF_A_RUN)
    assert text == BROKEN or not any("media" in name for name in modules)


def test_adding_a_run_to_the_history_loads_little(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json_format.render(a_report(graded("a"))))
    modules = loaded(tmp_path, "history", "add", "report.json")
    assert "sqlite3" in modules
    assert modules.isdisjoint(HEAVY - {"pydantic"})
    others = {
        "cli.ci",
        "cli.run_and_plan",
        "git.plumbing",
        "model.config",
        "model.evals",
        "model.rubric",
    }
    assert modules.isdisjoint({f"rubric_ci.{name}" for name in others})


def test_templates_are_loaded_for_html_only(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json_format.render(a_report(graded("a"))))
    assert "jinja2" not in loaded(tmp_path, "compare", "report.json", "report.json")
    loaded(tmp_path, "history", "add", "report.json")
    assert "jinja2" not in loaded(tmp_path, "history", "badge")
    assert "jinja2" in loaded(tmp_path, "history", "page")


def test_a_plain_run_loads_nothing_for_others(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(EVAL)
    (tmp_path / "rubric-ci.yaml").write_text(
        "targets:\n  - {name: default, provider: mock, response: Hello}\njudge: {model: openai/m}\n"
    )
    modules = loaded(tmp_path, "run", "--list", "a.eval.yaml")
    assert "rubric_ci.grading.targets.llm" in modules
    assert modules.isdisjoint({"jinja2", "pydantic", "sqlite3"})
    assert "rubric_ci.services.probe" not in modules


def test_an_estimate_from_the_last_run_does_not_load_pydantic(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(EVAL)
    (tmp_path / "rubric-ci.yaml").write_text(
        "targets:\n  - {name: default, provider: mock, response: Hello}\njudge: {model: openai/m}\n"
    )
    used = UsedBy(role="judge", name="openai/m", answers=1, usage=Usage(calls=1, cost_usd=9))
    report = replace(a_report(graded("a")), used_by=(used,))
    (tmp_path / ".rubric-ci").mkdir()
    (tmp_path / ".rubric-ci/report.json").write_text(json_format.render(report))
    assert "pydantic" not in loaded(tmp_path, "run", "--list", "a.eval.yaml")


def test_a_run_without_images_loads_nothing_for_them(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(EVAL.replace("[Greets back]", "[{contains: Hello}]"))
    (tmp_path / "rubric-ci.yaml").write_text(
        "targets:\n  - {name: default, provider: mock, response: Hello}\n"
    )
    modules = loaded(tmp_path, "run", "--reports", "json,markdown,html", "a.eval.yaml")
    found = {name for name in modules if "media" in name or name.endswith(".copies")}
    # The value, and which of them a judge is shown.
    assert found == {"rubric_ci.model.media", "rubric_ci.models.judge.shown_media"}


@pytest.mark.parametrize("endpoint", ["", "http://127.0.0.1:9"])
def test_a_run_loads_opentelemetry_for_an_endpoint_only(tmp_path: Path, endpoint: str) -> None:
    pytest.importorskip("opentelemetry.exporter", reason="the extra `otel` is not installed")
    (tmp_path / "a.eval.yaml").write_text(EVAL.replace("[Greets back]", "[{contains: Hello}]"))
    (tmp_path / "rubric-ci.yaml").write_text(
        "targets:\n  - {name: default, provider: mock, response: Hello}\n"
    )
    own = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    modules = loaded(tmp_path, "run", "a.eval.yaml", **own)
    assert ("opentelemetry" in modules) == bool(endpoint)


def test_a_good_file_needs_nothing_that_others_need(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(f"description: of scripts # and more\n{EVAL}")
    unused = {"dataclasses", "html", "json", "jsonschema", "shlex", "shutil"}
    assert loaded(tmp_path, "validate", "a.eval.yaml") & unused == set()


@pytest.mark.parametrize(
    ("environment", "needed"),
    [
        ({"GITHUB_ACTIONS": "", "GITHUB_EVENT_NAME": "pull_request"}, False),
        ({"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "push"}, False),
        ({"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"}, True),
    ],
    ids=["at a desk", "after a push", "on a pull request"],
)
def test_validate_loads_git_code_for_a_base_only(
    tmp_path: Path, environment: dict[str, str], needed: bool
) -> None:
    checkout = Checkout.create(tmp_path)
    base = checkout.commit({"a.eval.yaml": EVAL})
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"base": {"sha": base}}}))
    runner = {"GITHUB_REPOSITORY": "acme/shop", "GITHUB_EVENT_PATH": str(event), **environment}
    modules = loaded(tmp_path, "validate", "a.eval.yaml", **runner)
    assert ("rubric_ci.system.git" in modules, "rubric_ci.gate.policy" in modules) == (
        needed,
        needed,
    )
    assert modules.isdisjoint(HEAVY)
