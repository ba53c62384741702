"""The options of an agent, each in the program's own way."""

from dataclasses import replace

import pytest

from rubric_ci.models.agents import AGENTS
from rubric_ci.parts.agents.agent import capped
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.written_keys import keys_of

SERVER = {"shop": {"command": "python", "args": ["shop.py"], "env": {"A": "1"}}}
URL = "http://127.0.0.1:1/v1"
MCP = '{"mcpServers": {"shop": {"command": "python", "args": ["shop.py"], "env": {"A": "1"}}}}'
OPENCODE = "OPENCODE_CONFIG_CONTENT"
GEMINI = '{"security": {"auth": {"selectedType": "gemini-api-key"}}, '


def added(agent: str, **options: object) -> tuple[list[str], dict[str, str]]:
    """Return the words, and the variables and files that an option adds to a start."""
    program = AgentProgram(name=agent, model="own/m")
    plain = AGENTS[agent].work(program)
    # the options of a row are of any field
    start = AGENTS[agent].work(replace(program, **options))  # type: ignore[arg-type]
    named = {**start.environment, **start.files}.items()
    known = {**plain.environment, **plain.files}.items()
    return [word for word in start.argv if word not in plain.argv], dict(named - known)


@pytest.mark.parametrize(
    ("agent", "option", "value", "words", "more"),
    [
        ("claude-code", "max_turns", 3, ["--max-turns", "3"], {}),
        ("gemini-cli", "max_turns", 3, [], {".gemini/settings.json": '"model": {"maxSessionTu'}),
        ("qwen", "max_turns", 3, ["--max-session-turns", "3"], {}),
        ("claude-code", "max_cost_usd", 0.5, ["--max-budget-usd", "0.5"], {}),
        ("claude-code", "effort", "high", ["--effort", "high"], {}),
        ("codex", "effort", "high", ['model_reasoning_effort="high"'], {}),
        ("copilot", "effort", "high", ["--reasoning-effort", "high"], {}),
        ("opencode", "effort", "high", ["--variant", "high"], {}),
        ("claude-code", "base_url", URL, [], {"ANTHROPIC_BASE_URL": URL}),
        (
            "codex",
            "base_url",
            URL,
            [
                'model_provider="own"',
                (
                    f'model_providers.own={{"name"="own", "base_url"="{URL}", '
                    '"env_key"="CODEX_API_KEY", "wire_api"="responses"}'
                ),
            ],
            {},
        ),
        ("copilot", "base_url", URL, [], {"COPILOT_PROVIDER_BASE_URL": URL}),
        ("gemini-cli", "base_url", URL, [], {"GOOGLE_GEMINI_BASE_URL": URL}),
        ("opencode", "base_url", URL, [], {OPENCODE: f'"baseURL": "{URL}"'}),
        ("qwen", "base_url", URL, ["--openai-base-url", URL], {}),
        (
            "claude-code",
            "mcp_servers",
            SERVER,
            ["--mcp-config", "{home}/mcp.json", "Bash,mcp__shop"],
            {"mcp.json": MCP},
        ),
        (
            "codex",
            "mcp_servers",
            SERVER,
            [
                (
                    'mcp_servers={"shop"={"command"="python", "args"=["shop.py"], "env"={"A"="1"}, '
                    '"default_tools_approval_mode"="approve"}}'
                )
            ],
            {},
        ),
        (
            "copilot",
            "mcp_servers",
            SERVER,
            ["--additional-mcp-config", "@{home}/mcp.json"],
            {"mcp.json": MCP},
        ),
        ("gemini-cli", "mcp_servers", SERVER, [], {".gemini/settings.json": '"mcpServers": {"sh'}),
        (
            "opencode",
            "mcp_servers",
            SERVER,
            [],
            {OPENCODE: '"command": ["python", "shop.py"], "environment": {"A": "1"}'},
        ),
        ("qwen", "mcp_servers", SERVER, ["--mcp-config", "{home}/mcp.json"], {"mcp.json": MCP}),
        (
            "claude-code",
            "mcp_servers",
            {"shop": {"url": URL}},
            ["--mcp-config", "{home}/mcp.json", "Bash,mcp__shop"],
            {"mcp.json": f'{{"mcpServers": {{"shop": {{"type": "http", "url": "{URL}"}}}}}}'},
        ),
        *(
            (
                "qwen",
                "mcp_servers",
                {"shop": {"url": URL, **kind}},
                ["--mcp-config", "{home}/mcp.json"],
                {"mcp.json": f'{{"mcpServers": {{"shop": {{"{key}": "{URL}"'},
            )
            for key, kind in (("httpUrl", {}), ("url", {"type": "sse"}))
        ),
        *((agent, "args", ("--x", "1"), ["--x", "1"], {}) for agent in AGENTS),
    ],
)
def test_an_option_is_passed_in_the_programs_way(
    agent: str, option: str, value: object, words: list[str], more: dict[str, str]
) -> None:
    found, named = added(agent, **{option: value})
    assert found == words
    assert named.keys() == more.keys()
    assert [name for name in more if more[name] not in named[name]] == []


@pytest.mark.parametrize("agent", AGENTS)
def test_every_option_is_passed_or_refused(agent: str) -> None:
    values = {
        "max_turns": 3,
        "max_cost_usd": 0.5,
        "effort": "high",
        "base_url": URL,
        "mcp_servers": SERVER,
        "args": ("--x",),
    }
    assert values.keys() == {*keys_of(AgentProgram)} - {"model", "tools", "project_files"}
    refused = {name for name in values if added(agent, **{name: values[name]}) == ([], {})}
    counted = {"max_turns"} if AGENTS[agent].turns else set()
    assert refused == AGENTS[agent].refuses.keys() | counted


def test_the_lower_limit_of_the_cost_holds() -> None:
    program = AgentProgram(name="claude-code", max_cost_usd=0.5)
    assert [capped(program, left).max_cost_usd for left in (None, 0.1, 2.0)] == [0.5, 0.1, 0.5]
    assert capped(AgentProgram(name="claude-code"), None).max_cost_usd is None
