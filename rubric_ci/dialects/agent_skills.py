"""Agent Skills' `evals/evals.json`: prompts with expectations, beside `SKILL.md`.

`expectations` is skill-creator's name, `assertions` that of agentskills.io; both are criteria. A
case without any is graded by `expected_output`, which describes success.
"""

from typing import Any, Final

from rubric_ci.dialects.translation import Translation
from rubric_ci.yaml_text.problems import Path

NAME: Final = "Agent Skills"
CASES: Final = "evals"

_LISTS: Final = ("evals", "cases", "test_cases")
_CRITERIA: Final = ("expectations", "assertions", "expected_behavior")
_PROMPTS: Final = ("prompt", "query")
_TEXTS: Final = ("description", "text", "check", "assertion", "expectation")
_ABOUT: Final = frozenset(
    (
        *("name", "title", "description", "category", "difficulty", "notes", "note", "intent"),
        *("kind", "version", "type", "priority", "source", "metadata", "command", "role"),
        *("standard", "method", "execution_notes", "description_version", "_readme"),
    )
)
"""Keys that only describe a case or a file: they grade nothing."""
_OF_CASE: Final = frozenset(
    ("id", *_PROMPTS, "expected_output", "files", "tags", *_CRITERIA),
)


def matches(data: Any) -> bool:
    """Return True if a file holds prompts as Agent Skills does."""
    if isinstance(data, list):
        return bool(data) and all(isinstance(c, dict) and _OF_A_LIST & c.keys() for c in data)
    name = _list_of(data)
    cases = data.get(name) if name else None
    return isinstance(cases, list) and any(
        isinstance(case, dict) and case.keys() & {*_PROMPTS} for case in cases
    )


_OF_A_LIST: Final = frozenset(_CRITERIA)


def _list_of(data: Any) -> str:
    if not isinstance(data, dict) or "evalcases" in data:
        return ""
    known = next((name for name in _LISTS if name in data), "")
    return known if known == "evals" or data.keys() & {"skill_name", "skill"} else ""


def edited(data: Any) -> tuple[str, str]:
    """Return the keys of the cases and of the criteria to add; of a bare list none."""
    name = _list_of(data)
    cases = data[name] if name else []
    used = (key for case in cases if isinstance(case, dict) for key in _CRITERIA if key in case)
    return name, next(used, _CRITERIA[0])


def drafted(rubrics: Any, _: str) -> list[str]:
    """Return drafted criteria as the texts that they are there."""
    return [each["expected_outcome"] for each in rubrics]


def translate(data: Any) -> Translation:
    """Return the file as ours."""
    found = Translation()
    if isinstance(data, list):
        _cases(found, data, ())
        return found
    name = _list_of(data)
    if isinstance(data.get("skill_name"), str):
        found.put(("dataset",), data["skill_name"], ("skill_name",))
    if isinstance(data.get("description"), str):
        found.put(("description",), data["description"], ("description",))
    found.refuse_keys(data, (name, "skill_name", "skill", *_ABOUT), ())
    _cases(found, data[name], (name,))
    return found


def _cases(found: Translation, cases: list[Any], place: Path) -> None:
    found.put(("evalcases",), [], place)
    for index, case in enumerate(cases):
        _case(found, case, index, (*place, index))


def _case(found: Translation, case: Any, index: int, theirs: Path) -> None:
    ours: Path = ("evalcases", index)
    if not isinstance(case, dict):
        found.put(ours, case, theirs)
        return
    found.put(ours, {}, theirs)
    found.put((*ours, "id"), _id(case.get("id"), index), (*theirs, "id"))
    _input(found, case, ours, theirs)
    if "expected_output" in case:
        outcome = case["expected_output"]
        found.put((*ours, "expected_outcome"), outcome, (*theirs, "expected_output"))
    if "tags" in case:
        found.put((*ours, "tags"), case["tags"], (*theirs, "tags"))
    found.refuse_keys(case, _OF_CASE | _ABOUT, theirs)
    _rubrics(found, case, ours, theirs)


def _id(written: Any, index: int) -> Any:
    """Return the id as a text: a number is one there."""
    if isinstance(written, int) and not isinstance(written, bool):
        return str(written)
    return str(index + 1) if written is None else written


def _input(found: Translation, case: dict[str, Any], ours: Path, theirs: Path) -> None:
    """Add the prompt; files count from the skill's folder, which is above `evals`."""
    files = case.get("files") or []
    key = next((name for name in _PROMPTS if name in case), _PROMPTS[0])
    prompt, place = case.get(key), (*theirs, key)
    if not files or not isinstance(files, list):
        found.put((*ours, "input"), prompt, place)
        return
    message = (*ours, "input_messages")
    found.put(message, [], place)
    found.put((*message, 0), {"role": "user"}, place)
    content = (*message, 0, "content")
    found.put(content, [], place)
    found.put((*content, 0), {"type": "text"}, place)
    found.put((*content, 0, "value"), prompt, place)
    for index, file in enumerate(files):
        path = file.get("path") if isinstance(file, dict) else file
        part = (*content, index + 1)
        found.put(part, {"type": "file"}, (*theirs, "files", index))
        found.put((*part, "value"), path, (*theirs, "files", index))


def _rubrics(found: Translation, case: dict[str, Any], ours: Path, theirs: Path) -> None:
    names = [name for name in _CRITERIA if case.get(name)]
    place = (*ours, "rubrics")
    if not names:
        if case.get("expected_output"):
            found.put(place, [], (*theirs, "expected_output"))
            found.put((*place, 0), case["expected_output"], (*theirs, "expected_output"))
        return
    found.put(place, [], (*theirs, names[0]))
    every = [(name, index, each) for name in names for index, each in enumerate(_items(case, name))]
    for number, (name, index, each) in enumerate(every):
        _criterion(found, each, (*place, number), (*theirs, name, index))


def _items(case: dict[str, Any], name: str) -> list[Any]:
    written = case[name]
    return written if isinstance(written, list) else [written]


def _criterion(found: Translation, written: Any, ours: Path, theirs: Path) -> None:
    """Add a text, or an object by its text; its name is no id, as names repeat."""
    if not isinstance(written, dict):
        found.put(ours, written, theirs)
        return
    key = next((key for key in _TEXTS if isinstance(written.get(key), str)), "")
    if not key:
        found.refuse(theirs, f"no text of the assertion: none of {', '.join(_TEXTS)}")
        return
    found.refuse_keys(written, (key, "name", "id", "category", "rationale", "weight"), theirs)
    found.put(ours, {"expected_outcome": written[key]}, theirs)
    found.paths[*ours, "expected_outcome"] = (*theirs, key)
    if "weight" in written:
        found.put((*ours, "weight"), written["weight"], (*theirs, "weight"))
