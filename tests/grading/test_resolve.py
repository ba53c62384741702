"""The target of a case: its folder and its environment variables."""

from typing import Any

import pytest

from rubric_ci.errors import MissingVariable
from rubric_ci.files.parsing.env_vars import Variables
from rubric_ci.grading.resolve import choose_cluster, choose_target, resolve_target
from rubric_ci.values.agent_program import HealthCheck
from rubric_ci.values.config import Config
from rubric_ci.values.targets import CliTarget
from tests.cases import build_case


@pytest.mark.parametrize(
    ("cwd", "file", "expected"),
    [
        (".", "evals/a.yaml", "evals"),
        ("..", "app/evals/a.yaml", "app"),
        ("${{ HOME }}", "evals/a.yaml", "${{ HOME }}"),
    ],
)
def test_a_command_of_an_eval_folder_runs_in_each(cwd: str, file: str, expected: str) -> None:
    target = CliTarget(
        name="agent",
        command_template="run",
        cwd=cwd,
        cwd_from_eval_folder=True,
        healthcheck=HealthCheck(type="command", command_template="ok", cwd=cwd),
    )
    chosen = choose_target(build_case(file=file), Config(targets={"agent": target}))
    assert isinstance(chosen, CliTarget)
    assert chosen.healthcheck is not None
    assert (chosen.cwd, chosen.healthcheck.cwd) == (expected, expected)


def test_a_command_is_given_variables() -> None:
    target = CliTarget(
        name="agent",
        command_template="run --url ${{ HOST }}/v1",
        cwd="${{ FOLDER }}",
        healthcheck=HealthCheck(type="http", url="http://${{ HOST }}/up"),
    )
    resolved = resolve_target(target, allowed(HOST="here", FOLDER="/app"))
    assert isinstance(resolved, CliTarget)
    assert (resolved.command_template, resolved.cwd) == ("run --url here/v1", "/app")
    assert resolved.healthcheck == HealthCheck(type="http", url="http://here/up")
    with pytest.raises(MissingVariable, match=r"target `agent`: .* FOLDER is not set"):
        resolve_target(target, allowed(HOST="here"))


@pytest.mark.parametrize(
    ("rule", "facts", "cluster"),
    [
        ("case", {}, ""),
        ("case", {"conversation_id": "refund"}, "conversation refund"),
        ("file", {"conversation_id": "refund"}, "conversation refund"),
        ("file", {}, "file evals/a.eval.yaml"),
        ("tag:topic-*", {"tags": ("slow", "topic-a", "topic-b")}, "tag topic-a"),
        ("tag:topic-*", {"tags": ("slow",)}, ""),
        ("case", {"template": "ab12"}, "template ab12"),
        ("tag:topic-*", {"template": "ab12", "tags": ("topic-a",)}, "tag topic-a"),
        ("file", {"template": "ab12"}, "file evals/a.eval.yaml"),
    ],
)
def test_the_cluster_of_a_case(rule: str, facts: dict[str, Any], cluster: str) -> None:
    assert choose_cluster(build_case(file="evals/a.eval.yaml", **facts), rule) == cluster


def allowed(**environment: str) -> Variables:
    return Variables(environment=environment, listed=("HOST", "FOLDER"))
