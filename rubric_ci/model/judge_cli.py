"""The command-line tools that can judge: their names and the variables of their credentials."""

from collections.abc import Mapping
from typing import Final

CREDENTIALS: Final[Mapping[str, tuple[str, ...]]] = {
    "claude-code": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    "codex": ("CODEX_API_KEY", "CODEX_ACCESS_TOKEN"),
    "copilot": ("COPILOT_GITHUB_TOKEN",),
    "gemini-cli": ("GEMINI_API_KEY",),
}
"""One of them is needed; each tool gets its own variables that are set."""

COMMAND_TIMEOUT: Final = 300.0  # seconds; an agent takes longer than a model

AGENT_TIMEOUT: Final = 600.0  # seconds; a target works on files
AGENT_CONCURRENCY: Final = 4  # processes of an agent target at a time

COMMAND_KEYS: Final = ("cli", "command", "model", "env", "concurrency", "timeout_seconds")
"""Settings of a judge that is a command, in addition to every judge's."""

AGENTV_AGENTS: Final = frozenset(
    (
        *("codex", "codex-cli", "codex-sdk", "codex-app-server", "vscode", "vscode-insiders"),
        *("claude", "claude-cli", "claude-code", "claude-sdk", "copilot", "copilot-cli"),
        *("copilot-sdk", "pi", "pi-agent-sdk", "pi-sdk", "pi-cli", "pi-rpc", "pi-coding-agent"),
        *("agentv", "replay"),
    )
)
"""Providers of AgentV that rubric-ci does not start, though its targets files may have them."""
