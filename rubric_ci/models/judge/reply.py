"""The reply of a judge: its JSON Schema, and the reply as a Judgement or its problems.

Nothing is clamped or guessed. Two forms are read: the object of the schema, and the list
`{"checks": [{"id", "satisfied" | "present" | "score" | "level" | "choice", "reasoning"?}],
"overall_reasoning"?}`.
NOTE: the problems are sent to the model, so their texts are part of the keys of recordings.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, assert_never

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import in_keys
from rubric_ci.values.rubric import (
    ByJudge,
    Check,
    Chosen,
    Judged,
    Judgement,
    Levelled,
    Mark,
    Scored,
)
from rubric_ci.values.scoring import CANNOT_ASSESS, NOT_APPLICABLE

SCHEMA_VERSION = "1"

_Marks: TypeAlias = tuple[str, str, tuple[int | str, ...], tuple[str, ...]]
"""The property that carries a mark, its JSON type, its values, and marks that are none of them.

No values: all of the type."""


@dataclass(frozen=True, slots=True)
class InvalidReply:
    """The problems of a reply, precise enough for the model to fix them."""

    problems: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(self.problems)


def aliased(criteria: Sequence[Judged]) -> dict[str, Judged]:
    """Name the criteria `c1` to `cn`, in this order."""
    return {f"c{n}": criterion for n, criterion in enumerate(criteria, 1)}


def keyed_schema(criteria: Sequence[Judged]) -> tuple[Mapping[str, JSON], str]:
    """Return a strict JSON Schema, also as keys of requests contain it.

    It allows no omitted, repeated or unknown id.
    """
    return _schema(tuple(map(_marks, criteria)))


@lru_cache(maxsize=100)
def _schema(marks: tuple[_Marks, ...]) -> tuple[Mapping[str, JSON], str]:
    """Return the schema, also as a text; most rubrics of a suite have one of a few."""
    schema = strict_object({f"c{n}": _entry(*each) for n, each in enumerate(marks, 1)})
    return schema, in_keys(schema)


def mark_and_values(criterion: Judged) -> tuple[str, str]:
    """Return the property of the mark, and the possible marks as prompts and messages name them."""
    marks = _marks(criterion)
    return marks[0], _in_words(*marks)


@lru_cache(maxsize=100)
def _in_words(name: str, kind: str, allowed: tuple[int | str, ...], others: tuple[str, ...]) -> str:
    """Return the possible marks in words; most criteria of a suite have one of a few."""
    marks = "true, false" if kind == "boolean" else "an integer from 0 to 10"
    if name == "level":
        marks = "one of " + ", ".join(map(str, allowed))
    elif name == "choice":
        marks = "one of " + ", ".join(json.dumps(each, ensure_ascii=False) for each in allowed)
    quoted = [f'"{each}"' for each in others]
    *first, last = [marks, *quoted] if quoted else marks.rsplit(", ", 1)
    return f"{', '.join(first)} or {last}"


def _entry(
    name: str, kind: str, allowed: tuple[int | str, ...], others: tuple[str, ...]
) -> Mapping[str, JSON]:
    # The model writes in this order: quote first, reasoning second, mark last.
    reasons = {"evidence": {"type": "string"}, "reasoning": {"type": "string"}}
    marks: JSON = {"type": kind, "enum": list(allowed)} if allowed else {"type": kind}
    if kind == "string":
        marks = {"type": kind, "enum": [*allowed, *others]}
    elif others:
        marks = {"anyOf": [marks, {"type": "string", "enum": list(others)}]}
    return strict_object({**reasons, name: marks})


def _marks(criterion: Judged) -> _Marks:
    name, kind, allowed, others = _marks_and_type(criterion)
    if isinstance(criterion.applies_if, ByJudge):
        others = (*others, NOT_APPLICABLE)
    return name, kind, allowed, others


def _marks_and_type(criterion: Judged) -> _Marks:
    match criterion:
        case Check(fault=True):
            return "present", "boolean", (), ()
        case Check():
            return "satisfied", "boolean", (), (CANNOT_ASSESS,)
        case Scored():
            return "score", "integer", tuple(range(11)), (CANNOT_ASSESS,)
        case Levelled():
            levels = tuple(level.level for level in criterion.levels)
            return "level", "integer", levels, (CANNOT_ASSESS,)
        case Chosen():
            names = tuple(each.name for each in criterion.choices)
            return "choice", "string", names, () if criterion.fault else (CANNOT_ASSESS,)
        case _:
            assert_never(criterion)


def strict_object(properties: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Return the JSON Schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def find_object(text: str) -> dict[str, JSON] | InvalidReply:
    """Return the one JSON object of a text; other text or a code fence around it is accepted.

    A block of thoughts before it is left out.
    """
    text = _THOUGHTS.sub("", text, count=1)
    if not text.strip():
        return _invalid("the reply is empty")
    try:
        return _find(text.strip())
    except _NotOneObject as refusal:
        return _invalid(str(refusal))
    except RecursionError:
        return _invalid("the JSON is nested too deeply")
    except ValueError as error:
        return _invalid(f"the reply is not valid JSON: {error}")


class _NotOneObject(Exception):
    pass


def _find(text: str) -> dict[str, JSON]:
    start = text.find("{")
    if text.startswith("[") or text[:start].rstrip().endswith("["):
        raise _NotOneObject("the reply is a list; one JSON object is wanted")
    if start < 0:
        raise _NotOneObject("the reply holds no JSON object")
    value, end = _DECODER.raw_decode(text, start)
    if "{" in text[end:]:
        raise _NotOneObject("the reply holds more than one JSON object; expected exactly one")
    return dict(value)


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    value: dict[str, JSON] = {}
    for key, item in pairs:
        if key in value:
            raise _NotOneObject(f"the key {json.dumps(key)} is twice in one object")
        value[key] = item
    return value


def _constant(name: str) -> JSON:
    raise _NotOneObject(f"{name} is not JSON")


def _invalid(problem: str) -> InvalidReply:
    return InvalidReply((problem,))


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)
_TEXTS = ("evidence", "reasoning")
_THOUGHTS = re.compile(r"\A\s*<(think|thinking)>.*?</\1>", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_marks(text: str, criteria: Sequence[Judged]) -> Judgement | InvalidReply:
    """Return exactly one mark per criterion, each in range, or all problems of the reply."""
    match find_object(text):
        case InvalidReply() as invalid:
            return invalid
        case {"checks": list()} as listed:
            return _read_list(listed, aliased(criteria))
        case entries:
            return _judgement(list(entries.items()), aliased(criteria))


def _read_list(
    value: Mapping[str, JSON], criteria: Mapping[str, Judged]
) -> Judgement | InvalidReply:
    if problems := tuple(_outline(value)):
        return InvalidReply(problems)
    checks: Any = value["checks"]
    reasoning = str(value.get("overall_reasoning", ""))
    unnamed = [n for n, entry in enumerate(checks, 1) if not isinstance(entry.get("id"), str)]
    if unnamed:
        return InvalidReply(
            tuple(f'entry {n} of "checks" has no "id" that is a string' for n in unnamed)
        )
    # A judge may use the ids of the criteria; an alias takes precedence.
    own = {criterion.id: alias for alias, criterion in criteria.items()}
    entries = [
        (
            name if name in criteria else own.get(name, name),
            {key: value for key, value in entry.items() if key != "id"},
        )
        for entry in checks
        for name in [str(entry["id"])]
    ]
    return _judgement(entries, criteria, reasoning)


def _judgement(
    entries: Sequence[tuple[str, JSON]], criteria: Mapping[str, Judged], reasoning: str = ""
) -> Judgement | InvalidReply:
    problems: list[str] = []
    marks: dict[str, Mark] = {}
    for alias, entry in entries:
        if alias not in criteria:
            problems.append(f"{json.dumps(alias)} is not one of {', '.join(criteria)}")
            continue
        match _read_mark(alias, criteria[alias], entry):
            case InvalidReply() as invalid:
                problems.extend(invalid.problems)
            case mark if marks.setdefault(alias, mark).value != mark.value:
                problems.append(f"{_name(alias, criteria[alias])} is marked twice and differently")
    mentioned = {alias for alias, _ in entries}
    problems += [f"{_name(a, c)} is missing" for a, c in criteria.items() if a not in mentioned]
    if problems:
        return InvalidReply(tuple(problems))
    return Judgement({c.id: marks[alias] for alias, c in criteria.items()}, reasoning)


def _read_mark(alias: str, criterion: Judged, entry: JSON) -> Mark | InvalidReply:
    marks = _marks(criterion)
    if problems := tuple(_explained(_name(alias, criterion), entry, marks)):
        return InvalidReply(problems)
    given: Any = entry
    value = given[marks[0]]
    if value == NOT_APPLICABLE and not given.get("reasoning", "").strip():
        unsaid = f"{_name(alias, criterion)} is marked as not applicable without a reason"
        return InvalidReply((unsaid,))
    return Mark(
        value=value, reasoning=given.get("reasoning", ""), evidence=given.get("evidence", "")
    )


def _explained(name: str, entry: JSON, marks: _Marks) -> Iterator[str]:
    """Yield the problems of the entry of a criterion; nothing is converted."""
    if not isinstance(entry, dict):
        yield f"{name} is {_shortened(entry)}; an object is wanted"
        return
    for key in _TEXTS:
        if key in entry and not is_text(entry[key]):
            yield f'"{key}" of {name} is {_shortened(entry[key])}; a string is wanted'
    mark = marks[0]
    if mark not in entry:
        yield f'{name} has no "{mark}"'
    elif not _is_one_of(marks, entry[mark]):
        found = _shortened(entry[mark])
        yield f'"{mark}" of {name} is {found}; wanted: {_in_words(*marks)}'
    for key in entry:
        if key == mark or key in _TEXTS:
            continue
        yield f"{name} has a property {json.dumps(key)} that is not asked for"


def is_allowed(criterion: Judged, value: JSON) -> bool:
    return _is_one_of(_marks(criterion), value)


def _is_one_of(marks: _Marks, value: JSON) -> bool:
    _, kind, allowed, others = marks
    if isinstance(value, str):
        return value in others or value in allowed
    if kind == "boolean":
        return isinstance(value, bool)
    return type(value) is int and value in allowed


def is_text(value: JSON) -> bool:
    """Return True for a string that can be written; half of a surrogate pair cannot."""
    return isinstance(value, str) and (value.isascii() or not _SURROGATE.search(value))


def _outline(value: Mapping[str, JSON]) -> Iterator[str]:
    """Yield problems of a list of checks as a whole, not of its entries."""
    checks: Any = value["checks"]
    for position, entry in enumerate(checks):
        if not isinstance(entry, dict):
            yield f'"checks.{position}": Input should be a valid dictionary'
    if not is_text(value.get("overall_reasoning", "")):
        yield '"overall_reasoning": Input should be a valid string'
    for key in value:
        if key not in ("checks", "overall_reasoning"):
            yield f"{json.dumps(key)}: Extra inputs are not permitted"


def _name(alias: str, criterion: Judged) -> str:
    """Return the alias with the id; a canary, whose id begins with a space, has no name."""
    return alias if criterion.id.startswith(" ") else f"{alias} ({criterion.id})"


def _shortened(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
