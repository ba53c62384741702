"""The home folder of an agent program, and its login on this machine, which counts outside of CI.

A program starts with an empty home folder. It gets the login that its own commands made: an access
token as a variable, else its file. What would be renewed is refused, because a renewed token would
be lost with the folder, and the one that the person has would be void.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from rubric_ci.models.agents.program import NO_FILES, Files, Start, mapping
from rubric_ci.system import output_and_masking
from rubric_ci.system.actions_runner import how_to_set, in_a_job
from rubric_ci.system.file_io import read_end
from rubric_ci.system.processes import clean_environment
from rubric_ci.values.agent_names_and_credentials import CREDENTIALS
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import parsed

_HOMES: Final = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TEMP", "TMP")
_SHORTEST: Final = timedelta(minutes=15)  # that a token must be valid yet
_RENEWED: Final = timedelta(days=7)  # codex renews a login that is older


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The login of a program: variables, and files of its home folder."""

    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    place: str = ""  # the file of the login; empty: variables of this process


def environment_at(
    home: Path, names: Iterable[str], login: Login, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the named variables, the credential, the locale and the PATH; the home is empty."""
    given = {**clean_environment(environment, names), **login.variables}
    homes = (name for name in _HOMES if name in given or name in {"HOME", "TMPDIR"})
    return given | dict.fromkeys(homes, str(home))


class NoLogin(Exception):
    """There is no credential, or it ends too soon; the text says what to do."""


def login_of(
    program: str,
    given: tuple[str, ...],
    environment: Mapping[str, str],
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    *,
    server: str = "",
) -> Login:
    """Return the credential of a program; raises NoLogin.

    It is a variable, one of those that `given` names, or outside of CI the program's own login,
    which no other `server` gets.
    """
    names = CREDENTIALS.get(program, ())
    own = {name: environment[name] for name in names if environment.get(name)}
    if own or not names or any(environment.get(name) for name in given):
        return Login(variables=own)
    if not (server or in_a_job(environment)) and (found := _own(program, environment, now())):
        for text in (*found.variables.values(), *found.files.values()):
            inner = parsed(text)
            output_and_masking.hide(_secrets(inner) if isinstance(inner, dict) else [text])
        return found
    raise NoLogin(missing(program, environment))


def missing(program: str, environment: Mapping[str, str]) -> str:
    """Return how a program gets a credential."""
    names = CREDENTIALS[program]
    start = f"no credential for {program}: "
    if not in_a_job(environment):
        login = {"claude-code": "log in with `claude`, or ", "codex": "run `codex login`, or "}
        return f"{start}{login.get(program, '')}set {' or '.join(names)}"
    first = "CLAUDE_CODE_OAUTH_TOKEN" if program == "claude-code" else names[0]
    token = "get a token with `claude setup-token`, " if first != names[0] else ""
    return f"{start}{token}{how_to_set(first, environment)}"


def _own(program: str, environment: Mapping[str, str], now: datetime) -> Login | None:
    match program:
        case "claude-code":
            return _claude_login(_folder("CLAUDE_CONFIG_DIR", ".claude", environment), now)
        case "codex":
            return _codex_login(_folder("CODEX_HOME", ".codex", environment), now)
        case _:
            return None


def _folder(variable: str, name: str, environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    return Path(environment.get(variable) or Path(home) / name)


def _claude_login(folder: Path, now: datetime) -> Login | None:
    file = folder / ".credentials.json"
    found = mapping(mapping(parsed(_file_text(file))).get("claudeAiOauth"))
    token, end = found.get("accessToken"), found.get("expiresAt")  # milliseconds
    if not isinstance(token, str) or not token:
        return None
    if isinstance(end, int | float) and end / 1000 < (now + _SHORTEST).timestamp():
        raise NoLogin("the login of claude-code ends; run `claude` once, which renews it")
    return Login(variables={"CLAUDE_CODE_OAUTH_TOKEN": token}, place=str(file))


def _codex_login(folder: Path, now: datetime) -> Login | None:
    file = folder / "auth.json"
    found = mapping(parsed(text := _file_text(file)))
    if isinstance(key := found.get("OPENAI_API_KEY"), str) and key:
        return Login(variables={"CODEX_API_KEY": key}, place=str(file))
    if not mapping(found.get("tokens")):
        return None
    if now - _time(found.get("last_refresh")) > _RENEWED:
        raise NoLogin("the login of codex is older than 7 days; run `codex` once, which renews it")
    return Login(files={"auth.json": text}, place=str(file))


def _time(written: Any) -> datetime:
    try:
        return datetime.fromisoformat(str(written)).astimezone(UTC)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _file_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _secrets(value: Any) -> list[str]:
    """Return the texts of JSON that may be secrets."""
    if isinstance(value, dict):
        return [each for item in value.values() for each in _secrets(item)]
    return [value] if isinstance(value, str) and len(value) > 30 else []


_MOST_FILES: Final = 20  # of one glob
_MOST_BYTES: Final = 16 * 2**20


def furnished(start: Start, home: Path, login: Files = NO_FILES) -> Start:
    """Write settings and login into the home folder of a start, and return it with that folder."""
    own = start.at(str(home))
    for path, text in {**own.files, **login}.items():
        place = home / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return own


def kept(home: Path, globs: Iterable[str]) -> Files:
    """Return the texts of the files that fit, of a large one its end; links are left out."""
    found: dict[str, str] = {}
    for glob in globs:
        for path in sorted(home.glob(glob))[:_MOST_FILES]:
            with suppress(OSError):
                data = read_end(path, _MOST_BYTES)
                found[path.relative_to(home).as_posix()] = data.decode("utf-8", "replace")
    return found
