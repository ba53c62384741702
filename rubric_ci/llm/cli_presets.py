"""How each command-line tool is started as a judge, and what its output says.

No tools, and nothing that a commit can plant: the working folder and the home folder are empty and
outside of every repository. The arguments turn off what a tool would also read from elsewhere:
settings, instructions, hooks, servers.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rubric_ci.llm.retry import RequestError
from rubric_ci.model.json_value import JSON
from rubric_ci.model.llm_calls import Finish

_MOST_STARTS: Final = 2_000  # of objects that are tried in a text
_LOGIN = re.compile(
    r"not logged in|log ?in (again|to continue|required)|please (run )?/?log ?in|invalid api key"
    r"|authenticat|unauthori[sz]ed|no api key|token (has )?expired|status: 401",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"quota|credit balance|usage limit|limit reached|hit your .{0,20}limit|out of (extra )?usage"
    r"|premium requests|billing",
    re.IGNORECASE,
)
_BUSY = re.compile(r"rate.?limit|too many requests|overloaded|status: (429|5\d\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CliReply:
    """The text of a reply, and what the envelope says of it."""

    text: str
    finish: Finish = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    model: str = ""


def failure(message: str, status: int | None = None) -> RequestError:
    """Return the error for what a tool says of a request that failed."""
    text = " ".join(message.split())[:500] or "no reason given"
    if status is None and _LOGIN.search(text):
        status = 401
    if _QUOTA.search(text) and status not in {500, 503, 529}:
        return RequestError(text, status=402, retryable=False)
    if status is None and _BUSY.search(text):
        status = 429
    return RequestError(text, status=status, retryable=None if status else False)


def marks(text: str) -> str:
    """Return the last JSON object of a text, or the text; raise RequestError for a refusal.

    Text without an object that speaks of a login or a quota is the tool's, not the model's.
    """
    found = _last_object(text)
    if not found and (_LOGIN.search(text) or _QUOTA.search(text)):
        raise failure(text)
    return found or text


def read_claude(stdout: str, stderr: str) -> CliReply:
    """Read `claude -p --output-format json`."""
    said = _only_object(stdout, stderr)
    text, status = said.get("result"), _integer(said.get("api_error_status"))
    errors = "; ".join(map(str, _list(said.get("errors"))))
    if said.get("is_error") or said.get("subtype") != "success" or not isinstance(text, str):
        raise failure(errors or str(text or said.get("subtype")), status or None)
    stop, used = said.get("stop_reason"), _mapping(said.get("usage"))
    read = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    cost = said.get("total_cost_usd")
    ends: Mapping[JSON, Finish] = {"refusal": "refusal", "max_tokens": "length"}
    return CliReply(
        text=text,
        finish=ends.get(stop, "stop"),
        input_tokens=sum(_integer(used.get(name)) for name in read),
        output_tokens=_integer(used.get("output_tokens")),
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
        model=_main_model(_mapping(said.get("modelUsage"))),
    )


def read_codex(stdout: str, stderr: str) -> CliReply:
    """Read `codex exec --json`: the last message of a turn that was completed."""
    text, used = "", None
    for event in _events(stdout):
        item = _mapping(event.get("item"))
        if event.get("type") == "turn.failed":
            raise failure(str(_mapping(event.get("error")).get("message", "")))
        if event.get("type") == "item.completed" and item.get("type") == "agent_message":
            text = str(item.get("text", ""))
        if event.get("type") == "turn.completed":
            used = _mapping(event.get("usage"))
    if used is None:
        raise failure(stderr or stdout)
    return CliReply(
        text=text,
        input_tokens=_integer(used.get("input_tokens")),
        output_tokens=_integer(used.get("output_tokens")),
    )


def read_copilot(stdout: str, stderr: str) -> CliReply:
    """Read `copilot --output-format json`: the last message before the result."""
    text, model, ended = "", "", False
    for event in _events(stdout):
        data = _mapping(event.get("data"))
        if event.get("type") == "session.error":
            status = _integer(data.get("statusCode")) or None
            raise failure(f"{data.get('errorType', '')}: {data.get('message', '')}", status)
        if event.get("type") == "assistant.message" and data.get("content"):
            text, model = str(data["content"]), str(data.get("model") or model)
        if event.get("type") == "result":
            ended = event.get("exitCode") == 0
    if not ended:
        raise failure(stderr or stdout)
    return CliReply(text=text, model=model)


def read_gemini(stdout: str, stderr: str) -> CliReply:
    """Read `gemini -o json`; its errors are on stderr, after logs."""
    if not stdout.strip():
        said = _mapping(_parsed(_last_object(stderr)))
        error = _mapping(said.get("error"))
        code = _integer(error.get("code"))
        raise failure(str(error.get("message") or stderr), code if code >= 400 else None)
    said = _only_object(stdout, stderr)
    text = said.get("response")
    if said.get("error") or not isinstance(text, str):
        raise failure(str(_mapping(said.get("error")).get("message") or stdout))
    models = _mapping(_mapping(said.get("stats")).get("models"))
    tokens = [_mapping(_mapping(of).get("tokens")) for of in models.values()]
    return CliReply(
        text=text,
        input_tokens=sum(_integer(of.get("prompt")) for of in tokens),
        output_tokens=sum(_integer(of.get("candidates")) for of in tokens),
        model=next(iter(models)) if len(models) == 1 else "",
    )


def _main_model(usage: Mapping[str, Any]) -> str:
    """Return the model that wrote most; small ones summarize and title."""
    return max(
        usage, key=lambda name: _integer(_mapping(usage[name]).get("outputTokens")), default=""
    )


def _only_object(stdout: str, stderr: str) -> Mapping[str, Any]:
    found = _parsed(stdout)
    if not isinstance(found, dict):
        raise failure(stdout.strip() or stderr)
    return found


def _events(stdout: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of JSON Lines; other lines are logs."""
    for line in stdout.splitlines():
        if line.startswith("{"):
            yield _mapping(_parsed(line))


def _last_object(text: str) -> str:
    """Return the text of the last outermost JSON object; "" if there is none."""
    found, at = "", text.find("{")
    for _ in range(_MOST_STARTS):
        if at < 0:
            break
        try:
            _, end = _DECODER.raw_decode(text, at)
            found = text[at:end]
        except (ValueError, RecursionError):
            end = at + 1
        at = text.find("{", end)
    return found


def _parsed(text: str) -> JSON:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _integer(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


_DECODER = json.JSONDecoder()


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
