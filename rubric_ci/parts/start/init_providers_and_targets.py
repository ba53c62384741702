"""The settings of `rubric-ci init`, and the providers and kinds of target that it offers.

A target that is a service has more: how it is started, asked and read.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import click

from rubric_ci.values import formats_and_defaults
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON

TargetKind: TypeAlias = Literal["model", "command", "http", "claude-code", "codex", "recorded"]
TARGETS: Final[Mapping[TargetKind, str]] = MappingProxyType(
    {
        "model": "the model of the provider, asked with each question",
        "command": "your own program, started with each question",
        "http": "your own service, sent each question",
        "claude-code": "Claude Code, which works in an empty folder",
        "codex": "Codex, which works in an empty folder",
        "recorded": "answers that are kept in a file",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitSettings:
    folder: Path = Path()
    force: bool = False
    public: bool = False  # also a workflow for the pull requests of strangers
    provider: str = "openai"  # a key of PROVIDERS
    target: TargetKind = "model"
    command: str = ""  # of the target `command`; empty: the program of the example
    url: str = ""  # of the target `http`
    start: str = ""  # its start command; empty: it is deployed at `url`, or an example
    reply: str = ""  # one of its replies, as JSON
    rubrics: tuple[str, ...] = ()  # names of rubric files of the library


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider of models, with a model to start with and the variables that it needs."""

    model: str
    about: str  # for a person who chooses
    cli: str = ""  # the program that judges with its own login; then the model is the program's
    note: str = ""  # a comment after the model
    keys: tuple[str, ...] = ()  # of the configuration, besides `model`
    variables: tuple[str, ...] = ()  # empty: the server needs none
    priced: bool = True  # False: no known price, so a maximum cost cannot be enforced
    before: str = ""  # a command before the first run
    remark: str = ""  # for a workflow that grades

    @property
    def settings(self) -> tuple[str, ...]:
        """The lines of a judge or a target in `rubric-ci.yaml`."""
        model = f"model: {self.model}{self.note and f' # {self.note}'}"
        return (*([f"cli: {self.cli}"] if self.cli else []), model, *self.keys)

    @property
    def needs_litellm(self) -> bool:
        own = self.model.partition("/")[0] in {"openai", "anthropic", "gemini"}
        return not (self.cli or own)


_NEVER: Final = "# an environment variable; never write the key here"
_LOCAL: Final = "The workflows need a runner that reaches the server: set `runs-on` in `with`."


def _keyed(model: str, variable: str, about: str) -> Provider:
    return Provider(
        model=model,
        about=about,
        note="any litellm model name",
        keys=(f"api_key: ${{{{ {variable} }}}} {_NEVER}",),
        variables=(variable,),
    )


RUBRICS: Final = (
    *("groundedness", "instruction-following", "refusal", "safety"),
    *("tone", "code-review", "tool-use"),
)
"""The library of rubric files that `init` copies."""

PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "openai": _keyed(formats_and_defaults.MODEL_JUDGE, "OPENAI_API_KEY", "a key of OpenAI"),
        "anthropic": _keyed(
            formats_and_defaults.MODEL_SMALL_CLAUDE, "ANTHROPIC_API_KEY", "a key of Anthropic's API"
        ),
        "gemini": _keyed(
            formats_and_defaults.MODEL_GEMINI, "GEMINI_API_KEY", "a key of Google's Gemini API"
        ),
        "azure": Provider(
            about="a deployment of Azure OpenAI, with its address and key",
            model=formats_and_defaults.MODEL_JUDGE.replace("openai/", "azure/"),
            note="the name of your deployment",
            keys=(
                "api_base: ${{ AZURE_API_BASE }} # https://NAME.openai.azure.com",
                'api_version: "2024-10-21"',
                f"api_key: ${{{{ AZURE_API_KEY }}}} {_NEVER}",
            ),
            variables=("AZURE_API_BASE", "AZURE_API_KEY"),
        ),
        "bedrock": Provider(
            about="a model on Amazon Bedrock, with credentials of AWS",
            model=formats_and_defaults.MODEL_TARGET.replace("anthropic/", "bedrock/anthropic."),
            keys=("aws_region_name: eu-central-1",),
            variables=("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        ),
        "vertex": Provider(
            about="Gemini on Google's Vertex AI, with a project and its credentials",
            model=formats_and_defaults.MODEL_GEMINI.replace("gemini/", "vertex_ai/"),
            keys=("vertex_project: ${{ VERTEX_PROJECT }}", "vertex_location: europe-west1"),
            variables=("VERTEX_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"),
            remark=(
                "GOOGLE_APPLICATION_CREDENTIALS is the path of a file: the workflows need a "
                "runner that has it (`runs-on` in `with`), or a step that logs in: "
                "https://github.com/rubric-ci/rubric-ci/blob/main/examples/workflows/"
                "evals-google.yml"
            ),
        ),
        "openai-compatible": Provider(
            about="a server with OpenAI's format: vLLM, llama.cpp, LiteLLM, OpenRouter",
            model="openai/my-model",
            note="the name that the server lists",
            keys=(
                "api_base: ${{ OPENAI_API_BASE }} # http://127.0.0.1:8000/v1",
                "api_key: ${{ OPENAI_API_KEY }} # the key of the server; any text if it has none",
            ),
            variables=("OPENAI_API_BASE", "OPENAI_API_KEY"),
            priced=False,
            remark=_LOCAL,
        ),
        "ollama": Provider(
            about="a model on this machine, without a key",
            before="ollama pull llama3.1",
            model="openai/llama3.1",
            note="as `ollama list` names it",
            keys=("api_base: http://127.0.0.1:11434/v1 # needs no key",),
            priced=False,
            remark=_LOCAL,
        ),
        "claude-code": Provider(
            about="Claude Code with your login, without a key",
            cli="claude-code",
            model=formats_and_defaults.MODEL_SMALL_CLAUDE.partition("/")[2],
            variables=("CLAUDE_CODE_OAUTH_TOKEN",),
            priced=False,
            remark=(
                "The workflows need the program: set `setup: npm install --global "
                "@anthropic-ai/claude-code` in `with`; `claude setup-token` makes the token."
            ),
        ),
        "codex": Provider(
            about="Codex with your login, without a key",
            cli="codex",
            model=formats_and_defaults.MODEL_JUDGE.partition("/")[2],
            variables=("CODEX_API_KEY",),
            priced=False,
            remark=(
                "The workflows need the program: set `setup: npm install --global @openai/codex` "
                "in `with`."
            ),
        ),
    }
)


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
    from rubric_ci.files.project.working_tree import read_text  # `--help` needs no files

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
