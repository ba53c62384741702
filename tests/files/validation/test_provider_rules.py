"""A provider that is missing, misspelt or unknown is named before any request."""

import pytest

from rubric_ci.files.validation.validator import check_config
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.models.agents import AGENTS
from rubric_ci.system.model_list import known_models


def said(text: str, file: str = "rubric-ci.yaml") -> list[str]:
    found = check_config(Document(file, text), models=known_models)
    return [f"{d.span.line}:{d.span.column}: {d.rule}: {d.message}; {d.hint}" for d in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "judge: {model: gpt-6-luna}\n",
            "1:16: model-provider: the model `gpt-6-luna` has no provider; "
            "did you mean `openai/gpt-6-luna`?",
            id="a judge without",
        ),
        pytest.param(
            "judge: gpt-4o\n",
            "1:8: model-provider: the model `gpt-4o` has no provider; "
            "did you mean `openai/gpt-4o`?",
            id="a judge as text",
        ),
        pytest.param(
            "judge: {panel: [gpt-6-luna, anthropic/claude-sonnet-5-5, gemini/gemini-3.8-flash]}\n",
            "1:17: model-provider: the model `gpt-6-luna` has no provider; "
            "did you mean `openai/gpt-6-luna`?",
            id="a judge of a panel",
        ),
        pytest.param(
            "targets: [{name: a, model: claude-sonnet-5-5}]\n",
            "1:28: model-provider: the model `claude-sonnet-5-5` has no provider; "
            "did you mean `anthropic/claude-sonnet-5-5`?",
            id="a target without",
        ),
        pytest.param(
            "judge: {model: judge-1}\n",
            "1:16: model-provider: the model `judge-1` has no provider; "
            "write `provider/model`, such as `openai/judge-1`",
            id="an unknown name",
        ),
        pytest.param(
            "judge: {model: judge-1, api_base: 'http://localhost:8000/v1'}\n",
            "1:16: model-provider: the model `judge-1` has no provider; "
            "did you mean `openai/judge-1`?",
            id="a server of its own",
        ),
        pytest.param(
            "judge: {model: opneai/gpt-4o}\n",
            "1:16: model-provider: `opneai` is not a known provider; did you mean `openai/gpt-4o`?",
            id="misspelt, and nothing after it",
        ),
        pytest.param(
            "judge: {model: my-gateway/x}\n",
            "1:16: model-provider: `my-gateway` is not a known provider; "
            "write `provider/model`, such as `openai/x`",
            id="unknown",
        ),
        pytest.param(
            "targets: [{name: a, provider: model, model: openai/x}]\n",
            "1:31: model-provider: `model` is not a known provider; "
            "remove `provider`: `openai/x` names its own",
            id="the word of init",
        ),
        pytest.param(
            "targets: [{name: a, provider: antropic, model: x}]\n",
            "1:31: model-provider: `antropic` is not a known provider; did you mean `anthropic`?",
            id="a misspelt provider of a target",
        ),
        pytest.param(
            "targets: [{name: a, provider: claud-code}]\n",
            "1:31: model-provider: `claud-code` is not a known provider; "
            "did you mean `claude-code`?",
            id="a misspelt agent, and no word of a missing model",
        ),
        pytest.param(
            "targets: [{name: a, provider: claude}]\n",
            "1:31: agent-provider: provider `claude` is not supported; "
            "write `provider: claude-code`",
            id="an agent by another name",
        ),
        pytest.param(
            "judge: {provider: claude, model: claude-sonnet-5-5}\n",
            "1:19: model-provider: `claude` is not a known provider; "
            "did you mean `cli: claude-code`?",
            id="a program as provider of the judge",
        ),
        pytest.param(
            "judge: {provider: codex, model: gpt-6.1-sol}\n",
            "1:19: model-provider: `codex` is not a known provider; did you mean `cli: codex`?",
            id="a program's own name as provider of the judge",
        ),
    ],
)
def test_providers(text: str, expected: str) -> None:
    assert said(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "judge: {model: openai/gpt-6-luna}\n",
        'judge: {model: "${{ MODEL }}"}\n',
        "judge: {cli: claude-code, model: claude-sonnet-5-5}\n",
        "judge: {command: [python, judge.py]}\n",
        "targets: [{name: a, provider: openai, model: gpt-6.1-sol}]\n",
        "targets: [{name: a, provider: Google, model: gemini-3.8-flash}]\n",
        "targets: [{name: a, provider: http, url: 'https://a.example'}]\n",
    ],
)
def test_known_providers(text: str) -> None:
    assert not [line for line in said(text) if "provider" in line]


def test_targets_files_of_agentv_have_providers_of_their_own() -> None:
    text = "targets: [{name: a, provider: some-backend, model: x}]\n"
    assert not said(text, ".agentv/targets.yaml")


@pytest.mark.parametrize("provider", AGENTS)
def test_every_agent_program_is_a_provider(provider: str) -> None:
    assert said(f"targets: [{{name: a, provider: {provider}, model: m}}]\n") == []
