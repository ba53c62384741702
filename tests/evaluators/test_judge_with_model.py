"""A judge with another model: which of its options go along."""

from collections.abc import Callable

import pytest

from rubric_ci.evaluators.judge_choice import with_model, with_named_model
from rubric_ci.values.agent_program import JudgeCommand
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.json_value import JSON
from rubric_ci.values.targets import Endpoint

OPTIONS: dict[str, JSON] = {
    "api_base": "https://judge.example",
    "api_key": "k",
    "aws_secret_access_key": "k",
    "extra_headers": {"X-Key": "k"},
    "vertex_credentials": "k",
    "endpoint_of_tomorrow": "https://judge.example",
    "temperature": 0,
}


@pytest.mark.parametrize(
    ("model", "kept"),
    [("openai/b", OPTIONS), ("deepseek/b", {"temperature": 0}), ("", OPTIONS)],
    ids=["of the same provider", "of another provider", "none"],
)
def test_options_of_a_judge_with_another_model(model: str, kept: dict[str, JSON]) -> None:
    judge = JudgeConfig(endpoint=Endpoint(model="openai/a", options=OPTIONS))
    found = with_model(judge, model)
    assert found is not None
    assert (found.endpoint.model, found.endpoint.options) == (model or "openai/a", kept)


@pytest.mark.parametrize("change", [with_model, with_named_model])
def test_another_model_is_not_asked_through_the_command(change: Callable[..., JudgeConfig]) -> None:
    endpoint = Endpoint(model="codex/m", command=JudgeCommand(cli="codex", model="m"))
    judge = JudgeConfig(endpoint=endpoint, canary=True)
    expected = JudgeConfig(endpoint=Endpoint(model="openai/gpt-6-luna"), canary=True)
    assert change(judge, "openai/gpt-6-luna") == expected
