"""promptfoo's HTTP services as targets.

`provider: http` asks one whose reply has the answer at a path. Otherwise the shim asks as promptfoo
does: a check by code gets data of a reply as data, and code of the configuration reads replies.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from posixpath import join
from typing import Any, Final, NamedTuple

from rubric_ci.files.yaml_text.translation import Beside, Translation
from rubric_ci.parts.bring.dialects.promptfoo_code import (
    COMMANDS,
    PROMPT_WORD,
    SHIMS,
    VARIABLES,
    as_argument,
    language_of,
)
from rubric_ci.text.shell_words import written_word
from rubric_ci.values.problems import Path

_READERS: Final = ("transformResponse", "responseParser")
_KNOWN: Final = ("url", "method", "headers", "body", "queryParams", *_READERS)
_IDLE: Final = ("timeout", "timeoutMs", "maxRetries", "tokenEstimation", "useHttps")
_DECIDING: Final = (
    *("request", "multipart", "tools", "tool_choice", "transformToolsFormat", "transformRequest"),
    *("session", "sessionParser", "sessionSource", "stateful", "validateStatus"),
    *("auth", "signatureAuth", "tls"),
)
_VARIABLE: Final = re.compile(
    r"\{\{-?\s*+(env\.)?+([A-Za-z_]\w*+)(?:\.\w++)*+\s*+"
    r"(\|\s*+(?:dump|safe|default\((?:'[^'{}]*+'|\"[^\"{}]*+\")\))\s*+)?+-?\}\}"
)
_PATH: Final = re.compile(r"json(?:\??\.\w++|\[\d++\])++")
_ARROW: Final = re.compile(r"\(?\s*+(\w++)(?:\s*+,\s*+\w++)*+\s*+\)?\s*+=>\s*+(.++)", re.DOTALL)


class Service(NamedTuple):
    """A service as a target, and as the program that asks it as promptfoo does."""

    target: dict[str, Any]
    program: dict[str, Any]


def service_of(
    found: Translation,
    options: Mapping[str, Any],
    place: Path,
    beside: Beside,
    transforms: list[str],
) -> Service | None:
    """Return a service; None, and a report, without a counterpart."""
    given = options.get("config") or {}
    config = given if isinstance(given, dict) else {}
    at: Path = (*place, "config")
    found.skip_keys(config, (*_KNOWN, *_IDLE), _DECIDING, at)
    name = str(options["id"])
    request = {
        "url": config.get("url", name if "://" in name else ""),
        "method": str(config.get("method", "GET")).upper(),
        **{key: config[key] for key in ("headers", "body", "queryParams") if key in config},
    }
    text = "\n".join(_texts(request))
    if any(sign in _VARIABLE.sub("", text) for sign in ("{{", "{%")):
        found.refuse(at, "templates of a service that are not variables have no counterpart")
        return None
    if any(each.startswith("file://") for each in _texts(request)):
        found.refuse(at, "a file in the request of a service is not read")
        return None
    used = [*_VARIABLE.finditer(text)]
    names = {match[2] for match in used if not match[1]}
    reader = str(next((config[key] for key in _READERS if key in config), "")).strip()
    program = _program(request, reader, used, beside, transforms)
    path = _answer(reader)
    others = names - {"prompt"} or transforms or any(match[3] or "-" in match[0] for match in used)
    plain = path and not others
    target = _target(request, path) if plain and _is_plain(request) else program
    return Service(target, program)


def _program(
    request: Mapping[str, Any],
    reader: str,
    used: list[re.Match[str]],
    beside: Beside,
    transforms: list[str],
) -> dict[str, Any]:
    file = reader.removeprefix("file://")
    if file != reader and language_of(file):
        reader = f"file://{join(beside.base, file)}"
    read = {"reader": reader} if reader else {}
    spec = as_argument(json.dumps({**request, **read}, default=str))
    reads = any(not match[1] and match[2] != "prompt" for match in used)
    held = written_word(f"{beside.stem}{VARIABLES}")
    variables = ["--vars", held, "{EVAL_ID}"] if reads else []
    words = [COMMANDS["javascript"], SHIMS["javascript"], *variables, "--http", written_word(spec)]
    rest = (written_word(as_argument(each)) for each in transforms)
    environment = sorted({match[2] for match in used if match[1]})
    return {
        "provider": "cli",
        "command_template": " ".join((*words, PROMPT_WORD, *rest)),
        "cwd": ".",
        **({"env": environment} if environment else {}),
    }


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a request."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        yield from (text for each in inner for text in _texts(each))
    elif isinstance(value, str):
        yield value


def _is_plain(request: Mapping[str, Any]) -> bool:
    """Return True for a request that `provider: http` sends alike."""
    sends = request["method"] in ("POST", "PUT", "PATCH") and isinstance(request.get("body"), dict)
    return "queryParams" not in request and (sends or request["method"] == "GET")


def _target(request: Mapping[str, Any], answer: str) -> dict[str, Any]:
    url = _mapped(request["url"], _environment)  # of another type, which the checks name
    target = {"provider": "http", "url": url, "method": request["method"]}
    if "headers" in request:
        target["headers"] = _mapped(request["headers"], _environment)
    if "body" in request and request["method"] != "GET":
        target["body"] = _mapped(request["body"], _input)
    return {**target, "answer": answer}


def _mapped(value: Any, function: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(each, function) for key, each in value.items()}
    if isinstance(value, list):
        return [_mapped(each, function) for each in value]
    return function(value) if isinstance(value, str) else value


def _environment(text: str) -> str:
    return re.sub(r"\{\{\s*env\.(\w+)\s*\}\}", r"${{ \1 }}", text)


def _input(text: str) -> str:
    return re.sub(r"\{\{\s*prompt\s*\}\}", "{{ input }}", _environment(text))


def _answer(code: str) -> str:
    """Return the path of a value in a reply, of `json.a[0].text` or a function of it; "": none."""
    if match := _ARROW.fullmatch(code):
        code = re.sub(rf"\A{match[1]}\b", "json", match[2].strip())
    if not _PATH.fullmatch(code):
        return ""
    steps: list[str] = re.findall(r"\w+", code)
    return "".join(f"/{step}" for step in steps[1:])
