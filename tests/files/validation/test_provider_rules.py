"""A provider that is missing, misspelt or unknown is named before any request."""

import pytest

from rubric_ci.files.validation.validator import check_config
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.models.agents import AGENTS
from rubric_ci.system.model_list import known_models


def said(text: str, file: str = "rubric-ci.yaml") -> list[str]:
    found = check_config(Document(file, text), models=known_models)
    return [f"{d.span.line}:{d.span.column}: {d.rule}: {d.message}; {d.hint}" for d in found]


MISSING, UNKNOWN = "the model `{}` has no provider", "`{}` is not a known provider"
PROVIDERS = {  # what is written, at which column which name is the problem, and the hint
    "a judge": ("judge: {model: gpt-6-luna}", 16, MISSING, "gpt-6-luna", "`openai/gpt-6-luna`"),
    "a judge as text": ("judge: gpt-4o", 8, MISSING, "gpt-4o", "`openai/gpt-4o`"),
    "a judge of a panel": (
        "judge: {panel: [gpt-6-luna, anthropic/claude-sonnet-5-5, gemini/gemini-3.8-flash]}",
        *(17, MISSING, "gpt-6-luna", "`openai/gpt-6-luna`"),
    ),
    "a target without": (
        "targets: [{name: a, model: claude-sonnet-5-5}]",
        *(28, MISSING, "claude-sonnet-5-5", "`anthropic/claude-sonnet-5-5`"),
    ),
    "an unknown name": (
        "judge: {model: judge-1}",
        *(16, MISSING, "judge-1", "write `provider/model`, such as `openai/judge-1`"),
    ),
    "a server of its own": (
        "judge: {model: judge-1, api_base: 'http://localhost:8000/v1'}",
        *(16, MISSING, "judge-1", "`openai/judge-1`"),
    ),
    "misspelt": ("judge: {model: opneai/gpt-4o}", *(16, UNKNOWN, "opneai", "`openai/gpt-4o`")),
    "unknown": (
        "judge: {model: my-gateway/x}",
        *(16, UNKNOWN, "my-gateway", "write `provider/model`, such as `openai/x`"),
    ),
    "the word of init": (
        "targets: [{name: a, provider: model, model: openai/x}]",
        *(31, UNKNOWN, "model", "remove `provider`: `openai/x` names its own"),
    ),
    "a misspelt provider of a target": (
        "targets: [{name: a, provider: antropic, model: x}]",
        *(31, UNKNOWN, "antropic", "`anthropic`"),
    ),
    "a misspelt agent, and no word of a missing model": (
        "targets: [{name: a, provider: claud-code}]",
        *(31, UNKNOWN, "claud-code", "`claude-code`"),
    ),
    "a program as provider of the judge": (
        "judge: {provider: claude, model: claude-sonnet-5-5}",
        *(19, UNKNOWN, "claude", "`cli: claude-code`"),
    ),
    "a program's own name as provider of the judge": (
        "judge: {provider: codex, model: gpt-6.1-sol}",
        *(19, UNKNOWN, "codex", "`cli: codex`"),
    ),
}


@pytest.mark.parametrize(
    ("text", "column", "problem", "name", "hint"), PROVIDERS.values(), ids=PROVIDERS
)
def test_providers(text: str, column: int, problem: str, name: str, hint: str) -> None:
    meant = f"did you mean {hint}?" if hint.startswith("`") else hint
    assert said(f"{text}\n") == [f"1:{column}: model-provider: {problem.format(name)}; {meant}"]


def test_an_agent_by_another_name() -> None:
    assert said("targets: [{name: a, provider: claude}]\n") == [
        "1:31: agent-provider: provider `claude` is not supported; write `provider: claude-code`"
    ]


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
