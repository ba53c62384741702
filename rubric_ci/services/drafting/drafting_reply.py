"""The reply of a drafting model: its schema, and a draft that `validate` accepts, or problems."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from rubric_ci.files.project.loader import load
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.models.judge.reply import InvalidReply, find_object, strict_object
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.values.json_value import JSON
from rubric_ci.values.problems import errors_of
from rubric_ci.values.references import NotFound
from rubric_ci.values.rubric import Rubric

Kind: TypeAlias = Literal["checklist", "score-range", "levels", "auto"]

FEWEST, MOST = 3, 7
SCHEMA_VERSION = "2"


def draft_schema(kind: Kind, *, plain: bool = False) -> Mapping[str, JSON]:
    """Return a strict JSON Schema of the reply; the number of criteria is left to `read_draft`.

    A criterion of any kind may be a fault instead and have a condition, unless they are `plain`.
    """
    kinds = list(_SCHEMAS.values()) if kind == "auto" else [_SCHEMAS[kind]]
    wanted = kinds if plain else [*map(_with_condition, kinds), _with_condition(_FAULT)]
    items = wanted[0] if len(wanted) == 1 else {"anyOf": wanted}
    return strict_object({"rubrics": {"type": "array", "items": items}})


def _with_condition(schema: Mapping[str, Any]) -> Mapping[str, JSON]:
    return strict_object({**schema["properties"], "applies_if": _NULL_OR_STRING})


_STRING = {"type": "string"}
_NULL_OR_STRING = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_TEXTS = {"id": _STRING, "expected_outcome": _STRING}
_COMMON = {**_TEXTS, "weight": {"type": "number"}}
_FAULT = strict_object({**_TEXTS, "penalty": {"type": "number"}, "required": {"type": "boolean"}})
_GATE = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
_RANGE = strict_object(
    {"score_range": {"type": "array", "items": {"type": "integer"}}, "expected_outcome": _STRING}
)
_LEVEL = strict_object({"level": {"type": "integer"}, "name": _STRING, "criteria": _STRING})
_SCHEMAS: Mapping[str, Mapping[str, JSON]] = {
    "checklist": strict_object({**_COMMON, "required": {"type": "boolean"}}),
    "score-range": strict_object(
        {**_COMMON, "required_min_score": _GATE, "score_ranges": {"type": "array", "items": _RANGE}}
    ),
    "levels": strict_object(
        {**_COMMON, "required_min_level": _GATE, "levels": {"type": "array", "items": _LEVEL}}
    ),
}


_Text = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, max_length=400, pattern=r"^\S(?:[^\x00-\x1f\x7f]*\S)?$"
    ),
]
_Id = Annotated[str, StringConstraints(max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]
_Weight = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Rubrics as inserted in the eval file, and as parsed for the judge."""

    rubrics: tuple[JSON, ...]
    rubric: Rubric
    tests: tuple[JSON, ...] = ()

    @property
    def written(self) -> JSON:
        """The value of `rubrics` in the file."""
        criteria = [*self.rubrics]
        return {"criteria": criteria, "tests": [*self.tests]} if self.tests else criteria


class _Item(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Criterion(_Item):
    id: _Id
    expected_outcome: _Text
    applies_if: _Text | None = None


class _Check(_Criterion):
    weight: _Weight
    required: bool


class _Fault(_Criterion):
    penalty: _Weight
    required: bool


class _Range(_Item):
    score_range: list[int]
    expected_outcome: _Text


class _Scored(_Criterion):
    weight: _Weight
    required_min_score: int | None = None
    score_ranges: list[_Range]


class _Level(_Item):
    level: int
    name: _Text
    criteria: _Text


class _Levelled(_Criterion):
    weight: _Weight
    required_min_level: int | None = None
    levels: list[_Level]


_KINDS: Mapping[str, type[_Check | _Scored | _Levelled]] = {
    "checklist": _Check,
    "score-range": _Scored,
    "levels": _Levelled,
}


def read_draft(text: str, kind: Kind, *, plain: bool = False) -> Draft | InvalidReply:
    """Return a draft that `validate` accepts, or all problems of the reply."""
    match find_object(text):
        case InvalidReply() as invalid:
            return invalid
        case {"rubrics": list(items)} as reply if len(reply) == 1:
            return _read_items(items, kind, plain=plain)
        case _:
            return InvalidReply(('the object must have one property, "rubrics", which is a list',))


def read_rubrics(text: str) -> Draft | InvalidReply:
    """Return the draft that a person has edited, as YAML with the key `rubrics`."""
    document = Document("draft.yaml", text)
    if document.text_problems:
        return InvalidReply(
            tuple(f"line {found.line}: {found.message}" for _, found in document.text_problems)
        )
    match document.data:
        case {"rubrics": list(items)} as data if items and len(data) == 1:
            return validated(items)
        case {"rubrics": {"criteria": list(items), "tests": list(tests), **more}} as data if (
            items and len(data) == 1 and not more
        ):
            return validated(items, tests)
        case _:
            return InvalidReply(("there must be one key, `rubrics`, with a list of criteria",))


def _read_items(items: Sequence[JSON], kind: Kind, *, plain: bool) -> Draft | InvalidReply:
    problems = []
    if not FEWEST <= len(items) <= MOST:
        problems.append(f"there are {len(items)} criteria; {FEWEST} to {MOST} are wanted")
    rubrics = []
    for number, item in enumerate(items, 1):
        try:
            rubrics.append(_parse(item, kind, plain=plain))
        except ValidationError as error:
            problems += [_explained(number, e) for e in error.errors()]
        except ValueError as error:
            problems.append(f"criterion {number} {error}")
    if problems:
        return InvalidReply(tuple(problems))
    return validated(rubrics)


def _parse(item: JSON, kind: Kind, *, plain: bool) -> JSON:
    if not isinstance(item, dict):
        raise ValueError("is not an object")  # noqa: TRY004 - every mistake of a reply is one kind
    if plain and (named := sorted({"applies_if", "penalty"} & item.keys())):
        raise ValueError(f'has a property "{named[0]}" that is not asked for')
    if "penalty" in item:
        return _Fault.model_validate(item).model_dump(exclude_none=True)
    own = "score-range" if "score_ranges" in item else "levels" if "levels" in item else "checklist"
    if kind not in (own, "auto"):
        raise ValueError(f"is a {own} criterion; only {kind} ones are wanted")
    return _KINDS[own].model_validate(item).model_dump(exclude_none=True)


def validated(rubrics: Sequence[JSON], tests: Sequence[JSON] = ()) -> Draft | InvalidReply:
    """Check the draft with the rules of `validate`, in an eval file with one case."""
    lines = ",\n".join(json.dumps(rubric, ensure_ascii=False) for rubric in rubrics)
    case = '"id": "draft", "expected_outcome": "draft", "input": "draft"'
    more = f', "tests": {json.dumps([*tests], ensure_ascii=False)}' if tests else ""
    text = f'{{"evalcases": [{{{case}, "rubrics": {{"criteria": [\n{lines}\n]{more}}}}}]}}'
    loaded = load("draft.yaml", text, lambda _: NotFound(reason="a draft refers to no file"))
    problems = [_located(each, rubrics) for each in errors_of(loaded.diagnostics)]
    if problems or loaded.eval_file is None:
        return InvalidReply(tuple(problems))
    rubric = loaded.eval_file.cases[0].rubrics[0].rubric
    return Draft(rubrics=tuple(rubrics), rubric=rubric, tests=tuple(tests))


def _located(diagnostic: Diagnostic, rubrics: Sequence[JSON]) -> str:
    """Name the criterion of a problem: criterion 1 is on line 2, and so on."""
    number = diagnostic.span.line - 1
    if not 1 <= number <= len(rubrics):
        return diagnostic.message
    match rubrics[number - 1]:
        case {"id": name}:
            return f"criterion {number} ({name}): {diagnostic.message}"
        case _:
            return f"criterion {number}: {diagnostic.message}"


def _explained(number: int, error: ErrorDetails) -> str:
    where = ".".join(str(step) for step in error["loc"])
    match error["type"]:
        case "missing":
            return f'criterion {number} has no "{where}"'
        case "extra_forbidden":
            return f'criterion {number} has a property "{where}" that is not asked for'
        case "string_pattern_mismatch" if where == "id":
            return f'"id" of criterion {number} must be letters, digits and hyphens'
        case "string_pattern_mismatch":
            return f'"{where}" of criterion {number} must be one line of text'
        case _:
            return f'"{where}" of criterion {number}: {error["msg"]}'
