"""An agent program as a target names it; `validate` reads its settings without a configuration."""

from collections.abc import Mapping
from dataclasses import field

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProgram:
    """An agent program that rubric-ci knows how to start."""

    name: str  # a name of `parts/agents/`
    model: str = ""  # empty: the program decides
    tools: tuple[str, ...] | None = None  # None: its own
    project_files: bool = False  # its instructions, settings and skills in the workspace count
    max_turns: int | None = None
    max_cost_usd: float | None = None  # of one start
    effort: str = ""  # of reasoning, by its own words; empty: it decides
    base_url: str = ""  # of the server that it asks; empty: its own
    mcp_servers: Mapping[str, JSON] = field(default_factory=dict)  # by name, as in `.mcp.json`
    args: tuple[str, ...] = ()  # of its command line, after all others
