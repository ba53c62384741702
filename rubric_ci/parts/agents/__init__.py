"""Six agent programs, and the folders that agents work in."""

from typing import Final

from rubric_ci.values.parts import Part

PART: Final = Part(
    programs={  # by their names: the file of each in this folder
        "claude-code": "claude_code:AGENT",
        "codex": "codex:AGENT",
        "copilot": "copilot:AGENT",
        "gemini-cli": "gemini_cli:AGENT",
        "opencode": "opencode:AGENT",
        "qwen": "qwen:AGENT",
    },
    entries={
        "answer in a workspace": "agent:answer",
        "answer with a workspace": "agent:with_workspace",
        "workspaces": "workspace:Workspaces",
    },
)
