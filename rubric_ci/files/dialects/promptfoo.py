"""promptfoo's configurations, for `import`: a case per test and prompt, assertions as criteria.

They are not read in place: real ones run code. `promptfoo_tests.py` has the tests,
`promptfoo_checks.py` the assertions, `promptfoo_code.py` what the shims run.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final, NamedTuple

from rubric_ci.files.dialects.promptfoo_checks import add_checks
from rubric_ci.files.dialects.promptfoo_code import TEMPLATE, Setting, add_targets, transform_of
from rubric_ci.files.dialects.promptfoo_tests import tests_of
from rubric_ci.files.dialects.translation import Beside, Translation, filled
from rubric_ci.files.yaml_text.problems import Path

NAME: Final = "promptfoo"

_ABOUT: Final = frozenset(("description", "$schema", "tags", "metadata", "outputPath", "sharing"))
_SUITE: Final = frozenset(("prompts", "providers", "targets", "tests", "defaultTest", "scenarios"))
_VARIABLE: Final = re.compile(r"\{\{-?\s*+([A-Za-z_]\w*+)\s*+-?\}\}")
_DOTTED: Final = re.compile(r"\{\{-?\s*+[A-Za-z_]\w*+\.")
_SEPARATOR: Final = re.compile(r"(?m)^---\s*$")
_TEXT_FILES: Final = (".txt", ".md", ".json")


_ALONE: Final = Beside()


class _Prompt(NamedTuple):
    content: str | list[Any]  # a text, or messages
    place: Path


def matches(data: Any) -> bool:
    """Return True for a configuration with tests or scenarios in it."""
    known = isinstance(data, dict) and ("prompts" in data or "providers" in data)
    return known and ("tests" in data or "scenarios" in data)


def translate(data: dict[str, Any], beside: Beside = _ALONE) -> Translation:
    """Return the file as ours."""
    found = Translation()
    if isinstance(data.get("description"), str):
        found.put(("description",), data["description"], ("description",))
    found.refuse_keys(data, _SUITE | _ABOUT, ())
    transforms = add_targets(found, data, beside.base)
    prompts = list(_prompts(found, data.get("prompts") or ["{{input}}"], beside))
    found.put(("evalcases",), [], ("tests",))
    taken: Counter[str] = Counter()
    for test in tests_of(found, data, beside):
        own = transform_of(found, *test.transform, beside.base)
        every = list(product(prompts, test.variants))
        for number, (prompt, variables) in enumerate(every):
            if _refuses_nested(found, variables, test.place):
                continue
            name = test.name + (f"-{number + 1}" if len(every) > 1 else "")
            taken[name] += 1
            unique = name if taken[name] == 1 else f"{name}-{taken[name]}"
            ours: Path = ("evalcases", len(found.data["evalcases"]))
            found.put(ours, {}, test.place)
            found.put((*ours, "id"), unique, (*test.place, "description"))
            _input(found, prompt, variables, ours, test.place)
            setting = Setting(variables, beside.base, test.threshold, (*transforms, *own))
            add_checks(found, test.assertions, ours, setting)
    return found


def _refuses_nested(found: Translation, variables: Mapping[str, Any], place: Path) -> bool:
    """Report variables with templates in their values, which promptfoo replaces."""
    names = [name for name, each in variables.items() if TEMPLATE.search(_text(each))]
    for name in names:
        message = f"the variable `{name}` has a template in its value: the case is not imported"
        found.refuse((*place, "vars", name), message)
    return bool(names)


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


def _input(
    found: Translation,
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
        found.refuse(prompt.place, "variables of the environment are not imported")
    key = "input" if isinstance(content, str) else "input_messages"
    found.put((*ours, key), content, prompt.place)
    used = sorted(set(_VARIABLE.findall(json.dumps(content))))
    if used:
        texts = {name: _text(variables.get(name, "")) for name in used}
        found.put((*ours, "vars"), texts, (*place, "vars"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
