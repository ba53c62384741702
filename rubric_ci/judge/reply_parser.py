"""A judge's reply as a Judgement, or its problems; nothing is clamped or guessed.

NOTE: the problems are sent to the model, so their texts are part of the keys of recordings.

Two forms are read: the object that `reply_schema` describes, and the list
`{"checks": [{"id", "satisfied" | "score" | "level", "reasoning"?}], "overall_reasoning"?}`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, assert_never

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from rubric_ci.judge.reply_schema import aliased, allowed_marks, mark_property
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.json_value import JSON
from rubric_ci.model.mark_value import CANNOT_ASSESS, CannotAssess
from rubric_ci.model.rubric import Check, Judged, Judgement, Levelled, Mark, Scored


@dataclass(frozen=True, slots=True)
class InvalidReply:
    """The problems of a reply, precise enough for the model to fix them."""

    problems: tuple[str, ...]

    def __str__(self) -> str:
        """Return the problems in one line."""
        return "; ".join(self.problems)


def find_object(text: str) -> dict[str, JSON] | InvalidReply:
    """Return the JSON object that the text holds.

    Text or a code fence around it is accepted if there is no second object.
    """
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
            raise _NotOneObject(f"the key {json.dumps(key)} stands twice in one object")
        value[key] = item
    return value


def _constant(name: str) -> JSON:
    raise _NotOneObject(f"{name} is not JSON")


def _invalid(problem: str) -> InvalidReply:
    return InvalidReply((problem,))


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    evidence: str = ""
    reasoning: str = ""


class _Satisfied(_Entry):
    satisfied: bool | CannotAssess


class _Score(_Entry):
    score: Annotated[int, Field(ge=0, le=10)] | CannotAssess


class _Level(_Entry):
    level: int | CannotAssess


class _Listed(BaseModel):
    model_config = ConfigDict(extra="forbid")

    checks: list[dict[str, JSON]]
    overall_reasoning: str = ""


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
    try:
        listed = _Listed.model_validate(value)
    except ValidationError as error:
        return InvalidReply(tuple(_outline(e) for e in error.errors()))
    unnamed = [
        n for n, entry in enumerate(listed.checks, 1) if not isinstance(entry.get("id"), str)
    ]
    if unnamed:
        return InvalidReply(
            tuple(f'entry {n} of "checks" has no "id" that is a string' for n in unnamed)
        )
    # A judge may use the ids of the criteria; an alias takes precedence.
    own = {criterion.id: alias for alias, criterion in criteria.items()}
    entries = [
        (name if name in criteria else own.get(name, name), _without_id(entry))
        for entry in listed.checks
        for name in [str(entry["id"])]
    ]
    return _judgement(entries, criteria, listed.overall_reasoning)


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
    try:
        mark = _parse(criterion, entry)
    except ValidationError as error:
        return InvalidReply(tuple(_explained(alias, criterion, error.errors())))
    if isinstance(criterion, Levelled) and mark.value not in (
        CANNOT_ASSESS,
        *(level.level for level in criterion.levels),
    ):
        return InvalidReply((_out_of_range(alias, criterion, mark.value),))
    return mark


def _parse(criterion: Judged, entry: JSON) -> Mark:
    match criterion:
        case Check():
            satisfied = _Satisfied.model_validate(entry)
            return _mark(satisfied, satisfied.satisfied)
        case Scored():
            score = _Score.model_validate(entry)
            return _mark(score, score.score)
        case Levelled():
            level = _Level.model_validate(entry)
            return _mark(level, level.level)
        case _:
            assert_never(criterion)


def _mark(entry: _Entry, value: bool | int | CannotAssess) -> Mark:
    return Mark(value=value, reasoning=entry.reasoning, evidence=entry.evidence)


def _explained(alias: str, criterion: Judged, errors: list[ErrorDetails]) -> Iterable[str]:
    name, mark = _name(alias, criterion), mark_property(criterion)
    # A union type gives an error per member; one problem per property is enough.
    for where, error in {str(e["loc"][0]) if e["loc"] else "": e for e in errors}.items():
        match error["type"], where:
            case "missing", _:
                yield f'{name} has no "{where}"'
            case "extra_forbidden", _:
                yield f"{name} has a property {json.dumps(where)} that is not asked for"
            case _, "":
                yield f"{name} is {_shortened(error['input'])}; an object is wanted"
            case _ if where == mark:
                yield _out_of_range(alias, criterion, error["input"])
            case _:
                yield f'"{where}" of {name} is {_shortened(error["input"])}; a string is wanted'


def _out_of_range(alias: str, criterion: Judged, value: JSON) -> str:
    where = f'"{mark_property(criterion)}" of {_name(alias, criterion)}'
    return f"{where} is {_shortened(value)}; wanted: {allowed_marks(criterion)}"


def _outline(error: ErrorDetails) -> str:
    where = ".".join(str(step) for step in error["loc"])
    return f"{json.dumps(where)}: {error['msg']}"


def _name(alias: str, criterion: Judged) -> str:
    return f"{alias} ({criterion.id})"


def _shortened(value: JSON) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _without_id(entry: Mapping[str, JSON]) -> Mapping[str, JSON]:
    return {key: value for key, value in entry.items() if key != "id"}
