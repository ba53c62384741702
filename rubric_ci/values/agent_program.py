"""Agent programs and commands that answer or judge: their settings."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from rubric_ci.values.agent_names_and_credentials import CREDENTIALS
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.written_keys import ENVIRONMENT, URL, Key, from_root


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProgram:
    name: str  # a name of `parts/agents/`
    model: Annotated[str, Key("claude-sonnet-5-5")] = ""
    """Model of the agent, by the name that the program knows. Without it, the program decides."""
    tools: Annotated[tuple[str, ...] | None, Key(["Read", "Edit", "Bash"], uniqueItems=True)] = None
    """Tools that the agent may use, by its own names; an empty list for none. Codex has no such
    choice: without `apply_patch` it only reads."""
    project_files: Annotated[bool, Key(True)] = False
    """Whether the agent obeys the instructions, settings, skills and hooks in its workspace
    (`CLAUDE.md`, `AGENTS.md`, `.claude/`, …). Without it, they are left out of the workspace."""
    max_turns: Annotated[int | None, Key(30, title="Maximum of turns", minimum=1)] = None
    """Maximum number of model requests of one start. Codex has no such limit."""
    max_cost_usd: Annotated[float | None, Key(0.5, exclusiveMinimum=0)] = None
    """Maximum cost of one start in US dollars, which a cap on the run reserves. Claude Code
    only."""
    effort: Annotated[str, Key("high")] = ""
    """Reasoning effort, in the words of the program. Gemini CLI and Qwen Code have none."""
    base_url: Annotated[str, Key("http://127.0.0.1:11434/v1", pattern=URL)] = ""
    """URL of the server that the agent asks in place of its default server, in the same format. It
    gets the credential."""
    mcp_servers: Annotated[
        Mapping[str, JSON],
        Key(
            {"shop": {"command": "python", "args": ["shop_server.py"]}},
            title="MCP servers",
            additionalProperties={"type": "object"},
        ),
    ] = field(default_factory=dict)
    """Servers of tools by their names, as in `.mcp.json`: `command`, `args` and `env`, or `url` and
    `headers`."""
    args: Annotated[tuple[str, ...], Key(["--add-dir", "/srv/data"], title="Arguments")] = ()
    """Further words of the command line, after all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """A command or URL that must succeed before the first case of a target is answered."""

    type: Annotated[Literal["command", "http"], Key("http")]
    """`command` must exit with status 0, `http` must respond with 2xx."""
    command_template: Annotated[str, Key("python agent.py --version", title="Command")] = ""
    """Shell command to run."""
    url: Annotated[str, Key("http://127.0.0.1:8000/health", pattern="^https?://")] = ""
    """URL to request, http or https."""
    cwd: Annotated[str | None, Key("agents", title="Working directory", to=from_root)] = None
    """Working directory of the command. Without it, the target's `cwd`."""
    timeout_seconds: Annotated[float | None, Key(10, exclusiveMinimum=0)] = None
    """Timeout of the health check in seconds. Without it, the target's `timeout_seconds`."""

    @property
    def texts(self) -> Mapping[str, JSON]:
        """The settings in which environment variables are substituted."""
        return {"command_template": self.command_template, "url": self.url, "cwd": self.cwd}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCommand:
    """A command that judges: a known command-line tool, or any program."""

    model: Annotated[str, Key("openai/gpt-6-luna")] = ""  # empty: the tool decides
    """litellm model name, with the provider as prefix; with `cli`, a model of that tool."""
    cli: Annotated[str, Key("claude-code", title="Command-line tool", enum=tuple(CREDENTIALS))] = ""
    """Command-line tool that judges, with its own login in place of an API key."""
    argv: Annotated[tuple[str, ...], Key(["my-judge", "--json"], name="command", minItems=1)] = ()
    """Command that judges: program and arguments. It gets the prompt on standard input; the last
    JSON object of its output is the reply."""
    env: Annotated[tuple[str, ...], ENVIRONMENT] = ()
    concurrency: Annotated[int, Key(2, minimum=1)] = 4
    """Maximum number of processes of `cli` or `command` at a time."""
