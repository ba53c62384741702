"""Agent programs: names, credentials and timeouts; light, for `validate`."""

from collections.abc import Mapping
from typing import Final

CREDENTIALS: Final[Mapping[str, tuple[str, ...]]] = {
    "claude-code": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    "codex": ("CODEX_API_KEY", "CODEX_ACCESS_TOKEN"),
    "copilot": ("COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
    "gemini-cli": ("GEMINI_API_KEY",),
    "opencode": ("OPENCODE_API_KEY",),
    "qwen": ("OPENAI_API_KEY",),
}
"""One of them is needed; each tool gets its own variables that are set."""

COMMAND_TIMEOUT: Final = 300.0  # seconds; an agent takes longer than a model

AGENT_TIMEOUT: Final = 600.0  # seconds; a target works on files
AGENT_CONCURRENCY: Final = 4  # processes of an agent target at a time

NOT_STARTED: Final = "not-supported"
"""In place of the provider of a target without a counterpart, which is kept by its name."""

ALIAS: Final = "x-alias"
"""The key of such a target that stands for another one: the variable that has its name."""

AGENTV_AGENTS: Final = frozenset(
    (
        NOT_STARTED,
        *("codex", "codex-cli", "codex-sdk", "codex-app-server", "vscode", "vscode-insiders"),
        *("claude", "claude-cli", "claude-code", "claude-sdk", "copilot", "copilot-cli"),
        *("copilot-sdk", "pi", "pi-agent-sdk", "pi-sdk", "pi-cli", "pi-rpc", "pi-coding-agent"),
        *("agentv", "replay", "transcript", "copilot-log", "copilot_sdk", "cc-mirror"),
    )
)
"""Providers of AgentV that rubric-ci does not start, though its targets files may have them."""

AGENT_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("claude", "claude-cli", "claude-sdk"), "claude-code"),
    **dict.fromkeys(("codex-cli", "codex-sdk", "codex-app-server"), "codex"),
    **dict.fromkeys(("copilot-cli", "copilot-sdk"), "copilot"),
}
"""The names of AgentV for programs that rubric-ci starts, and their names here."""


def instead_of(provider: str) -> str:
    """Return the name to write in place of a provider that rubric-ci does not start."""
    if meant := AGENT_NAMES.get(provider.lower()):
        return f"write `provider: {meant}`"
    return "write `provider: cli` with the program's command line as `command_template`"
