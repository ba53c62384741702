"""An agent program: how it is started, and how its output is read: JSON, and failures in text."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, Final, Protocol, TypeAlias

from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import parsed
from rubric_ci.values.trace import Finish, Step, Trace

Files: TypeAlias = Mapping[str, str]
"""Texts that a program left in its home folder, by their paths."""

NO_FILES: Final[Files] = {}


class Work(Protocol):
    """The start that works on files, with the settings of a target."""

    def __call__(self, agent: AgentProgram, session: str | None = None, /) -> "Start":
        """Return the start of a session that is resumed by its id; "": of one that will be."""


class Read(Protocol):
    """The reader of stdout, stderr and the files that a program keeps; raises AgentFailed."""

    def __call__(self, stdout: str, stderr: str, files: Files = NO_FILES, /) -> Trace:
        """Return the work that they report."""


KINDS: Final = ("shell", "edit", "read", "web")
"""Kinds of tools, each with a name that means the tools of every agent."""

NO_COST: Final = "it does not report its cost; set `cost_per_run`"
MOST_EVENT: Final = 300  # characters
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
_TROUBLE = re.compile(r"error|fail|retry", re.IGNORECASE)
_COMPLAINT = re.compile(r"error|status\W{1,3}[45]\d\d", re.IGNORECASE)
_FINISH = re.compile(
    r'(?<!\\)"gen_ai\.response\.finish_reasons":\s*\[[^\]"]*"(?:[a-z_]*",\s*")*([a-z_]+)"'
)
_DECODER = json.JSONDecoder()


def never(_: bytes) -> bool:
    """Return False: the program ends without being stopped."""
    return False


def no_words(_: Sequence[str]) -> tuple[str, ...]:
    """Return no options: the program writes in every folder of its workspace."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A command line, environment and home folder."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # in its home folder

    def at(self, home: str) -> "Start":
        """Return the start with its home folder in place of {home}."""
        argv = tuple(word.replace("{home}", home) for word in self.argv)
        named, files = (
            {name: text.replace("{home}", home) for name, text in of.items()}
            for of in (self.environment, self.files)
        )
        return replace(self, argv=argv, environment=named, files=files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    judge: Callable[[str], Start]
    """The start that marks answers with a model, "" for its own: without tools."""
    work: Work
    refuses: Mapping[str, str] = field(default_factory=dict)
    """The keys of `AgentProgram` that it does not have, each with a hint."""
    tools: Mapping[str, tuple[str, ...]]
    """The names of its tools by `KINDS`, of others under ""."""
    server_tools: str = "mcp__{}__"
    """How the names of the tools of a server in `mcp_servers` begin."""
    planted: tuple[str, ...]  # globs of files that it always reads in a working folder
    host: str
    cap: str = ""  # its option for the most dollars of a start; empty: it has none
    read: Read
    steps: Callable[[str], Iterable[Step]]
    """The steps of a stdout, also of one that ends early."""
    keeps: tuple[str, ...] = ()  # globs of files in its home folder that say more than its output
    gives_up: Callable[[bytes], bool] = never
    """Whether its output so far says that it will have no answer, though it goes on."""
    turns: Callable[[bytes], int] | None = None
    """The turns after which its output goes on; None: it limits them itself, or does not say."""
    writes: Callable[[Sequence[str]], tuple[str, ...]] = no_words
    """Its options to write in folders of the workspace that it only reads otherwise: `.git`."""
    restarts: bool = False  # after status 429, which it does not repeat itself
    resumes: bool = False  # it goes on with a session of an earlier start
    adds_up: tuple[str, ...] = ()  # then these of its figures are the whole session's
    is_output: Callable[[Mapping[str, object]], bool]
    """Whether an object is one that only this agent prints."""


class AgentFailed(Exception):
    """An agent reports that it has no answer."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None,
        retryable: bool | None,
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status  # as a server would say it: 401 login, 402 quota, 429 busy
        self.cost_usd = cost_usd  # None: it does not say what it used
        self.retryable = retryable  # None: the status decides


def option(name: str, value: object) -> tuple[str, ...]:
    """Return an option with its value; () without a value."""
    return () if value in ("", None) else (name, str(value))


def failure(message: str, status: int | None = None, cost_usd: float | None = None) -> AgentFailed:
    """Return the error for an agent's message about its failure."""
    text = " ".join(message.split())[:500] or "no reason given"
    if status is None and _LOGIN.search(text):
        status = 401
    if _QUOTA.search(text) and status not in {500, 503, 529}:
        return AgentFailed(text, status=402, retryable=False, cost_usd=cost_usd)
    if status is None and _BUSY.search(text):
        status = 429
    retryable = None if status else False
    return AgentFailed(text, status=status, retryable=retryable, cost_usd=cost_usd)


def is_refusal(text: str) -> bool:
    """Return True for a text that speaks of a login or a quota."""
    return bool(_LOGIN.search(text) or _QUOTA.search(text))


def events(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of an output: one, a list, or one a line; other lines are logs."""
    whole = parsed(text)
    if isinstance(whole, dict):
        yield whole
    elif isinstance(whole, list):
        yield from (each for each in whole if isinstance(each, dict))
    else:
        for line in text.split("\n"):
            if line.startswith("{"):
                yield mapping(parsed(line))


def last_event(stdout: str, stderr: str) -> str:
    """Return the last event of an output in one line, with the number of its repeats.

    An error comes before what follows it, then a line of stderr with one. Without events it is the
    last line; "" for no output.
    """
    said = [_event(event) for event in events(stdout)]
    errors = [n for n, (kind, _) in enumerate(said, start=1) if _TROUBLE.search(kind)]
    complaints = [line for line in stderr.splitlines() if _COMPLAINT.search(line)]
    if not said or (complaints and not errors):
        lines = complaints or (stdout.strip() or stderr.strip()).splitlines()
        return " ".join(lines[-1].split())[:MOST_EVENT] if lines else ""
    said = said[: errors[-1]] if errors else said
    kind, facts = said[-1]
    row = len(said) - next((n for n in range(len(said), 0, -1) if said[n - 1][0] != kind), 0)
    times = f" ({row} in a row)" if row > 1 else ""
    return ": ".join(filter(None, (f"{kind}{times}", facts)))[:MOST_EVENT]


def _event(event: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind of an event, and its facts without ids and times."""
    item = {**mapping(event.get("item")), **mapping(event.get("data")), **event}
    names = dict.fromkeys(str(item[key]) for key in ("type", "subtype") if item.get(key))
    facts = (
        f"{key} {' '.join(str(value).split())}"
        for key, value in item.items()
        if key not in {"type", "subtype", "timestamp", "uuid"} and not key.endswith(("_id", "Id"))
        if isinstance(value, str | int | float) and value != ""
    )
    return " ".join(names), ", ".join(facts)


def last_object(text: str) -> str:
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


def mapping(value: Any) -> Mapping[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def integer(value: Any) -> int:
    """Return a number of tokens or a status; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def number(value: Any) -> float | None:
    """Return a number; None for anything else, also for an integer that no float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def duration_ms(owner: Mapping[str, Any], start: str, end: str) -> float | None:
    """Return the time between two keys that hold milliseconds; None: one of them has none."""
    begun, ended = number(owner.get(start)), number(owner.get(end))
    return None if begun is None or ended is None else ended - begun


def as_text(value: Any) -> str:
    """Return a result as text: parts of text joined, another value as JSON."""
    match value:
        case None:
            return ""
        case str():
            return value
        case [{"text": str()}, *_] if all(isinstance(mapping(p).get("text"), str) for p in value):
            return "\n".join(part["text"] for part in value)
        case {"content": str() | list() as content}:
            return as_text(content)
        case _:
            return json.dumps(value, ensure_ascii=False)


def milliseconds(start: Any, end: Any) -> float | None:
    """Return the time between two RFC 3339 times; None if one is missing."""
    try:
        return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() * 1000
    except (TypeError, ValueError):
        return None


def finish_of(telemetry: str) -> Finish:
    """Return why the last reply of a model ended, by OpenTelemetry's attribute for it."""
    said = _FINISH.findall(telemetry)
    reasons: Mapping[str, Finish] = {"length": "length", "content_filter": "refusal"}
    return reasons.get(said[-1], "stop") if said else "stop"
