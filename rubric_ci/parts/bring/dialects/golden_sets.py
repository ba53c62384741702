"""Golden sets of any tool, for `import`: a case a row of a table or a record of JSON.

Columns and keys have their meaning by the usual names; all others are metadata.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final

from rubric_ci.files.yaml_text.csv_cases import USUAL, spelt, usual_names
from rubric_ci.parts.bring.dialects.message_parts import NoPart, is_message, our_message
from rubric_ci.parts.bring.dialects.promptfoo_assert import add_checks
from rubric_ci.parts.bring.dialects.promptfoo_code import Setting
from rubric_ci.parts.bring.dialects.promptfoo_tests import test_of_row
from rubric_ci.parts.bring.other_tools import ABOUT, has_question, list_of
from rubric_ci.parts.bring.translation import Beside, Placed, Translation
from rubric_ci.text.numbers import listed
from rubric_ci.text.suggestions import slip
from rubric_ci.values.problems import Path
from rubric_ci.values.walk import text_or_json

_DECIDING: Final = (
    *("choices", "options", "files", "setup", "sandbox", "turns", "assertions", "evaluators"),
)
_CHECKS: Final = {
    key: check
    for keys, check in (
        (("must_contain", "must_include", "required_phrases"), "contains_all: […]"),
        (("contains", "contains_all", "includes"), "contains_all: […]"),
        (("forbidden", "must_not_contain", "must_not_include"), "contains_any: […], not: true"),
        (("forbidden_phrases", "not_contains", "excludes"), "contains_any: […], not: true"),
        (("contains_any",), "contains_any: […]"),
        (("regex", "matches"), "matches: …"),
    )
    for key in keys
}
"""Keys of home-made sets whose values an answer is checked by, and the checks that they mean."""
_ROLES: Final = {"human": "user", "ai": "assistant", "developer": "system"}
_MESSAGES: Final = {"input": "input_messages", "expected_output": "expected_messages"}


def translate_json(data: Any, beside: Beside) -> Translation:
    place = list_of(data) or ()
    found = translate(data[place[0]] if place else data, beside, place)
    if isinstance(data, dict):
        found.refuse_keys(data, (*map(str, place), *ABOUT), ())
        if isinstance(data.get("name"), str):
            found.put(("dataset",), data["name"], ("name",))
    return found


def translate_table(rows: Sequence[Mapping[str, str]], beside: Beside, asked: str) -> Translation:
    """Return the rows of a table as cases; the column `asked` is the question, if it is named."""
    columns = list(rows[0]) if rows else []
    if columns and not asked and not has_question(columns):
        found = Translation()
        found.put(("evalcases",), [], ())
        names = listed([f"`{each}`" for each in columns if each])
        hint = f"rename the right one of {names} to `input`"
        found.refuse((), f"no column is known as the question; {hint}")
        return found
    return translate(rows, beside, question=asked)


def translate(
    rows: Sequence[Mapping[str, Any]], beside: Beside, place: Path = (), question: str = ""
) -> Translation:
    """Return the rows as cases; `place` is the path of their list."""
    found = Translation(beside=Beside(base=beside.base))  # cells name no files that are read
    found.put(("evalcases",), [], place)
    usual = {**USUAL, "input": (*USUAL["input"], *([spelt(question)] if question else ()))}
    for index, row in enumerate(rows):
        _case(found, row, index, place, usual)
    found.keep_braces()
    return found


def _case(
    found: Translation,
    row: Mapping[str, Any],
    index: int,
    place: Path,
    usual: Mapping[str, Sequence[str]],
) -> None:
    where: Path = (*place, index)
    names = {ours: _named(row, theirs) for ours, theirs in usual.items()}
    if not names["input"]:
        found.refuse(where, f"the row has no text in {', '.join(USUAL['input'])}")
        return
    ours: Path = ("evalcases", len(found.data["evalcases"]))
    found.put(ours, {"id": f"row-{index + 1}"}, where)
    for key in ("id", "input", "expected_outcome", "expected_output"):
        if (name := names[key]) and not _refuse_checks(found, row[name], (*where, name)):
            _put(found, (*ours, key), row[name], (*where, name))
    if tags := _listed(row.get(names["tags"]), between=","):
        found.put((*ours, "tags"), tags, (*where, names["tags"]))
    meant = {*chain(*usual.values())}  # such a cell says nothing if it is empty
    rest = {
        key: value
        for key, value in row.items()
        if key not in names.values() and (_is_filled(value) or spelt(key) not in meant)
    }
    _refuse(found, rest, names, where)
    others = {
        key: text_or_json(each) if key.startswith("__") else each for key, each in rest.items()
    }
    test = test_of_row(found, others, where)
    if test["vars"]:
        found.put((*ours, "metadata"), test["vars"], where)
    lines = _listed(row.get(names["rubrics"]), between="\n")
    checks: list[Any] = [{"type": "llm-rubric", "value": line} for line in lines]
    placed: list[Placed] = [(each, where) for each in (*checks, *test["assert"])]
    add_checks(found, placed, ours, Setting(dict(row)))


def _named(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the key with the first of the usual names that has a value in this row."""
    filled = {spelt(key): key for key, value in row.items() if _is_filled(value)}
    return next((filled[name] for name in names if name in filled), "")


def _refuse(
    found: Translation, rest: Mapping[str, Any], names: Mapping[str, str], where: Path
) -> None:
    """Report keys that decide about answers, and the misspelt name of a missing meaning."""
    free = usual_names({ours for ours, name in names.items() if name})
    for key, value in rest.items():
        if not _is_filled(value):
            continue
        if spelt(key) in _DECIDING:
            found.refuse((*where, key), f"`{key}` has no counterpart")
        elif not _refuse_checks(found, {key: value}, where) and (meant := slip(spelt(key), free)):
            found.refuse((*where, key), f"`{key}` has no counterpart, `{meant}` has one")


def _refuse_checks(found: Translation, value: Any, where: Path) -> bool:
    """Report the checks of a mapping; return True if it has one."""
    checks = [key for key in value if spelt(str(key)) in _CHECKS] if isinstance(value, dict) else []
    for key in checks:
        hint = f"write `rubrics: [{{{_CHECKS[spelt(str(key))]}}}]`"
        found.refuse((*where, key), f"`{key}` is not imported as a check; {hint}")
    return bool(checks)


def _put(found: Translation, ours: Path, value: Any, theirs: Path) -> None:
    """Add a text, or messages; a mapping with one value stands for the value."""
    while isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    key = str(ours[-1])
    try:
        messages = _messages(value, found.images) if key in _MESSAGES else []
    except NoPart as error:
        found.refuse(theirs, f"a message of it: {error}")
        return
    if messages:
        found.put((*ours[:-1], _MESSAGES[key]), messages, theirs)
        return
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        value = "\nor\n".join(value) if key == "expected_output" else "\n".join(value)
    found.put(ours, text_or_json(value).strip(), theirs)


def _messages(value: Any, images: dict[str, bytes]) -> list[dict[str, Any]]:
    """Return chat messages; empty if the value has none, or has calls. Raises NoPart."""
    found = []
    for each in value if isinstance(value, list) else ():
        role = each.get("role", each.get("type")) if isinstance(each, dict) else None
        is_chat = isinstance(role, str) and is_message({**each, "role": role})
        if not is_chat or each.get("tool_calls"):
            return []
        found.append(our_message({**each, "role": _ROLES.get(str(role), role)}, images))
    return found


def _is_filled(value: Any) -> bool:
    return value not in (None, [], {}) and bool(text_or_json(value).strip())


def _listed(value: Any, between: str) -> list[str]:
    """Return the texts of a list, or of a text with separators."""
    if isinstance(value, list):
        return [text_or_json(each).strip() for each in value]
    text = text_or_json(value) if _is_filled(value) else ""
    if between == ",":
        return text.replace(",", " ").split()
    return [line.strip() for line in text.splitlines() if line.strip()]
