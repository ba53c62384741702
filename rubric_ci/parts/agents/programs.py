"""The agent programs by their names: the file of each in this folder."""

from collections.abc import Mapping
from typing import Final

PROGRAMS: Final[Mapping[str, str]] = {
    "claude-code": "claude_code:AGENT",
    "codex": "codex:AGENT",
    "copilot": "copilot:AGENT",
    "gemini-cli": "gemini_cli:AGENT",
    "opencode": "opencode:AGENT",
    "qwen": "qwen:AGENT",
}
