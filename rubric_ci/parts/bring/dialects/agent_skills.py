"""Agent Skills' `evals/evals.json`: prompts with expectations, next to `SKILL.md`.

`expectations` is skill-creator's name, `assertions` agentskills.io's; both are criteria. A
case without any is graded by `expected_output`, which describes success. `should_trigger` says
whether the skill is used; lists of queries with it (`trigger-eval.json`) do not name their skill.
"""

import re
from typing import Any, Final

from rubric_ci.parts.bring.translation import ALONE, Beside, Translation, placed
from rubric_ci.text.numbers import listed
from rubric_ci.values.problems import Path
from rubric_ci.values.references import Found, NotFound

NAME: Final = "Agent Skills"
CASES: Final = "evals"

_LISTS: Final = ("evals", "cases", "test_cases", "queries")
_CRITERIA: Final = ("expectations", "assertions", "expected_behavior", "checks")
_PROMPTS: Final = ("prompt", "query", "input")
_TEXTS: Final = ("description", "text", "check", "assertion", "expectation")
_ABOUT: Final = frozenset(
    (
        *("name", "title", "description", "category", "difficulty", "notes", "note", "intent"),
        *("kind", "version", "type", "priority", "source", "metadata", "command", "role"),
        *("standard", "method", "execution_notes", "description_version", "_readme", "slug"),
        *("eval_name", "group", "scenario", "tier", "area", "topic", "label", "labels", "author"),
        *("comment", "comments", "created", "updated", "date", "$schema", "schema_version"),
        *("language", "level", "rationale", "benchmark_summary", "benchmark_history"),
        *("results_layout", "timeout", "timeout_seconds"),
    )
)
"""Keys that only describe a case, a file or a runner of it: no reader grades by them."""
_OF_CASE: Final = frozenset(
    (
        *("id", "expected_output", "files", "tags", "should_trigger", "negative_expectations"),
        *(*_PROMPTS, *_CRITERIA),
    )
)


def matches(data: Any) -> bool:
    if isinstance(data, list):
        known = [
            c for c in data if isinstance(c, dict) and (_OF_A_LIST & c.keys() or c.keys() >= _BOTH)
        ]
        return bool(data) and known == data
    name = _list_of(data)
    cases = data.get(name) if name else None
    return isinstance(cases, list) and any(
        isinstance(case, dict) and case.keys() & {*_PROMPTS} for case in cases
    )


_OF_A_LIST: Final = frozenset((*_CRITERIA, "should_trigger"))
_BOTH: Final = frozenset(("prompt", "expected_output"))
_GRADED: Final = frozenset((*_CRITERIA, "expected_output"))


def _list_of(data: Any) -> str:
    """Return the key of the cases; one that others use too needs the name of a skill or a case."""
    if not isinstance(data, dict) or "evalcases" in data:
        return ""
    known = next((name for name in _LISTS if name in data), "")
    if known in {"", "evals"} or data.keys() & {"skill_name", "skill"}:
        return known
    cases = data[known] if isinstance(data[known], list) else []
    alike = all(isinstance(c, dict) and "prompt" in c and c.keys() & _GRADED for c in cases)
    return known if cases and alike else ""


def edited(data: Any) -> tuple[str, str]:
    """Return the keys of the cases and of the criteria to add; of a bare list none."""
    name = _list_of(data)
    cases = data[name] if name else []
    used = (key for case in cases if isinstance(case, dict) for key in _CRITERIA if key in case)
    return name, next(used, _CRITERIA[0])


def drafted(rubrics: Any, _: str) -> list[str]:
    """Return the texts of criteria; raises ValueError for one that is no text."""
    texts = [each if isinstance(each, str) else each.get("expected_outcome") for each in rubrics]
    if None in texts:
        raise ValueError("a file of Agent Skills has texts only; write the criterion as a text")
    return texts


MAX_FILES: Final = 100
MAX_CHARACTERS: Final = 1_000_000
"""Of one folder that a case names: more is not a message."""


def translate(data: Any, beside: Beside = ALONE) -> Translation:
    found = Translation(beside=beside)
    suite: dict[str, Any] = {} if isinstance(data, list) else data
    name = _list_of(suite)
    texts = {key: each for key, each in suite.items() if isinstance(each, str)}
    found.copy(texts, {"skill_name": "dataset", "description": "description"}, (), ())
    found.refuse_keys(suite, (name, "skill_name", "skill", *_ABOUT), ())
    cases, place = (suite[name], (name,)) if suite else (data, ())
    _cases(found, cases, place)
    _triggers(found, cases, place, suite.get("skill_name", suite.get("skill")))
    found.keep_braces()
    return found


_NAME: Final = re.compile(r"^name:[ \t]*[\"']?([A-Za-z0-9._:-]+)", re.MULTILINE)


def _triggers(found: Translation, cases: list[Any], place: Path, skill: Any) -> None:
    """Add to cases with `should_trigger` that the skill is used, or that it is not."""
    of_list = [case for case in cases if isinstance(case, dict) and "should_trigger" in case]
    if of_list and not skill:  # the nearest skill above the file
        front = (found.beside.read("SKILL.md") or "").removeprefix("---").partition("\n---")[0]
        named = _NAME.search(front)
        skill = named[1] if named else None
    for index, case in enumerate(cases):
        if not isinstance(case, dict) or "should_trigger" not in case:
            continue
        where = (*place, index, "should_trigger")
        if not isinstance(case["should_trigger"], bool):
            found.refuse(where, "`should_trigger` is neither `true` nor `false`")
        elif not isinstance(skill, str) or not skill:
            message = "`should_trigger` needs `skill_name`, or a `SKILL.md` with a `name` above"
            found.refuse(where, message)
            break  # so do the others
        else:
            rubrics = ("evalcases", index, "rubrics")
            criteria = found.data["evalcases"][index].setdefault("rubrics", [])
            check = {"skill_used": skill, **({} if case["should_trigger"] else {"not": True})}
            found.paths.setdefault(rubrics, where)
            found.put((*rubrics, len(criteria)), check, where)


def _cases(found: Translation, cases: list[Any], place: Path) -> None:
    found.put(("evalcases",), [], place)
    for index, case in enumerate(cases):
        _case(found, case, index, (*place, index))
    about = {
        key: (*place, index, key)
        for index, case in enumerate(cases)
        for key in (case if isinstance(case, dict) else ())
        if key in _ABOUT
    }
    if about:
        names = listed([f"`{key}`" for key in about])
        message = f"{names} of the cases: kept as metadata, and not graded"
        found.describe(next(iter(about.values())), message)


def _case(found: Translation, case: Any, index: int, theirs: Path) -> None:
    ours: Path = ("evalcases", index)
    if not isinstance(case, dict):
        found.put(ours, case, theirs)
        return
    found.put(ours, {}, theirs)
    name = index + 1 if case.get("id") is None else case["id"]  # a number is a text here
    is_whole = isinstance(name, int) and not isinstance(name, bool)
    found.put((*ours, "id"), str(name) if is_whole else name, (*theirs, "id"))
    _input(found, case, ours, theirs)
    found.copy(case, {"expected_output": "expected_outcome", "tags": "tags"}, ours, theirs)
    if about := {key: case[key] for key in case if key in _ABOUT}:
        found.put((*ours, "metadata"), about, theirs)
    found.refuse_keys(case, _OF_CASE | _ABOUT, theirs)
    _rubrics(found, case, ours, theirs)


def _input(found: Translation, case: dict[str, Any], ours: Path, theirs: Path) -> None:
    files = case.get("files") or []
    key = next((name for name in _PROMPTS if name in case), _PROMPTS[0])
    prompt, place = case.get(key), (*theirs, key)
    if not files or not isinstance(files, list):
        found.put((*ours, "input"), prompt, place)
        return
    found.put_list((*ours, "input_messages"), [({"role": "user"}, place)], place)
    parts = [({"type": "text", "value": prompt}, place)]
    for index, file in enumerate(files):
        path = file.get("path") if isinstance(file, dict) else file
        where = (*theirs, "files", index)
        beside = found.beside
        if isinstance(path, str) and beside.is_missing(path) and not beside.below(path):
            found.stop(ours, where, f"`{path}`: no such file")
        else:
            parts += [(part, where) for part in _parts(found, path, where)]
    content = (*ours, "input_messages", 0, "content")
    found.put_list(content, parts, place)
    found.paths |= {(*content, at, "value"): where for at, (_, where) in enumerate(parts)}


def _parts(found: Translation, path: Any, where: Path) -> list[dict[str, Any]]:
    """Return a file as a part; of a folder each file below it, under its name."""
    files = found.beside.below(path) if isinstance(path, str) else ()
    if not files:
        return [{"type": "file", "value": path}]
    for unread in (each for each in files if isinstance(each, NotFound)):
        found.refuse(where, f"a file in the folder `{path}` {unread.reason}")
    texts = [each for each in files if isinstance(each, Found)]
    size = sum(len(each.text) for each in texts)
    if len(texts) > MAX_FILES or size > MAX_CHARACTERS:
        limits = f"at most {MAX_FILES:,} files with {MAX_CHARACTERS:,} characters are read"
        found.refuse(where, f"`{path}` has {len(texts):,} files with {size:,} characters; {limits}")
        return []
    return [
        part
        for each in texts
        for part in (
            {"type": "text", "value": f"{each.path}:"},
            {"type": "file", "value": f"/{each.path}"},
        )
    ]


def _rubrics(found: Translation, case: dict[str, Any], ours: Path, theirs: Path) -> None:
    names = [name for name in _CRITERIA if case.get(name)]
    place = (*ours, "rubrics")
    negative = case.get("negative_expectations")
    if not names and case.get("expected_output"):
        found.put(place, [], (*theirs, "expected_output"))
        found.put((*place, 0), case["expected_output"], (*theirs, "expected_output"))
    elif names or negative:
        found.put(place, [], (*theirs, next(iter(names), "negative_expectations")))
    lists = {n: case[n] if isinstance(case[n], list) else [case[n]] for n in names}
    every = [
        (each, (*theirs, n, at)) for n, items in lists.items() for at, each in enumerate(items)
    ]
    for number, (each, where) in enumerate(every):
        _criterion(found, each, (*place, number), where)
    for each, where in placed(negative, (*theirs, "negative_expectations")):
        if isinstance(each, str):
            number = len(found.data["evalcases"][ours[-1]]["rubrics"])
            forbids = _NEGATION.match(each.strip())  # a text that forbids is a criterion already
            found.put((*place, number), each if forbids else f"Does not hold: {each}", where)
        else:
            found.refuse(where, "a negative expectation is a text")


_NEGATION: Final = re.compile(
    r"(?i)(?:never|no|not|do not|does not|don't|doesn't|must not|avoid|without)\b"
)


_REQUIRED: Final = {"must_pass": True, "should_pass": False, "nice_to_have": False}
_CHECKS: Final = {"contains": "contains", "not_contains": "contains", "regex": "matches"}
_JUDGED: Final = frozenset(("output", "qualitative", *_REQUIRED))
_SEEN: Final = ("name", "id", "category", "rationale", "weight", "type")


def _criterion(found: Translation, written: Any, ours: Path, theirs: Path) -> None:
    """Add a text, or an object by its text; its name is not an id, as names repeat."""
    if not isinstance(written, dict):
        found.put(ours, written, theirs)
        return
    key = next((key for key in _TEXTS if isinstance(written.get(key), str)), "")
    kind = written.get("type")
    check = {}
    if isinstance(kind, str) and kind in _CHECKS and isinstance(written.get("value"), str):
        check = {_CHECKS[kind]: written["value"], **({"not": True} if "not" in kind else {})}
    elif kind is not None and kind not in _JUDGED:
        found.refuse((*theirs, "type"), f"`type: {kind}` has no counterpart")
    if not key and not check:
        found.refuse(theirs, f"no text of the assertion: none of {', '.join(_TEXTS)}")
        return
    named = ("text",) if key == "description" else ()  # a short name next to it
    known = (key, *named, *_SEEN, *(("value",) if check else ()))
    found.refuse_keys(written, known, theirs)
    required = {} if _REQUIRED.get(str(kind), True) else {"required": False}
    text = {"expected_outcome": written[key]} if key else {}
    found.put(ours, {**text, **check, **required}, theirs)
    found.paths[*ours, "expected_outcome"] = (*theirs, key) if key else theirs
    found.copy(written, {"weight": "weight"}, ours, theirs)
