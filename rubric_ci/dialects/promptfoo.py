"""promptfoo's configurations, for `import`: a case per test and prompt, assertions as criteria.

They are not read in place: real ones run code. `promptfoo_checks.py` has the assertions.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from posixpath import join
from typing import Any, Final, NamedTuple

from rubric_ci.dialects.promptfoo_checks import COMMANDS, SHIMS, add_checks, test_of_row
from rubric_ci.dialects.translation import Beside, Translation, filled
from rubric_ci.yaml_text.csv_cases import Broken, rows
from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.problems import Path

NAME: Final = "promptfoo"

_ABOUT: Final = frozenset(("description", "$schema", "tags", "metadata", "outputPath", "sharing"))
_SUITE: Final = frozenset(("prompts", "providers", "targets", "tests", "defaultTest"))
_TEST: Final = frozenset(("description", "vars", "assert", "metadata", "threshold"))
_VARIABLE: Final = re.compile(r"\{\{-?\s*+([A-Za-z_]\w*+)\s*+-?\}\}")
_DOTTED: Final = re.compile(r"\{\{-?\s*+[A-Za-z_]\w*+\.")
_SEPARATOR: Final = re.compile(r"(?m)^---\s*$")
_TEXT_FILES: Final = (".txt", ".md", ".json")


_ALONE: Final = Beside()


class _Prompt(NamedTuple):
    content: str | list[Any]  # a text, or messages
    place: Path


def matches(data: Any) -> bool:
    """Return True for a configuration with tests in it."""
    known = isinstance(data, dict) and ("prompts" in data or "providers" in data)
    return known and "tests" in data


def translate(data: dict[str, Any], beside: Beside = _ALONE) -> Translation:
    """Return the file as ours."""
    found = Translation()
    if isinstance(data.get("description"), str):
        found.put(("description",), data["description"], ("description",))
    found.refuse_keys(data, _SUITE | _ABOUT, ())
    default = data.get("defaultTest") or {}
    if not isinstance(default, dict):
        found.refuse(("defaultTest",), "`defaultTest` in another file is not imported")
        default = {}
    found.refuse_keys(default, _TEST, ("defaultTest",))
    key = "providers" if "providers" in data else "targets"
    _targets(found, data.get(key) or [], (key,), beside.base)
    prompts = list(_prompts(found, data.get("prompts") or ["{{input}}"], beside))
    found.put(("evalcases",), [], ("tests",))
    taken: Counter[str] = Counter()
    for index, (test, place) in enumerate(_tests(found, data["tests"], ("tests",), beside)):
        variants = _variants(found, default, test, place, beside)
        every = [(prompt, values) for prompt in prompts for values in variants]
        for number, (prompt, variables) in enumerate(every):
            name = _name(test, index) + (f"-{number + 1}" if len(every) > 1 else "")
            taken[name] += 1
            unique = name if taken[name] == 1 else f"{name}-{taken[name]}"
            report = found if number == 0 else Translation()  # what lacks is reported once
            report.refuse_keys(test, _TEST, place)
            ours: Path = ("evalcases", len(found.data["evalcases"]))
            found.put(ours, {}, place)
            found.put((*ours, "id"), unique, (*place, "description"))
            _input(found, report, prompt, variables, ours, place)
            written = [*_asserts(default, ("defaultTest",)), *_asserts(test, place)]
            limit = test.get("threshold", default.get("threshold"))
            add_checks(found, report, written, variables, ours, beside.base, limit)
    return found


def _prompts(found: Translation, written: Any, beside: Beside) -> Iterator[_Prompt]:
    """Yield the prompts that are texts or messages; a function has no counterpart."""
    items = written if isinstance(written, list) else [written]
    for index, item in enumerate(items):
        place: Path = ("prompts", index) if isinstance(written, list) else ("prompts",)
        text = item.get("raw", item.get("id")) if isinstance(item, dict) else item
        name = text.removeprefix("file://") if isinstance(text, str) else ""
        if name != text or (name.endswith(_TEXT_FILES) and "\n" not in name):
            text = beside.read(name) if name.endswith(_TEXT_FILES) else None
            parts = _SEPARATOR.split(text) if text and not name.endswith(".json") else [text]
        else:
            parts = [text]
        for part in parts:
            content = _messages(part.strip()) if isinstance(part, str) else None
            if content is None or "{%" in str(content):
                message = "a prompt that is no text or file of text is not imported, nor its cases"
                found.refuse(place, message)
            else:
                yield _Prompt(content, place)


def _messages(text: str) -> str | list[Any] | None:
    """Return a text, or the messages that it is in JSON."""
    if not text.startswith("["):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    roles = isinstance(found, list) and all(isinstance(m, dict) and "role" in m for m in found)
    return found if roles else None


def _tests(
    found: Translation, written: Any, place: Path, beside: Beside
) -> Iterator[tuple[dict[str, Any], Path]]:
    """Yield the tests, those in files included."""
    items = written if isinstance(written, list) else [written]
    for index, item in enumerate(items):
        where: Path = (*place, index) if isinstance(written, list) else place
        if isinstance(item, dict):
            yield item, where
            continue
        rows = _in_file(str(item).removeprefix("file://"), beside)
        if rows is None:
            found.refuse(where, "tests in this file are not imported")
        for row in rows or ():
            if isinstance(row, dict):
                is_test = bool({"vars", "assert"} & row.keys())
                yield row if is_test else test_of_row(found, row, where), where
            else:
                found.refuse(where, "a test in this file is no mapping")


def _in_file(name: str, beside: Beside) -> list[Any] | None:
    """Return the rows of a table, lines or list; None without a counterpart."""
    known = (".csv", ".json", ".jsonl", ".yaml", ".yml")
    text = beside.read(name) if name.endswith(known) else None
    if text is None:
        return None
    try:
        if name.endswith(".csv"):
            header, *cells = [[cell.text for cell in row] for row in rows(text)]
            return [dict(zip(header, row, strict=True)) for row in cells if any(row)]
        if name.endswith(".jsonl"):
            return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (Broken, ValueError):
        return None
    data = Document(name, text).data
    return data if isinstance(data, list) else None


def _name(test: Mapping[str, Any], index: int) -> str:
    """Return an id from the description, else from the position."""
    described = test.get("description")
    words = re.findall(r"\w+", described.lower()) if isinstance(described, str) else []
    return "-".join(words)[:60] or f"test-{index + 1}"


def _variants(
    found: Translation,
    default: Mapping[str, Any],
    test: Mapping[str, Any],
    place: Path,
    beside: Beside,
) -> list[dict[str, Any]]:
    """Return the variables of a test; a list stands for several tests."""
    values = {
        **_vars(found, default, ("defaultTest",), beside),
        **_vars(found, test, place, beside),
    }
    lists = [each if isinstance(each, list) else [each] for each in values.values()]
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*lists)]


def _vars(
    report: Translation, test: Mapping[str, Any], place: Path, beside: Beside
) -> dict[str, Any]:
    written = test.get("vars") or {}
    if not isinstance(written, dict):
        report.refuse((*place, "vars"), "variables in another file are not imported")
        return {}
    values = {str(key): value for key, value in written.items()}
    for key, value in values.items():
        if isinstance(value, str) and value.startswith("file://"):
            name = value.removeprefix("file://")
            text = beside.read(name) if name.endswith((".txt", ".md", ".json")) else None
            if text is None:
                report.refuse((*place, "vars", key), f"`{key}` is a file that is not read")
            values[key] = (text or value).strip()
    return values


def _input(
    found: Translation,
    report: Translation,
    prompt: _Prompt,
    variables: Mapping[str, Any],
    ours: Path,
    place: Path,
) -> None:
    """Add the prompt and the variables that it uses, as texts."""
    content = prompt.content
    if _DOTTED.search(json.dumps(content)):
        content = filled(content, variables)
    if "{{env." in json.dumps(content).replace(" ", ""):
        report.refuse(prompt.place, "variables of the environment are not imported")
    key = "input" if isinstance(content, str) else "input_messages"
    found.put((*ours, key), content, prompt.place)
    used = sorted(set(_VARIABLE.findall(json.dumps(content))))
    if used:
        texts = {name: _text(variables.get(name, "")) for name in used}
        found.put((*ours, "vars"), texts, (*place, "vars"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _asserts(test: Mapping[str, Any], place: Path) -> list[tuple[Any, Path]]:
    written = test.get("assert")
    items = written if isinstance(written, list) else []
    return [(each, (*place, "assert", index)) for index, each in enumerate(items)]


_MODELS: Final = re.compile(r"(openai|anthropic|mistral|groq|openrouter):(?:\w+:)?([\w./-]+)")
_FILES: Final = {"javascript": (".js", ".mjs", ".cjs"), "python": (".py",)}
_PARAMETERS: Final = ("temperature", "max_tokens", "top_p", "seed")


def _targets(found: Translation, written: Any, place: Path, base: str) -> None:
    """Add the targets: models by their names, files and commands as commands."""
    items = written if isinstance(written, list) else [written]
    for index, item in enumerate(items):
        where: Path = (*place, index) if isinstance(written, list) else place
        options = item if isinstance(item, dict) else {"id": item}
        target = _target(str(options.get("id", "")), base, found)
        if target is None:
            message = "this provider has no counterpart; define a target of the name `default`"
            found.refuse(where, message)
            continue
        found.refuse_keys(options, ("id", "label", "config"), where)
        config = options.get("config") or {}
        found.refuse_keys(config, _PARAMETERS if "model" in target else (), (*where, "config"))
        kept = {key: config[key] for key in _PARAMETERS if key in config and "model" in target}
        label = str(options.get("label") or options["id"])
        found.targets.append({"name": label, **target, **kept})
    names = [target["name"] for target in found.targets]
    if len(names) > 1:
        found.put(("targets",), names, place)
    elif names:
        found.put(("target",), names[0], place)


def _target(name: str, base: str, found: Translation) -> dict[str, Any] | None:
    """Return the settings of a provider; None without a counterpart."""
    if model := _MODELS.fullmatch(name):
        return {"model": f"{model[1]}/{model[2]}"}
    if name.startswith("exec:"):
        return _command(name.removeprefix("exec:").strip())
    file = re.sub(r"^(?:file://|python:)", "", name)
    for language, ends in _FILES.items():
        if file != name and file.partition(":")[0].endswith(ends):
            found.shims.add(SHIMS[language])
            argv = (COMMANDS[language], SHIMS[language], join(base, file))
            return _command(" ".join(map(shlex.quote, argv)))
    return None


def _command(command: str) -> dict[str, Any]:
    return {"provider": "cli", "command_template": f"{command} {{PROMPT}}", "cwd": "."}
