"""The target of `rubric-ci init` that is a service: how it is started, asked and read."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import click

from rubric_ci.files.project.working_tree import read_text
from rubric_ci.parts.start.init_providers import InitSettings
from rubric_ci.values.json_value import JSON

START: Final = "python3 bot.py --port {PORT}"
PATH: Final = "/chat"
DEPLOYED: Final = "http://127.0.0.1:8000/chat"
SAMPLE: Final = '{"reply": "text"}'
DEPENDENCIES: Final = ".deps/"
_PORT: Final = re.compile(r"(?<![\w.:-])\d{4,5}\b|(?<=:)\d{4,5}\b")
_ANSWERS: Final = ("answer", "reply", "response", "output", "text", "content", "message")
_SETUPS: Final = {
    "requirements.txt": "python3 -m pip install -q --target .deps -r requirements.txt",
    "package-lock.json": "npm ci --silent",
    "package.json": "npm install --silent",
}
"""The command that installs what a side needs into its folder, by a file of the service."""


class _Language(NamedTuple):
    programs: str  # which run a service
    files: str  # of a project
    version: str
    of_project: str = ""  # the file with another version


_LANGUAGES: Final = {
    "python": _Language(
        "python python3 uv uvicorn gunicorn hypercorn flask fastapi poetry",
        "requirements.txt pyproject.toml",
        "3.13",
        ".python-version",
    ),
    "node": _Language("node npm npx pnpm yarn tsx", "package.json", "24", ".nvmrc"),
    "go": _Language("go", "go.mod", "stable"),
    "java": _Language(
        "java mvn mvnw gradle gradlew", "pom.xml build.gradle build.gradle.kts", "21"
    ),
}
_NO_LANGUAGE: Final = (
    "    # setup-python, setup-node, setup-go or setup-java in `with` installs the language of the "
    "service.\n"
)
_WITH: Final = "    with: { "  # of a workflow that starts the service


def with_language(workflow: str, settings: InitSettings) -> str:
    """Return a workflow that installs the language of the service before it starts it."""
    if settings.target != "http" or (settings.url and not settings.start):
        return workflow
    name = _language_of(settings)
    if not name:
        return workflow.replace(_WITH, _NO_LANGUAGE + _WITH)
    return workflow.replace(_WITH, f"{_WITH}setup-{name}: {_quoted(_version(name, settings))}, ")


def _language_of(settings: InitSettings) -> str:
    """Return the language of the command, else of the files; empty: neither tells."""
    programs = {Path(word).name for word in (settings.start or START).split()}
    for name, language in _LANGUAGES.items():
        if programs & {*language.programs.split()}:
            return name
    if "docker" in programs:
        return ""
    found = (
        name
        for name, language in _LANGUAGES.items()
        if any((settings.folder / file).is_file() for file in language.files.split())
    )
    return next(found, "")


def _version(name: str, settings: InitSettings) -> str:
    language = _LANGUAGES[name]
    file = settings.folder / language.of_project
    lines = read_text(file).split() if language.of_project and file.is_file() else []
    return next((line for line in lines if re.fullmatch(r"[\w.*/-]+", line)), language.version)


def with_port(start: str) -> str:
    """Return a start command with `{PORT}` in place of the number of a port."""
    return start if "{PORT}" in start else _PORT.sub("{PORT}", start, count=1)


def read_sample(text: str) -> JSON:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"it is not JSON: {error}") from None


def answer_at(reply: JSON) -> str:
    """Return where the answer is in a reply: a text with a usual name, else the longest one."""
    texts = [(path, value) for path, value in _values(reply, "") if isinstance(value, str)]
    usual = [path for name in _ANSWERS for path, _ in texts if path.rpartition(".")[2] == name]
    longest = max(texts, key=lambda each: len(each[1]), default=("", ""))[0]
    return next(iter(usual), longest)


def calls_at(reply: JSON) -> str:
    """Return where the calls of tools are in a reply; empty: it has none."""
    for path, value in _values(reply, ""):
        listed = isinstance(value, list) and value
        if listed and all(isinstance(each, dict) and _is_call(each) for each in value):
            return path
    return ""


def _is_call(value: dict[str, Any]) -> bool:
    inner = value.get("function", value)
    named = isinstance(inner, dict) and "name" in inner
    return named and bool({"arguments", "args", "input"} & {*inner})


def _values(value: JSON, path: str) -> Iterator[tuple[str, JSON]]:
    """Yield each value with its dotted path, the outer ones first."""
    pairs = enumerate(value) if isinstance(value, list) else ()
    items = [*(value.items() if isinstance(value, dict) else pairs)]
    own = [(f"{path}.{key}" if path else str(key), each) for key, each in items]
    yield from own
    for inner, each in own:
        yield from _values(each, inner)


def target_of(settings: InitSettings, variables: str) -> str:
    """Return the lines of the target in a new configuration."""
    reply = read_sample(settings.reply or SAMPLE)
    is_started = bool(settings.start) or not settings.url
    lines = [*_started(settings, variables)] if is_started else [f"url: {_quoted(settings.url)}"]
    if not is_started:
        lines.append("# url_before: where the base of a change is deployed; else it is not asked")
    lines.append('body: {message: "{{ message }}", session: "{{ session_id }}"}')
    if isinstance(reply, dict | list):
        lines.append(f"answer: {_quoted(answer_at(reply))}")
        lines += [f"tool_calls: {_quoted(place)}"] if (place := calls_at(reply)) else []
    said = "each side of a change is started" if is_started else "it is asked where it is deployed"
    head = f"  # Your own service answers; {said}.\n  - name: default\n    provider: http\n"
    return head + "".join(f"    {line}\n" for line in lines)


def _started(settings: InitSettings, variables: str) -> Iterator[str]:
    start = with_port(settings.start or START)
    file = setup_file(settings.folder)
    if file:
        yield f"setup: {_quoted(_SETUPS[file])} # into the folder of each side"
    of_python = DEPENDENCIES.rstrip("/") in _SETUPS.get(file, "")
    yield f"start: {_quoted(f'env PYTHONPATH=.deps {start}' if of_python else start)}"
    yield "# ready: /health # a path that replies with 2xx; without it, the open port"
    path = urlsplit(settings.url).path if settings.url else PATH
    yield f"url: {_quoted(f'http://127.0.0.1:{{PORT}}{path}')}"
    yield f"env: [{variables}] # it gets no other variable: delete what it does not read"
    words = [word for word in start.split() if not Path(word).is_absolute()]
    files = [word for word in words if (settings.folder / word).is_file()]
    if files:
        listed = [*files, *([file] if file else [])]
        yield f"depends_on: [{', '.join(map(_quoted, listed))}] # add its other files"
    else:
        yield "# depends_on: [src/**] # without it, a change to any file runs the cases"


def setup_file(folder: Path) -> str:
    """Return the file by which the service is installed; empty: there is none."""
    return next((name for name in _SETUPS if (folder / name).is_file()), "")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
