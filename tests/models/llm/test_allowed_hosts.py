"""The hosts of a model, and which of them are refused."""

import pytest

from rubric_ci.models.llm.allowed_hosts import hosts_of, refusal
from rubric_ci.values.agent_program import JudgeCommand
from rubric_ci.values.hosts import AllowedHosts
from rubric_ci.values.json_value import JSON
from rubric_ci.values.targets import Endpoint

BASE = AllowedHosts(hosts=frozenset({"judge.example:443", "any.example"}), providers=True)
UNKNOWN = AllowedHosts(hosts=frozenset({""}), providers=True)
GIVEN = AllowedHosts(hosts=frozenset({"api.anthropic.com"}), providers=False)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"api_base": "https://judge.example/v1"}, {"judge.example:443"}),
        ({"api_base": "HTTPS://judge.example"}, {"judge.example:443"}),
        ({"api_base": "judge.example"}, {""}),
        ({"api_base": "evil.example/https://judge.example"}, {""}),
        ({"api_base": " https://judge.example"}, {""}),
        ({"api_base": "  "}, {""}),
        ({"api_base": "ftp://judge.example"}, {""}),
        ({"api_base": "x/https://judge.example"}, {""}),
        ({"base_url": "http://h:80/v1"}, {"h:80"}),
        ({"api_base": "https://judge.example@evil.example/"}, {"evil.example:443"}),
        ({"aws_bedrock_runtime_endpoint": "https://evil.example"}, {"evil.example:443"}),
        ({"fallbacks": [{"api_base": "http://evil.example"}]}, {"evil.example:80"}),
        ({"api_base": "https://h:x"}, {""}),
        ({"api_base": "https://evil.example\\\\@judge.example/"}, {""}),
        ({"extra_headers": {"Referer": "https://shop.example"}}, set()),
        ({"temperature": 0, "stop": ["a"]}, set()),
    ],
)
def test_hosts(options: dict[str, JSON], expected: set[str]) -> None:
    assert hosts_of(Endpoint(model="openai/m", options=options)) == expected


@pytest.mark.parametrize(
    ("model", "options", "allowed", "expected"),
    [
        ("openai/m", {"api_base": "https://judge.example/v1"}, BASE, ""),
        ("openai/m", {"api_base": "https://JUDGE.example"}, BASE, ""),
        ("openai/m", {"api_base": "http://any.example:81"}, BASE, ""),
        ("anthropic/m", {}, BASE, ""),
        ("openai/m", {"api_base": "http://judge.example"}, BASE, "the host judge.example:80 is"),
        ("openai/m", {"api_base": "https://evil.example"}, BASE, "the host evil.example:443 is"),
        ("x/https://evil.example", {}, BASE, "the host evil.example:443 is"),
        ("x/https://judge.example", {}, BASE, ""),
        ("evil.example/https://judge.example", {}, BASE, "the host is not known"),
        ("https://evil.example/m", {}, BASE, "the host evil.example:443 is"),
        ("openai/m", {"api_base": " "}, UNKNOWN, "the host is not known"),
        ("openai/m", {"api_base": "x.example/https://y"}, UNKNOWN, "the host is not known"),
        ("openai/m", {"api_base": "https://h:x"}, BASE, "the host is not known"),
        ("vertex_ai/m", {"vertex_location": "evil.example/"}, BASE, "`vertex_location` is not"),
        ("vertex_ai/m", {"vertex_location": "europe-west1"}, BASE, ""),
        ("anthropic/m", {}, GIVEN, ""),
        ("openai/m", {}, GIVEN, "the host api.openai.com:443 is"),
        ("bedrock/m", {}, GIVEN, "the host is not known"),
        ("ollama/m", {}, BASE, "the host localhost:11434 is"),
        ("m", {"custom_llm_provider": "ollama_chat"}, BASE, "the host localhost:11434 is"),
        ("llamafile/m", {}, BASE, "the host 127.0.0.1:8080 is"),
        ("ollama/m", {"api_base": "https://judge.example"}, BASE, ""),
    ],
)
def test_refusal(
    model: str,
    options: dict[str, JSON],
    allowed: AllowedHosts,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    found = refusal(Endpoint(model=model, options=options), allowed)
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


ANY_HOST = (
    "a command may send the answers to any host, so it was not started; set "
    "RUBRIC_CI_ALLOWED_HOSTS to nothing, or choose a judge with `model`, or with `cli` and no `env`"
)
NOT_LISTED = (
    "the host api.openai.com:443 is not allowed, and nothing was sent to it; list it in "
    "RUBRIC_CI_ALLOWED_HOSTS, or merge a configuration that uses it"
)


@pytest.mark.parametrize(
    ("command", "allowed", "expected"),
    [
        (JudgeCommand(argv=("j",)), BASE, ""),
        (JudgeCommand(argv=("j",)), GIVEN, ANY_HOST),
        (JudgeCommand(cli="claude-code"), GIVEN, ""),
        (JudgeCommand(cli="claude-code", env=("ANTHROPIC_BASE_URL",)), GIVEN, ANY_HOST),
        (JudgeCommand(cli="codex"), GIVEN, NOT_LISTED),
        (JudgeCommand(cli="codex"), BASE, ""),
    ],
    ids=["any", "a list", "listed", "another host", "not listed", "of a provider"],
)
def test_a_command(command: JudgeCommand, allowed: AllowedHosts, expected: str) -> None:
    assert refusal(Endpoint(model="command", command=command), allowed) == expected
