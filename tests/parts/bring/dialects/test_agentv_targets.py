"""Targets files of AgentV 2.7 to 4: aliases, health checks, and targets that stop no others."""

from pathlib import Path

import pytest

from rubric_ci.files.project.loader import LoadedTargets, load_targets
from rubric_ci.files.validation.problem_formats import headline
from rubric_ci.files.yaml_text.source import open_config
from rubric_ci.values.agent_program import HealthCheck
from rubric_ci.values.targets import CliTarget, MockTarget, Target, UnsupportedTarget
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke

FILE = ".agentv/targets.yaml"


def loaded(text: str) -> LoadedTargets:
    return load_targets(open_config(FILE, f"targets:\n{text}"))


def said(found: LoadedTargets) -> list[str]:
    return [headline(each) for each in found.diagnostics]


MOCK = "- {name: mocked, provider: mock, response: hello}\n"
OF_ALIAS = "a case that uses it gets no verdict"


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("- {name: default, use_target: mocked}\n", MockTarget(name="default", response="hello")),
        (
            "- {name: default, useTarget: other}\n- {name: other, use_target: mocked}\n",
            MockTarget(name="default", response="hello"),
        ),
    ],
    ids=["an alias", "an alias of an alias"],
)
def test_an_alias_is_the_target_that_it_names(text: str, target: Target) -> None:
    found = loaded(text + MOCK)
    assert (found.targets[0], said(found)) == (target, [])


def test_a_health_check_has_the_spelling_of_agentv() -> None:
    check = "healthcheck: {command: agent --version, timeout_seconds: 3}"
    (target,) = loaded(
        f"- {{name: a, provider: cli, command: 'agent {{PROMPT}}', {check}}}"
    ).targets
    assert isinstance(target, CliTarget)
    assert target.healthcheck == HealthCheck(
        type="command", timeout_seconds=3.0, command_template="agent --version"
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [("missing", "there is no target `missing`"), ("default", "there is no target `default`")],
    ids=["of nothing", "of itself"],
)
def test_an_alias_without_a_target_stops_its_cases_only(name: str, reason: str) -> None:
    found = loaded(f"- {{name: default, use_target: {name}}}\n{MOCK}")
    why = f"see `rubric-ci validate {FILE}`"
    assert found.targets == (
        UnsupportedTarget(name="default", provider="not-supported", reason=why),
        MockTarget(name="mocked", response="hello"),
    )
    rule = f"{FILE}:2:19: warning: target-not-supported"
    message = f"the alias `default` is not used: {reason}; name the target itself; {OF_ALIAS}"
    assert said(found) == [f"{rule}: {message}"]


NAMED = """\
targets:
  - {name: default, use_target: agent}
  - {name: agent, use_target: '${{ AGENT_TARGET }}', judge_target: unused}
  - {name: shop, provider: mock, response: hello}
  - {name: again, use_target: '${{ AGENT_TARGET }}'}
"""
SUITE = """\
tests: [{id: a, input: Hi, criteria: Greets, assert: [{type: contains, value: hello}]}]
"""


@pytest.mark.parametrize(
    ("variables", "status", "printed"),
    [
        ({"AGENT_TARGET": "shop"}, 0, "1 pass"),
        (
            {"AGENT_TARGET": "shpo"},
            2,
            "target `default`: AGENT_TARGET is `shpo`, which is not a target",
        ),
        ({"AGENT_TARGET": "again"}, 2, "target `again`: its aliases name each other"),
        ({}, 2, "the environment variable AGENT_TARGET is not set"),
    ],
    ids=["a target", "none", "itself", "not set"],
)
def test_a_variable_names_a_target(
    variables: dict[str, str], status: int, printed: str, tmp_path: Path
) -> None:
    checkout = Checkout.create(tmp_path)
    config = "env: {allow: [AGENT_TARGET]}\n"
    checkout.commit({FILE: NAMED, "a.eval.yaml": SUITE, "rubric-ci.yaml": config})
    checked = invoke(checkout.root, ENVIRONMENT, "validate", FILE, "a.eval.yaml", "--strict")
    assert checked.returncode == 0, checked.stdout
    done = invoke(checkout.root, {**ENVIRONMENT, **variables}, "run", "a.eval.yaml")
    assert done.returncode == status, done.stderr
    assert printed in done.stdout + done.stderr


BROKEN = "- {name: broken, provider: cli}\n"
NO_COMMAND = "missing-key: the target has no `command_template`"


def test_a_target_with_errors_stops_no_other_one() -> None:
    found = loaded(f"{BROKEN}- {{name: alias, use_target: broken}}\n{MOCK}")
    reason = said(found)[0]
    assert reason.startswith(f"{FILE}:2:3: {NO_COMMAND}")
    assert found.targets == (
        UnsupportedTarget(name="broken", provider="", reason=reason),
        UnsupportedTarget(name="alias", provider="", reason=reason.replace(":2:3:", ":3:3:")),
        MockTarget(name="mocked", response="hello"),
    )


@pytest.mark.parametrize(
    "text", [f"{MOCK}{MOCK}", f"{MOCK}judge: openai/a\n", "- [\n"], ids=["twice", "key", "syntax"]
)
def test_an_error_of_the_whole_file_stops_all(text: str) -> None:
    assert loaded(text).targets == ()


def test_a_file_that_is_ours_is_read_as_it_is() -> None:
    text = f"targets:\n{MOCK}"
    assert type(open_config(FILE, text)) is type(open_config("targets.yaml", text))
