"""Targets files of AgentV 2.7 to 4: aliases, health checks, and targets that stop no others."""

import pytest

from rubric_ci.files.dialects import open_config
from rubric_ci.files.project.loader import LoadedTargets, load_targets
from rubric_ci.files.validation.output.plain_text import headline
from rubric_ci.model.config import CliTarget, MockTarget, Target, UnsupportedTarget

FILE = ".agentv/targets.yaml"


def loaded(text: str) -> LoadedTargets:
    return load_targets(FILE, f"targets:\n{text}")


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
    assert target.healthcheck == {
        "type": "command",
        "timeout_seconds": 3,
        "command_template": "agent --version",
    }


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("'${{ AGENT }}'", "the variable `AGENT` names it"),
        ("missing", "there is no target `missing`"),
        ("default", "there is no target `default`"),
    ],
    ids=["by a variable", "of nothing", "of itself"],
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
