"""`${{ NAME }}` in configured values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import ForbiddenVariable, MissingVariable
from rubric_ci.files.parsing.env_vars import Variables, credential, substitute, substituted, written
from rubric_ci.text.command_lines_and_variables import PROVIDER_VARIABLES, names
from rubric_ci.values.agent_program import HealthCheck, JudgeCommand
from rubric_ci.values.config import Config, JudgeConfig
from rubric_ci.values.targets import CliTarget, Endpoint, LlmTarget

SET = Variables(environment={"KEY": "abc", "HOST": "h"}, listed=("KEY", "HO*"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${{ KEY }}", "abc"),
        ("https://${{HOST}}/v1?k=${{ KEY }}", "https://h/v1?k=abc"),
        ({"a": ["${{ KEY }}", 1, None, True]}, {"a": ["abc", 1, None, True]}),
        (("${{ HOST }}",), ("h",)),
        ("$KEY {{ KEY }} ${{ not a name }}", "$KEY {{ KEY }} ${{ not a name }}"),
    ],
    ids=["alone", "inside", "nested", "tuple", "not a variable"],
)
def test_substitute(value: Any, expected: Any) -> None:
    assert substitute(value, SET) == expected


@pytest.mark.parametrize("environment", [{}, {"KEY": ""}], ids=["unset", "empty"])
def test_a_missing_variable_is_named(environment: dict[str, str]) -> None:
    variables = Variables(environment=environment, listed=("KEY",))
    with pytest.raises(MissingVariable) as caught:
        substitute({"api_key": "${{ KEY }}"}, variables)
    assert caught.value.message == "the environment variable KEY is not set"


@pytest.mark.parametrize(
    "name", ["KEY", "OPENAI", "AWS_PROFILE", "AZURE_CREDENTIALS", "GITHUB_TOKEN", "Runner_TEMP"]
)
def test_what_is_not_allowed(name: str) -> None:
    variables = Variables(environment={name: "secret"}, listed=("GITHUB_*", "Runner_*"))
    with pytest.raises(ForbiddenVariable):
        substitute(f"${{{{ {name} }}}}", variables)


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
        *("AZURE_API_KEY", "AZURE_OPENAI_ENDPOINT", "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_variables_of_providers_need_no_list(name: str) -> None:
    assert substitute(f"${{{{ {name} }}}}", Variables(environment={name: "x"})) == "x"
    assert not any(glob.startswith("*") for glob in PROVIDER_VARIABLES)


def test_names() -> None:
    assert list(names({"a": ["${{ X }}-${{ Y }}"], "b": {"c": "${{ X }}"}})) == ["X", "Y", "X"]


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json)
def test_values_without_variables_stay_as_they_are(value: Any) -> None:
    if not list(names(value)):
        assert substitute(value, Variables(environment={})) == value


ENVIRONMENT = {"PART": "part", "HOME": "/home/me", "GITHUB_WORKSPACE": "/", "GITHUB_TOKEN": "ghs"}


TOKEN = Endpoint(model="m", options={"token": "lit"})


def judge(**options: Any) -> Config:
    return Config(judge=JudgeConfig(endpoint=Endpoint(model="openai/m", options=options)))


@pytest.mark.parametrize(
    ("config", "values"),
    [
        (Config(), []),
        (judge(api_key="lit", temperature=0, api_base="http://h"), ["lit", "lit"]),
        (judge(api_key="${{ PART }}"), []),
        (
            judge(extra_headers={"Authorization": "Bearer lit", "X-Title": "A"}),
            ["Bearer lit", "lit"],
        ),
        (Config(targets={"m": LlmTarget(name="m", endpoint=TOKEN)}), ["lit", "lit"]),
    ],
    ids=["nothing", "key", "variable", "header", "target"],
)
def test_written(config: Config, values: list[str]) -> None:
    assert list(written(config)) == values


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("PART", ["part"]),
        ("UNSET", [""]),
        ("HOME", []),
        ("GITHUB_WORKSPACE", []),
        ("GITHUB_TOKEN", ["ghs"]),
    ],
)
def test_substituted(name: str, values: list[str]) -> None:
    variable = f"${{{{ {name} }}}}"
    command = CliTarget(name="c", command_template=f"run {variable}")
    check = HealthCheck(type="http", url=f"h/{variable}")
    address = CliTarget(name="c", command_template="run", healthcheck=check)
    for config in (
        judge(api_base=f"http://{variable}/v1"),
        Config(targets={"c": command}),
        Config(targets={"c": address}),
    ):
        assert list(substituted(config, ENVIRONMENT)) == values


@pytest.mark.parametrize(
    ("options", "environment", "found"),
    [
        ({"api_key": "${{ ACME_KEY }}"}, {"ACME_KEY": "a", "OPENAI_API_KEY": "o"}, ["ACME_KEY"]),
        ({"api_base": "${{ ACME_URL }}"}, {"ACME_URL": "u", "XAI_API_KEY": "x"}, ["XAI_API_KEY"]),
        ({}, {"OPENAI_API_KEY": "", "GROQ_API_KEY": "g", "OPENAI_BASE_URL": "u"}, ["GROQ_API_KEY"]),
        ({"api_key": "none"}, {"GITHUB_TOKEN": "t", "NPM_TOKEN": "n"}, []),
    ],
    ids=["named", "an-address-is-none", "of-a-provider", "of-the-runner"],
)
def test_credential(options: dict[str, str], environment: dict[str, str], found: list[str]) -> None:
    assert list(credential(judge(**options), environment)) == found


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (JudgeCommand(cli="claude-code"), ["CLAUDE_CODE_OAUTH_TOKEN"]),
        (JudgeCommand(argv=("j",), env=("MY_TOKEN", "MODE")), ["MY_TOKEN"]),
        (JudgeCommand(cli="codex"), ["OPENAI_API_KEY"]),
    ],
    ids=["a tool", "a command", "a tool without its own"],
)
def test_the_credential_of_a_command(command: JudgeCommand, names: list[str]) -> None:
    config = Config(judge=JudgeConfig(endpoint=Endpoint(model="c", command=command)))
    known = ("CLAUDE_CODE_OAUTH_TOKEN", "MY_TOKEN", "OPENAI_API_KEY", "MODE")
    assert list(credential(config, dict.fromkeys(known, "s"))) == names
