"""Programs that answer or judge, which are agents, services and commands: their settings."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from typing import Annotated, Any, Final, Literal

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


_LINE: Final[dict[str, Any]] = {
    "type": ["string", "array"],
    "if": {"type": "string"},
    "then": {"pattern": "\\S"},
    "else": {"minItems": 1, "items": {"type": "string"}},
}
"""A line for the shell, or a list of words."""
_PORT: Final = re.compile(r"(?:(?<!\$)\{|\$\{?)(PORT(?:_[A-Z0-9_]+)?)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """The options of a service's endpoint."""

    api_base: Annotated[
        str, Key("https://staging.example.com/chat", name="url", title="URL", pattern=URL)
    ]
    """URL of the request. `${{ NAME }}` is the value of an environment variable."""
    url_before: Annotated[
        str, Key("https://staging.example.com/chat", title="URL of the base", pattern=URL)
    ] = ""
    """URL where the base of a change is deployed. Without it and without `start`, the base is not
    asked."""
    headers: Annotated[
        Mapping[str, str],
        Key(
            {"Authorization": "Bearer ${{ SERVICE_TOKEN }}"},
            additionalProperties={"type": "string"},
        ),
    ] = field(default_factory=dict)
    """Headers of the request. Write a credential as `${{ NAME }}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """How a service is asked; `ServiceOptions` has the keys of its endpoint."""

    method: Annotated[str, Key("GET", enum=["POST", "GET", "PUT", "PATCH"])] = "POST"
    """Method of the request."""
    body: Annotated[JSON, Key({"message": "{{ input }}"})] = None
    """Body of the request, sent as JSON; a text is sent as it is. Its texts are templates:
    `{{ message }}` is the last message of the user, `{{ messages }}` the list of all,
    `{{ history }}` the messages before it as text, `{{ session_id }}` a random id of the
    conversation, `{{ input }}` all messages as one text; other names are variables of the case.
    Without it, the request has no body."""
    answer: Annotated[str, Key("/reply/text")] = ""
    """Where the answer is in the JSON of the reply: a JSON Pointer or a dotted path. Without it,
    the whole text is the answer."""
    answer_files: Annotated[str, Key("/reply/images", title="Images of the answer")] = ""
    """Where the images and PDFs of the answer are in the JSON of the reply: a JSON Pointer or a
    dotted path of a list, or of one. Each is base64, a `data:` URI, or an object with `data` and a
    `name`. Without `answer`, they are the answer."""
    tool_calls: Annotated[str, Key("steps")] = ""
    """Where the calls of tools are in the JSON of the reply: a JSON Pointer or a dotted path of a
    list. Each is `{name, arguments, output}`, or has OpenAI's form."""
    usage: Annotated[Mapping[str, str], Key.of("usage")] = field(default_factory=dict)
    stream: Annotated[bool, Key(True)] = False
    """Whether the reply is a stream: server-sent events, or a line of JSON each. It is read to its
    end; `answer` is the place of the piece of text in each event, `tool_calls` and `usage` are
    places in any of them."""
    encode: Annotated[Literal["", "base64"], Key("base64", title="Encoding of files")] = ""
    """`base64` puts the bytes of images and documents into `{{ files }}` of the body, as `data` of
    each. Without it, each has its `path` and `type` only."""
    is_started: bool = False  # by this run, at an address of this machine that the run chose


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceProgram:
    """The program of a service, which a run starts once for each side.

    Its texts may hold `{PORT}`, `{PORT_NAME}` and `{SIDE}`.
    """

    start: Annotated[
        str | tuple[str, ...], Key("python bot.py --port {PORT}", title="Start command", **_LINE)
    ]
    """Starts the service, once for each side of a comparison: in the checkout, and in a worktree of
    the base. A line for the shell, or a list of arguments. It must stay in the foreground and
    listen on `{PORT}`; `{PORT_NAME}` are further free ports, `{SIDE}` is `head` or `base`. Each is
    also an environment variable. Without it, the service is deployed at `url`."""
    setup: Annotated[
        str | tuple[str, ...],
        Key("pip install -q --target .deps -r requirements.txt", title="Setup command", **_LINE),
    ] = ""
    """Prepares the folder of a side before the first start. A worktree of the base has the files of
    git only, so install what the service needs into its own folder."""
    stop: Annotated[
        str | tuple[str, ...],
        Key("docker compose -p eval-{SIDE}-{PORT} down -v", title="Stop command", **_LINE),
    ] = ""
    """Runs at the end in any case. Without it, the processes of `start` are ended."""
    ready: Annotated[str, Key("/health", pattern="^/")] = ""
    """Path that replies with 2xx when the service is ready. Without it, it is ready when its port
    accepts a connection."""
    ready_seconds: Annotated[float, Key(120, exclusiveMinimum=0)] = 60.0
    """Seconds until a started service must be ready."""
    setup_seconds: Annotated[float, Key(120, exclusiveMinimum=0)] = 600.0
    """Timeout of `setup` in seconds."""
    cwd: Annotated[str, Key("bot", title="Working directory", to=from_root)] = "."
    """Working directory of `setup`, `start` and `stop`, relative to this file's folder."""
    env: Annotated[tuple[str, ...], ENVIRONMENT] = ()

    @property
    def ports(self) -> tuple[str, ...]:
        """The names of the ports that its texts hold, as `{PORT_DB}` or `$PORT_DB`; also `PORT`."""
        values = [getattr(self, each.name) for each in fields(self)]
        texts = [text for value in values for text in _texts(value)]
        return tuple(dict.fromkeys(["PORT", *(n for text in texts for n in _PORT.findall(text))]))


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return value if isinstance(value, tuple) else ()
