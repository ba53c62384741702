"""The login that a program made itself, where a person sits; never in CI."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rubric_ci.models.agents.logins import NoLogin, login_of
from rubric_ci.system.output_and_masking import redact

NOW = datetime(2026, 11, 25, tzinfo=UTC)
TOKEN = "sk-ant-oat01-this-is-the-token-of-ada"
CODEX = "a-very-long-access-token-of-chatgpt-for-ada"


def claude(end: datetime) -> str:
    oauth = {"accessToken": TOKEN, "expiresAt": end.timestamp() * 1000}
    return json.dumps({"claudeAiOauth": oauth})


def codex(last: datetime) -> str:
    facts = {"OPENAI_API_KEY": None, "tokens": {"access_token": CODEX}}
    return json.dumps({**facts, "last_refresh": last.isoformat()})


@pytest.mark.parametrize(
    ("program", "file", "text", "variables", "files"),
    [
        (
            "claude-code",
            ".claude/.credentials.json",
            claude(NOW + timedelta(hours=1)),
            {"CLAUDE_CODE_OAUTH_TOKEN": TOKEN},
            {},
        ),
        (
            "codex",
            ".codex/auth.json",
            '{"OPENAI_API_KEY": "sk-of-codex-and-long-enough"}',
            {"CODEX_API_KEY": "sk-of-codex-and-long-enough"},
            {},
        ),
        (
            "codex",
            ".codex/auth.json",
            codex(NOW - timedelta(days=6)),
            {},
            {"auth.json": codex(NOW - timedelta(days=6))},
        ),
    ],
    ids=["claude", "a key of codex", "a login of codex"],
)
def test_a_login(
    program: str,
    file: str,
    text: str,
    variables: Mapping[str, str],
    files: Mapping[str, str],
    tmp_path: Path,
) -> None:
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(text)
    home = {"HOME": str(tmp_path)}
    found = login_of(program, (), home, lambda: NOW)
    assert (found.variables, found.files) == (variables, files)
    assert found.place == str(tmp_path / file)
    secret = next(iter(variables.values()), CODEX)
    assert redact(f"it is {secret}.") == "it is ***."
    with pytest.raises(NoLogin):
        login_of(program, (), {**home, "CI": "true"}, lambda: NOW)
    with pytest.raises(NoLogin):
        login_of(program, (), home, lambda: NOW, server="https://other.example")


def test_a_variable_comes_before_the_login(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "ANTHROPIC_API_KEY": "k", "CI": "true"}
    found = login_of("claude-code", (), environment, lambda: NOW)
    assert (found.variables, found.place) == ({"ANTHROPIC_API_KEY": "k"}, "")


def test_a_variable_that_the_configuration_names(tmp_path: Path) -> None:
    found = login_of("claude-code", ("PROXY_KEY",), {"PROXY_KEY": "k"}, lambda: NOW)
    assert found.variables == {}


@pytest.mark.parametrize(
    ("program", "file", "text", "reason"),
    [
        (
            "claude-code",
            ".claude/.credentials.json",
            claude(NOW + timedelta(minutes=14)),
            "the login of claude-code ends; run `claude` once, which renews it",
        ),
        (
            "codex",
            ".codex/auth.json",
            codex(NOW - timedelta(days=8)),
            "the login of codex is older than 7 days; run `codex` once, which renews it",
        ),
        (
            "claude-code",
            ".claude/.credentials.json",
            "not JSON",
            (
                "no credential for claude-code: log in with `claude`, or set ANTHROPIC_API_KEY or "
                "ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN"
            ),
        ),
        (
            "copilot",
            ".copilot/config.json",
            "{}",
            "no credential for copilot: set COPILOT_GITHUB_TOKEN or COPILOT_PROVIDER_API_KEY",
        ),
    ],
    ids=["ends", "old", "broken", "of no other program"],
)
def test_no_login(program: str, file: str, text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text(text)
    with pytest.raises(NoLogin) as raised:
        login_of(program, (), {"HOME": str(tmp_path)}, lambda: NOW)
    assert str(raised.value) == reason
