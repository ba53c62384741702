"""How each command-line tool is started as a judge: no tools, and nothing that a commit can plant.

The working folder and the home folder are empty and outside of every repository. The arguments
turn off what a tool would also read from elsewhere: settings, instructions, hooks, servers.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rubric_ci.llm.cli_envelopes import (
    CliReply,
    read_claude,
    read_codex,
    read_copilot,
    read_gemini,
)

SYSTEM: Final = "You mark answers against criteria. Reply with one JSON object and use no tool."

_GEMINI_SETTINGS: Final = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "tools": {"core": ["none"]},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CliPreset:
    """A command-line tool: argv, environment, files of its home, and its output."""

    argv: tuple[str, ...]
    model: tuple[str, ...]  # the option before the name of the model
    last: tuple[str, ...] = ()  # after all options
    environment: Mapping[str, str] = field(default_factory=dict)  # {home}: its home folder
    files: Mapping[str, str] = field(default_factory=dict)  # in its home folder
    host: str
    read: Callable[[str, str], CliReply]  # of its stdout and stderr


PRESETS: Final[Mapping[str, CliPreset]] = {
    "claude-code": CliPreset(
        argv=(
            *("claude", "-p", "--output-format", "json", "--restricted", "--strict-mcp-config"),
            *("--setting-sources", "", "--tools", "", "--disable-slash-commands"),
            *("--no-session-persistence", "--system-prompt", SYSTEM),
        ),
        model=("--model",),
        host="https://api.anthropic.com",
        read=read_claude,
    ),
    "codex": CliPreset(
        argv=(
            *("codex", "exec", "--json", "--skip-git-repo-check", "--ephemeral"),
            *("-s", "read-only", "--ignore-user-config", "--ignore-rules"),
            *("-c", "project_doc_max_bytes=0", "-c", 'web_search="disabled"'),
            *("--disable", "shell_tool", "--disable", "apps", "--disable", "plugins"),
        ),
        model=("-m",),
        last=("-",),
        environment={"CODEX_HOME": "{home}"},
        host="https://api.openai.com",
        read=read_codex,
    ),
    "copilot": CliPreset(
        argv=(
            *("copilot", "--output-format", "json", "--no-ask-user", "--no-custom-instructions"),
            *("--disable-builtin-mcps", "--no-auto-update", "--available-tools=none"),
        ),
        model=("--model",),
        environment={"COPILOT_HOME": "{home}"},
        host="https://api.githubcopilot.com",
        read=read_copilot,
    ),
    "gemini-cli": CliPreset(
        argv=("gemini", "-o", "json", "--skip-trust"),
        model=("-m",),
        files={".gemini/settings.json": json.dumps(_GEMINI_SETTINGS)},
        host="https://generativelanguage.googleapis.com",
        read=read_gemini,
    ),
}
