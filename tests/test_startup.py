"""Modules that a command must not load."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.gate.report import json_format
from rubric_ci.values.usage import Usage, UsedBy
from tests.captured import captured
from tests.checkout import Checkout
from tests.sample_reports import a_report, graded

HEAVY = {
    *("litellm", "openai", "httpx", "aiohttp", "requests", "urllib3", "github"),
    *("rich", "pydantic", "asyncio", "jinja2", "opentelemetry"),
}
OF_A_RUN = {  # their classes take longer to create than a file takes to check
    *("rubric_ci.values.report", "rubric_ci.values.results", "rubric_ci.values.config"),
    *("rubric_ci.values.evals", "rubric_ci.values.command_settings", "rubric_ci.values.targets"),
}
EVAL = """\
description: of scripts # and more
evalcases:
  - id: one
    input: Hi
    rubrics: [Greets back]
"""
BROKEN = "evalcases:\n  - id: one\n    input: Hi\n    rubric: [Greets back]\n"


def loaded(tmp_path: Path, *arguments: str, **environment: str) -> set[str]:
    """Return the top-level modules that a command loaded, and the modules of rubric-ci."""
    done = captured(
        [sys.executable, "-X", "importtime", "-m", "rubric_ci", *arguments],
        cwd=tmp_path,
        env={**os.environ, **environment},
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
    assert "rubric_ci.files.validation.rules" not in modules  # imports every rule
    if text == EVAL:  # a good file needs nothing that others need
        assert not any("media" in name for name in modules)
        unused = {"dataclasses", "fractions", "html", "json", "jsonschema", "shlex", "shutil"}
        assert modules.isdisjoint(unused)


def test_adding_a_run_to_the_history_loads_little(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json_format.render(a_report(graded("a"))))
    modules = loaded(tmp_path, "history", "add", "report.json")
    assert modules.isdisjoint(HEAVY - {"pydantic"})
    others = {
        "cli.options_report_cache",
        "cli.options_run_and_plan",
        "system.git.plumbing",
        "values.config",
        "values.evals",
        "values.rubric",
        "values.targets",
    }
    assert modules.isdisjoint({f"rubric_ci.{name}" for name in others})
    assert "jinja2" not in loaded(tmp_path, "history", "show")
    assert "jinja2" not in loaded(tmp_path, "compare", "report.json", "report.json")


def test_a_plain_run_loads_nothing_for_others(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(EVAL)
    (tmp_path / "rubric-ci.yaml").write_text(
        "targets:\n  - {name: default, provider: mock, response: Hello}\njudge: {model: openai/m}\n"
    )
    modules = loaded(tmp_path, "run", "--list", "a.eval.yaml")
    assert "rubric_ci.grading.targets.llm" in modules
    assert modules.isdisjoint({"jinja2", "pydantic", "sqlite3"})
    assert "rubric_ci.parts.lab.probe" not in modules


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


def test_a_run_loads_what_its_answers_and_reports_need(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(EVAL.replace("[Greets back]", "[{contains: Hello}]"))
    (tmp_path / "rubric-ci.yaml").write_text(
        "targets:\n  - {name: default, provider: mock, response: Hello}\n"
    )
    all_reports = ("run", "--reports", "json,markdown,html", "a.eval.yaml")
    modules = loaded(tmp_path, *all_reports, OTEL_EXPORTER_OTLP_ENDPOINT="")
    assert "opentelemetry" not in modules
    found = {name for name in modules if "media" in name or name.endswith(".copies")}
    # Values, and the blocks of requests and replies, which take a millisecond; no file is read.
    assert found == {"rubric_ci.values.media", "rubric_ci.models.llm.media"}
    pytest.importorskip("opentelemetry.exporter", reason="the extra `otel` is not installed")
    sends = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    assert "opentelemetry" in loaded(tmp_path, "run", "a.eval.yaml", **sends)


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
