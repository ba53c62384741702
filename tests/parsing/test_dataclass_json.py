"""JSON as dataclasses: one message per kind of mistake, and the same answers as pydantic's."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import TypeAdapter, ValidationError

from rubric_ci.history.from_report import record_of
from rubric_ci.history.record import RunRecord
from rubric_ci.history.record_json import dump
from rubric_ci.model.report import RunReport
from rubric_ci.parsing import dataclass_json
from rubric_ci.parsing.dataclass_json import Mismatch
from tests.history.nights import a_night


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    outcome: Literal["here"] = "here"
    place: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    outcome: Literal["gone"] = "gone"
    since: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    name: str
    count: int = 0
    share: float = 0.0
    sure: bool = False
    votes: int | Literal["auto"] = 1
    mark: bool | int | Literal["unknown"] = True
    things: tuple[Here | Gone, ...] = ()
    notes: Mapping[str, str] | None = None
    details: Any = None


def test_a_value_of_each_type() -> None:
    data = {
        "name": "a",
        "count": 2,
        "share": 1,
        "sure": True,
        "votes": "auto",
        "mark": 7,
        "things": [{"outcome": "here", "place": [0.5, 1]}, {"outcome": "gone", "later": 1}],
        "notes": {"a": "b"},
        "details": {"any": [1, None]},
        "from the future": 1,
    }
    found = dataclass_json.value_of(Everything, data)
    assert found == Everything(
        name="a",
        count=2,
        share=1.0,
        sure=True,
        votes="auto",
        mark=7,
        things=(Here(place=(0.5, 1.0)), Gone()),
        notes={"a": "b"},
        details={"any": [1, None]},
    )
    assert type(found.share) is float


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": None}, "name: must be a string"),
        ({"count": True}, "count: must be an integer"),
        ({"count": 1.0}, "count: must be an integer"),
        ({"share": "1"}, "share: must be a number"),
        ({"share": True}, "share: must be a number"),
        ({"share": 10**400}, "share: must be a number"),
        ({"sure": 1}, "sure: must be true or false"),
        ({"votes": "all"}, "votes: must be an integer or 'auto'"),
        ({"mark": 0.5}, "mark: must be true or false, an integer or 'unknown'"),
        ({"things": {}}, "things: must be an array"),
        ({"things": [{"outcome": "gone"}, 7]}, "things.1: must be an object"),
        ({"things": [{"outcome": "lost"}]}, "things.0.outcome: must be 'here' or 'gone'"),
        ({"things": [{"since": "x"}]}, "things.0.outcome: must be 'here' or 'gone'"),
        ({"things": [{"outcome": "here"}]}, "things.0.place: is missing"),
        ({"things": [{"outcome": "here", "place": [1]}]}, "things.0.place: must be an array of 2"),
        (
            {"things": [{"outcome": "here", "place": [1, None]}]},
            "things.0.place.1: must be a number",
        ),
        ({"notes": []}, "notes: must be an object"),
        ({"notes": {"a": 1}}, "notes.a: must be a string"),
    ],
)
def test_what_is_wrong(changes: Mapping[str, Any], problem: str) -> None:
    with pytest.raises(Mismatch) as caught:
        dataclass_json.value_of(Everything, {"name": "a", **changes})
    assert str(caught.value) == problem


def test_a_missing_key() -> None:
    with pytest.raises(Mismatch) as caught:
        dataclass_json.value_of(Everything, {})
    assert str(caught.value) == "name: is missing"


def test_a_type_that_json_does_not_have() -> None:
    with pytest.raises(TypeError):
        dataclass_json.reader(set[int])


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "-Infinity", "1e999", "[" * 100_000, "{", ""]
)
def test_not_json(text: str) -> None:
    with pytest.raises(Mismatch, match=r"^not JSON \("):
        dataclass_json.load(text)


GOLDEN = Path(__file__).parents[1] / "golden"
SAMPLES: Mapping[str, tuple[Any, Any]] = {
    "a report": (RunReport, json.loads((GOLDEN / "mixed.report.json").read_text())),
    "a report with a base": (RunReport, json.loads((GOLDEN / "against.report.json").read_text())),
    "a record": (RunRecord, json.loads(dump(record_of(a_night(4))))),
}
OTHERS: tuple[Any, ...] = (None, True, 7, 0.5, "pass", [7], {"a": "b"})


def changed(data: Any) -> Iterator[Any]:
    """Yield JSON with a value of each name left out or replaced, one at a time."""
    named = {tuple("*" if isinstance(step, int) else step for step in p): p for p in paths(data)}
    for path in named.values():
        # pydantic takes a case or an evaluator without its outcome for the first that fits.
        for other in OTHERS if path[-1] == "outcome" else (..., *OTHERS):
            yield replaced(data, path, other)


def replaced(data: Any, path: Sequence[Any], other: Any) -> Any:
    """Return JSON with the value at a path replaced, or left out for `...`."""
    step, *below = path
    copy = data.copy()
    if below:
        copy[step] = replaced(data[step], below, other)
    elif other is ...:
        del copy[step]
    else:
        copy[step] = other
    return copy


def paths(data: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = data.items() if isinstance(data, dict) else enumerate(data)
    for step, each in steps:
        yield (*above, step)
        if isinstance(each, dict | list):
            yield from paths(each, (*above, step))


@pytest.mark.parametrize(("kind", "data"), SAMPLES.values(), ids=SAMPLES)
def test_the_answers_of_pydantic(kind: Any, data: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    for each in changed(data):
        expected, found = strictly(adapter, each), ours(kind, each)
        assert found == expected, each


def strictly(adapter: TypeAdapter[Any], data: Any) -> Any:
    try:
        return adapter.validate_json(json.dumps(data), strict=True)
    except ValidationError:
        return None


def ours(kind: Any, data: Any) -> Any:
    try:
        return dataclass_json.value_of(kind, data)
    except Mismatch:
        return None
