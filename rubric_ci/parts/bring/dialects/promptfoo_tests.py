"""promptfoo's tests: lists, files and tables, each merged with `defaultTest`."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.files.yaml_text.csv_cases import Broken, header_and_rows, rows
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.parts.bring.dialects.message_parts import FILE, is_image_name
from rubric_ci.parts.bring.dialects.promptfoo_assert import KINDS
from rubric_ci.parts.bring.translation import Placed, Translation, placed
from rubric_ci.values.json_value import is_number
from rubric_ci.values.problems import Path

_KEYS: Final = ("description", "vars", "assert", "metadata", "threshold", "options", "provider")
_DECIDING: Final = ("assertScoringFunction", "providerOutput", "repeat", "prompts", "providers")
_OPTIONS: Final = (
    *("transform", "postprocess", "disableDefaultAsserts", "provider"),
    *("disableVarExpansion", "cache", "runSerially", "timeout", "disableConversationVar"),
)

_Part: TypeAlias = tuple[dict[str, Any], Path]


class Test(NamedTuple):
    """A test as promptfoo runs it, with the parts of `defaultTest`."""

    name: str
    place: Path
    variants: list[dict[str, Any]]  # of its variables: a list in them stands for several tests
    assertions: list[Placed]
    threshold: float | None
    transform: Placed  # None: without one
    judge: Placed  # None: the judge of the run
    provider: Placed  # in place of all providers; None: all of them


def tests_of(found: Translation, data: Mapping[str, Any]) -> Iterator[Test]:
    default = data.get("defaultTest") or {}
    if isinstance(default, str):
        default = _data(found, default.removeprefix("file://"))
    message = "`defaultTest` is in a file that is not read"
    default = found.mapping([] if default is None else default, ("defaultTest",), message)
    written = data.get("tests") or ([] if data.get("scenarios") else [{}])
    for index, test in enumerate(_listed(found, written, ("tests",))):
        yield _merged(found, (default, ("defaultTest",)), test, index)


def _listed(found: Translation, written: Any, place: Path) -> Iterator[_Part]:
    """Yield the tests of a list, those in files included."""
    for item, where in placed(written, place, alone=True):
        if isinstance(item, dict):
            yield item, where
            continue
        names = found.beside.matching(str(item).removeprefix("file://"))
        listed = [_in_file(found, name, where) for name in names]
        if None in listed or not listed:
            found.refuse(where, "tests in this file are not imported")
        rows = [row for each in listed for row in each or ()]
        for row in rows:
            if isinstance(row, dict):
                is_test = bool({"vars", "assert"} & row.keys())
                yield row if is_test else test_of_row(found, row, where), where
            else:
                found.refuse(where, "a test in this file is not a mapping")


def _in_file(found: Translation, name: str, place: Path) -> list[Any] | None:
    """Return the rows of a table, lines or list; None without a counterpart."""
    known = (".csv", ".json", ".jsonl", ".yaml", ".yml")
    text = found.beside.read(name) if name.endswith(known) else None
    if text is None:
        return None
    try:
        if name.endswith(".csv"):
            read = header_and_rows(rows(text))
            return None if read.problems else list(read.texts)
        if name.endswith(".jsonl"):
            return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (Broken, ValueError):
        return None
    document = Document(name, text, core=True)
    if any(is_value(path) for path in document.ambiguous_paths("date")):
        found.refuse(place, f"`{name}`: {DATE}")
    data = document.data
    return data if isinstance(data, list) else [data] if isinstance(data, dict) else None


DATE: Final = "promptfoo does not read a date without quotes as text"


def is_value(path: Path) -> bool:
    return bool({"vars", "assert"} & {*path})


def _data(found: Translation, name: str) -> Any:
    """Return the data of a file of YAML or JSON; None: it is not read."""
    text = found.beside.read(name) if name.endswith((".yaml", ".yml", ".json")) else None
    return None if text is None else Document(name, text, core=True).data


def _merged(found: Translation, default: _Part, own: _Part, index: int) -> Test:
    """Return a test with its defaults: assertions add up, of everything else its own wins."""
    options: dict[str, Placed] = {}
    values: dict[str, Any] = {}
    threshold = None
    provider: Placed = (None, ())
    for test, place in (default, own):
        _other_keys(found, test, place)
        options |= _options(found, test, place)
        values |= _vars(found, test, place)
        threshold = _number(found, test, (*place, "threshold"), threshold)
        if test.get("provider") is not None:
            provider = test["provider"], (*place, "provider")
    without = options.get("disableDefaultAsserts", (False, ()))[0] is True
    asserting = [own] if without else [default, own]
    single = options.get("disableVarExpansion", (False, ()))[0]
    # A list of texts stands for several tests.
    lists = [
        each
        if isinstance(each, list) and each and isinstance(each[0], str) and not single
        else [each]
        for each in values.values()
    ]
    written = (options[key] for key in ("transform", "postprocess") if options.get(key, ("",))[0])
    return Test(
        name=_name(own[0].get("description"), index),
        place=own[1],
        variants=[dict(zip(values, chosen, strict=True)) for chosen in product(*lists)],
        assertions=[each for part in asserting for each in _asserts(found, *part)],
        threshold=threshold,
        transform=next(written, (None, ())),
        judge=options.get("provider", (None, ())),
        provider=provider,
    )


def _other_keys(found: Translation, test: Mapping[str, Any], place: Path) -> None:
    """Report keys that decide about answers or verdicts, and keys that promptfoo ignores."""
    for key in test:
        if key in _DECIDING:
            found.refuse((*place, key), f"`{key}` of a test has no counterpart")
        elif key not in _KEYS and not str(key).startswith("x-"):
            found.skip((*place, key), f"`{key}` is not a key of a test: promptfoo ignores it")


def _options(found: Translation, test: Mapping[str, Any], place: Path) -> dict[str, Placed]:
    written = test.get("options") or {}
    options = found.mapping(written, (*place, "options"), "`options` is a mapping")
    found.refuse_keys(options, (*_OPTIONS, "threshold"), (*place, "options"))
    if "threshold" in options:
        message = "promptfoo ignores `threshold` in `options`: it is a key of the test"
        found.skip((*place, "options", "threshold"), message)
    return {str(key): (value, (*place, "options", key)) for key, value in options.items()}


def _number(
    found: Translation, test: Mapping[str, Any], place: Path, otherwise: float | None
) -> float | None:
    value = test.get("threshold")
    if is_number(value):
        return value
    if value is not None:
        found.refuse(place, "a threshold is a number")
    return otherwise


def _name(described: Any, index: int) -> str:
    """Return an id from the description, else from the position."""
    words = re.findall(r"\w+", described.lower()) if isinstance(described, str) else []
    return "-".join(words)[:60] or f"test-{index + 1}"


def _vars(found: Translation, test: Mapping[str, Any], place: Path) -> dict[str, Any]:
    message = "variables in another file are not imported"
    written = found.mapping(test.get("vars") or {}, (*place, "vars"), message)
    values = {str(key): value for key, value in written.items()}
    for key, value in values.items():
        if isinstance(value, str) and value.startswith("file://"):
            values[key] = _file_value(found, value, (*place, "vars", key))
    return values


def _file_value(found: Translation, value: str, place: Path) -> Any:
    """Return the texts of the files that a variable names; data is its JSON, an image its name."""
    texts = []
    for name in found.beside.matching(value.removeprefix("file://")):
        if is_image_name(f"{FILE}{name}"):
            texts.append(f"{FILE}{name}")
            continue
        if name.endswith((".yaml", ".yml")):
            data = _data(found, name)
            text = None if data is None else json.dumps(data, ensure_ascii=False, separators=_SHORT)
        else:
            text = None if name.endswith(_NOT_TEXT) else found.beside.read(name)
        if text is None:
            found.refuse(place, f"`{place[-1]}` is a file that is not read")
            return value
        texts.append(text.strip())
    return texts if len(texts) != 1 else texts[0]


_SHORT: Final = (",", ":")
_NOT_TEXT: Final = (
    *(".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".py", ".pdf"),
    *(".mp3", ".wav", ".mp4", ".webm", ".mov"),
)
"""The ends of names whose files promptfoo runs, or reads as something else than a text."""


def _asserts(found: Translation, test: Mapping[str, Any], place: Path) -> list[Placed]:
    written = test.get("assert")
    if written is not None and not isinstance(written, list):
        found.refuse((*place, "assert"), "assertions in another file are not imported")
    return placed(written, (*place, "assert"))


_COLUMN: Final = re.compile(r"(not-)?([a-z][a-z-]*)(?:\((\d+(?:\.\d+)?)\))?(?::(.*))?", re.DOTALL)
_SHORT_KINDS: Final = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}


def test_of_row(found: Translation, row: Mapping[str, str], place: Path) -> dict[str, Any]:
    """Return a row of a table as a test: columns that start with `__` have a meaning."""
    test: dict[str, Any] = {"vars": {}, "assert": []}
    for column, text in row.items():
        if not column.startswith("__"):
            test["vars"][column] = text
        elif re.fullmatch(r"__expected\d*", column):
            test["assert"] += [_expected(text.strip())] if text.strip() else []
        elif column == "__description":
            test["description"] = text
        elif text.strip() and not column.startswith("__metadata"):
            found.refuse(place, f"the column `{column}` has no counterpart")
    return test


def _expected(text: str) -> dict[str, Any]:
    """Return the assertion that a cell writes as `type(0.8):value`; equality without a type."""
    if text.startswith("file://"):
        return {"type": "python" if ".py" in text else "javascript", "value": text}
    written = _COLUMN.fullmatch(text)
    plain = _SHORT_KINDS.get(written[2], written[2]) if written else ""
    if written is None or plain not in KINDS:
        return {"type": "equals", "value": text}
    limit = {"threshold": float(written[3])} if written[3] else {}
    value = {} if written[4] is None else {"value": written[4].strip()}
    return {"type": f"{written[1] or ''}{plain}", **value, **limit}
