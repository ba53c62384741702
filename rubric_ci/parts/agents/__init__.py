"""Six agent programs, and the folders that agents work in."""

from typing import Final

from rubric_ci.parts.agents.programs import PROGRAMS
from rubric_ci.values.parts import Part

PART: Final = Part(
    programs=PROGRAMS,
    entries={
        "answer in a workspace": "agent:answer",
        "answer with a workspace": "agent:with_workspace",
        "workspaces": "workspace:Workspaces",
    },
)
