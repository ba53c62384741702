"""Rules of services, which answer over HTTP, and of texts that are sent as they are written."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rubric_ci.evaluators.kind import target_names
from rubric_ci.files.validation.config_summary import Prompt, texts_of
from rubric_ci.files.validation.eval_rules import UNUSED_SETTING
from rubric_ci.text.suggestions import did_you_mean
from rubric_ci.values.problems import (
    GOOD_FILE,
    INPUTS,
    Path,
    Problem,
    Rule,
    list_at,
    mapping_at,
    mappings,
    with_service,
    with_target,
)

_ASKED: Final = "url_before: 'https://b.example', body: '{{ input }}'"
LITERAL_FILE: Final = Rule(
    id="literal-file",
    meaning="`file://` names no file in a text: the words themselves would be asked.",
    hint="write `input: [{type: file, value: PATH}]`",
    bad="evalcases:\n  - {id: a, input: 'file://q.md', rubrics: [Greets]}\n",
    good=GOOD_FILE,
)
LITERAL_VARIABLE: Final = Rule(
    id="literal-variable",
    meaning="Only `${{ NAME }}` is a variable in the address and the headers of a service.",
    hint="write `${{ NAME }}`",
    bad=with_service(f"{_ASKED}, headers: {{Authorization: 'Bearer $TOKEN'}}"),
    good=with_service(f"{_ASKED}, headers: {{Authorization: 'Bearer ${{{{ OPENAI_TOKEN }}}}'}}"),
)
JSON_PATH: Final = Rule(
    id="json-path",
    meaning="A place in JSON is a JSON Pointer (`/a/0`) or a dotted path (`a.0`), no JSONPath.",
    hint="write `/a/0` or `a.0`",
    bad=with_service(f"{_ASKED}, answer: $.reply"),
    good=with_service(f"{_ASKED}, answer: reply"),
)
_FILE: Final = re.compile(r"file://\S+")
_VARIABLE: Final = re.compile(
    r"(?<!\$)\$(?:env:)?\{?([A-Z_][A-Z0-9_]*)\}?|\bos\.environ/([A-Za-z_][A-Za-z0-9_]*)"
)
_TEXTS: Final = ("input", "expected_output", "expected_outcome")

_OWN_ADDRESS: Final = "http://127.0.0.1:{PORT}"
BODY_VARIABLES: Final = frozenset(
    ("input", "files", "message", "messages", "history", "session_id")
)
"""The variables of a body that each case has; one of its `vars` comes first."""
_OF_TURNS: Final = frozenset(("messages", "history", "session_id"))
_OF_MESSAGES: Final = frozenset(("messages", "history", "input"))
UNKNOWN_PLACEHOLDER: Final = Rule(
    id="unknown-placeholder",
    meaning="Only known placeholders are replaced: the command would run with the braces in it.",
    bad=with_target("provider: cli, command_template: 'agent {PROMT}'"),
    good=with_target("provider: cli, command_template: 'agent {PROMPT}'"),
)
BODY_TEMPLATE: Final = Rule(
    id="body-template",
    meaning="A text in the body of a request is a template of the case's variables.",
    hint="write `{{ input }}`, or a variable of `vars`",
    bad=with_service("url_before: 'https://b.example', body: '{{ input'"),
    good=with_service("url_before: 'https://b.example', body: '{{ input }}'"),
)
CONVERSATION_NOT_SENT: Final = Rule(
    id="conversation-not-sent",
    meaning=(
        "A service gets the messages before the last one if the `body` of its target sends them, "
        "or a session by which it finds them. Otherwise it would answer each turn as the first."
    ),
    hint=(
        "put `{{ messages }}` or `{{ history }}` into `body`, or `{{ session_id }}` if the "
        "service keeps the conversation"
    ),
)
SERVICE_URL: Final = Rule(
    id="service-url",
    meaning=(
        "A run starts the service on a free port of this machine and asks it there: `url` begins "
        "with `http://127.0.0.1:{PORT}`."
    ),
    hint=f"write `url: {_OWN_ADDRESS}/PATH`",
    bad=with_target("provider: http, start: 'python bot.py', url: 'http://127.0.0.1:8000/'"),
    good=with_target("provider: http, start: 'python bot.py', url: 'http://127.0.0.1:{PORT}/'"),
)
BASE_NOT_ASKED: Final = Rule(
    id="base-not-asked",
    severity="notice",
    switchable=True,
    meaning=(
        "A service without `start` and `url_before` has one server, which answers as the change. "
        "With `--against`, the base is never asked: its kept answers count, and without any the "
        "case is not comparable."
    ),
    hint="set `start`, so that a run starts both sides, or `url_before` where the base is deployed",
    bad=with_service("depends_on: [b]"),
    good=with_service("depends_on: [b], url_before: 'https://b.example'"),
)
_INSTALLING: Final = (
    "provider: http, setup: 'pip install {} requirements.txt', start: 'python bot.py', "
    "url: 'http://127.0.0.1:{{PORT}}/'"
)
SETUP_SHARED: Final = Rule(
    id="setup-shared",
    severity="warning",
    switchable=True,
    meaning=(
        "Each side of a change runs `setup` in its folder, both at once. What pip installs into "
        "the Python of the machine is there for both sides, as the later one has it."
    ),
    hint=(
        "install into the folder: `pip install --target .deps`, with `env PYTHONPATH=.deps` in "
        "`start`, or a virtual environment"
    ),
    bad=with_target(_INSTALLING.format("-r")),
    good=with_target(_INSTALLING.format("-t .deps -r")),
)
_INSTALL: Final = re.compile(
    r"(?:^|[;&|(])[ \t]*(?:\w+=\S*[ \t]+)*(?:python[0-9.]*\s+-m\s+)?"
    r"pip[0-9.]*\s+install\b[^;&|\n]*",
    re.MULTILINE,
)
_OWN_FOLDER: Final = re.compile(r"(?:^|\s)(?:-t|--target|--prefix|--root)\b|venv|PIP_")
_OF_PROGRAM: Final = ("setup", "stop", "ready", "ready_seconds", "setup_seconds", "cwd", "env")
_PLACEHOLDER = re.compile(r"(?<![$\w{])\{([A-Z][A-Z0-9_]*)\}")
_KNOWN_PLACEHOLDER = re.compile(r"PORT(_[A-Z0-9_]+)?|SIDE")


def literal_files(data: Any) -> Iterator[Problem]:
    """Yield questions, reference answers and criteria that are `file://` and a name."""
    for path, case in mappings(data, "evalcases"):
        for key in _TEXTS:
            yield from _files(case.get(key), (*path, key))
        for key in ("input_messages", "expected_messages", "turns"):
            for place, message in mappings(case, key, path):
                for name in ("content", "input"):
                    yield from _files(message.get(name), (*place, name))
        for index, criterion in enumerate(list_at(case, "rubrics")):
            yield from _files(criterion, (*path, "rubrics", index))


def _files(text: Any, path: Path) -> Iterator[Problem]:
    if isinstance(text, str) and _FILE.fullmatch(text.strip()):
        name = text.strip().removeprefix("file://")
        is_question = path[-1] in ("input", "content")
        hint = (
            f"write `[{{type: file, value: {name}}}]`" if is_question else "write the text itself"
        )
        yield Problem(LITERAL_FILE, path, f"`{text.strip()}` is the text, not a file", hint)


def literal_variables(target: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    """Yield the variables of a shell, and of litellm, in what a service is sent."""
    texts: dict[Path, Any] = {(key,): target.get(key) for key in ("url", "url_before")}
    texts |= {("headers", key): value for key, value in mapping_at(target, "headers").items()}
    for place, text in texts.items():
        for found in _VARIABLE.finditer(text) if isinstance(text, str) else ():
            name = found[1] or found[2]
            message = f"`{found[0]}` is sent as it is written"
            hint = did_you_mean(f"${{{{ {name} }}}}")
            yield Problem(LITERAL_VARIABLE, (*path, *place), message, hint, part=found[0])


def json_paths(places: Iterable[tuple[Path, Any]]) -> Iterator[Problem]:
    """Yield places in JSON that are written as JSONPath."""
    for path, written in places:
        if isinstance(written, str) and re.match(r"\$(?:[.\[]|$)", written):
            steps = re.sub(r"\[['\"]?([\w-]+)['\"]?\]", r".\1", written[1:])
            plain = re.fullmatch(r"(?:\.[\w-]+)+", steps)
            hint = f"write `{steps[1:]}`" if plain else ""
            yield Problem(JSON_PATH, path, f"`{written}` is a JSONPath", hint)


def places_of_service(target: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Yield the places in a service's reply, each with its path in the target."""
    for key in ("answer", "answer_files", "tool_calls"):
        yield (key,), target.get(key)
    for name, place in mapping_at(target, "usage").items():
        yield ("usage", name), place


def service_problems(target: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    yield from _body_problems(target, path)
    yield from literal_variables(target, path)
    yield from json_paths(((*path, *place), text) for place, text in places_of_service(target))
    url = target.get("url")
    if "start" in target:
        if isinstance(url, str) and not _is_own(url):
            message = f"`url` is `{url}`, which is not where the run starts the service"
            yield Problem(SERVICE_URL, (*path, "url"), message)
        if "url_before" in target:
            message = "`url_before` has no effect: the run starts the base as well"
            yield Problem(UNUSED_SETTING, (*path, "url_before"), message, at_key=True)
        yield from _placeholder_problems(target, path)
        yield from _setup_problems(target.get("setup"), (*path, "setup"))
        return
    for key in _OF_PROGRAM:
        if key in target:
            message = f"`{key}` has no effect on a service without `start`"
            yield Problem(UNUSED_SETTING, (*path, key), message, at_key=True)
    if "url_before" not in target and isinstance(url, str):
        message = "the base of a change is not asked, as both sides have this server"
        yield Problem(BASE_NOT_ASKED, (*path, "url"), message, at_key=True)


def _is_own(url: str) -> bool:
    rest = url.removeprefix(_OWN_ADDRESS)
    return rest != url and rest[:1] in ("", "/", "?")


def _setup_problems(written: Any, path: Path) -> Iterator[Problem]:
    words = written if isinstance(written, list) else [written]
    setup = " ".join(word for word in words if isinstance(word, str))
    install = _INSTALL.search(setup)
    if install and not _OWN_FOLDER.search(setup):
        message = "both sides of a change would install into the Python of the machine"
        yield Problem(SETUP_SHARED, path, message)


def _placeholder_problems(target: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    for key in ("start", "setup", "stop", "ready", "url"):
        value = target.get(key)
        for text in value if isinstance(value, list) else [value]:
            for name in _PLACEHOLDER.findall(text) if isinstance(text, str) else ():
                if not _KNOWN_PLACEHOLDER.fullmatch(name):
                    message = f"`{{{name}}}` is not a known placeholder"
                    hint = "known are `{PORT}`, `{PORT_NAME}` and `{SIDE}`"
                    yield Problem(
                        UNKNOWN_PLACEHOLDER, (*path, key), message, hint, part=f"{{{name}}}"
                    )


def _body_problems(target: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    """Yield the texts of a body that are not templates."""
    for place, text in texts_of(target.get("body")):
        if "{{" in text or "{%" in text:
            from rubric_ci.text.template import used  # few targets need Jinja2

            if fault := used(text).fault:
                yield Problem(BODY_TEMPLATE, (*path, "body", *place), fault.reason)


def conversation_problems(
    data: Any, prompts: Mapping[str, Prompt], compare: Sequence[str]
) -> Iterator[Problem]:
    """Yield cases whose service would not get the messages before the last one."""
    for path, case in mappings(data, "evalcases"):
        for key, needed in _needed(case, data):
            for name in target_names(case, data, compare):
                prompt = prompts.get(name)
                if prompt and prompt.is_body and not prompt.names & needed:
                    lacks = ", ".join(f"`{{{{ {each} }}}}`" for each in sorted(needed))
                    message = (
                        f"the service `{prompt.target}` would not know the messages before the "
                        f"last one: its `body` has none of {lacks}"
                    )
                    yield Problem(CONVERSATION_NOT_SENT, (*path, key), message, at_key=True)


def _needed(case: Mapping[str, Any], data: Any) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield a key that makes a conversation, and the variables that send it."""
    for key in ("turns", "simulated_user"):
        if key in case:
            yield key, _OF_TURNS
            return
    shared = data.get("messages") if isinstance(data, dict) else None
    for key in INPUTS:
        own = case.get(key)
        if isinstance(own, list) and _count(own) + _count(shared) > 1:
            yield key, _OF_MESSAGES


def _count(messages: Any) -> int:
    """Return how many messages a list has; parts of one message are none."""
    listed = messages if isinstance(messages, list) else []
    return sum(isinstance(each, dict) and "role" in each for each in listed)
