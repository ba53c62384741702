"""Texts that another tool would replace, and that would be sent as they are written."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rubric_ci.text.suggestions import did_you_mean
from rubric_ci.values.problems import (
    GOOD_FILE,
    Path,
    Problem,
    Rule,
    list_at,
    mapping_at,
    mappings,
    with_service,
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
