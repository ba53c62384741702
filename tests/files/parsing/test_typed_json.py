"""JSON as dataclasses: one message per kind of mistake, and the same answers as pydantic's."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from rubric_ci.files.parsing import typed_json
from rubric_ci.files.parsing.typed_json import Mismatch


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


def test_halves_of_pairs_in_keys_and_nested_values() -> None:
    text = json.dumps(
        {
            "name": "\ud800",
            "things": [{"outcome": "gone", "since": "👩 \udc00"}],
            "notes": {"\udbff": "\U000f0000"},
            "details": {"a": ["\ud83d", 1.0, True, None]},
        }
    )
    assert typed_json.value_of(Everything, text) == Everything(
        name="\ud800",
        things=(Gone(since="👩 \udc00"),),
        notes={"\udbff": "\U000f0000"},
        details={"a": ["\ud83d", 1.0, True, None]},
    )
    with pytest.raises(Mismatch, match=r"^count: must be a valid integer$"):
        typed_json.value_of(Everything, '{"name": "\\ud800", "count": "1"}')


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
    found = typed_json.value_of(Everything, json.dumps(data))
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
        ({"name": None}, "name: must be a valid string"),
        ({"count": True}, "count: must be a valid integer"),
        ({"count": 1.0}, "count: must be a valid integer"),
        ({"share": "1"}, "share: must be a valid number"),
        ({"share": True}, "share: must be a valid number"),
        ({"sure": 1}, "sure: must be a valid boolean"),
        ({"votes": "all"}, "votes: must be a valid integer or 'auto'"),
        ({"mark": 0.5}, "mark: must be a valid boolean or a valid integer or 'unknown'"),
        ({"things": {}}, "things: must be a valid array"),
        ({"things": [{"outcome": "gone"}, 7]}, "things.1: must be an object"),
        ({"things": [{"outcome": "lost"}]}, "things.0.outcome: must be 'here' or 'gone'"),
        ({"things": [{"outcome": "here"}]}, "things.0.place: is missing"),
        ({"things": [{"outcome": "here", "place": [1]}]}, "things.0.place.1: is missing"),
        (
            {"things": [{"outcome": "here", "place": [1, None]}]},
            "things.0.place.1: must be a valid number",
        ),
        ({"notes": []}, "notes: must be an object"),
        ({"notes": {"a": 1}}, "notes.a: must be a valid string"),
    ],
)
def test_what_is_wrong(changes: Mapping[str, Any], problem: str) -> None:
    with pytest.raises(Mismatch) as caught:
        typed_json.value_of(Everything, json.dumps({"name": "a", **changes}))
    assert str(caught.value) == problem


def test_a_missing_key() -> None:
    with pytest.raises(Mismatch) as caught:
        typed_json.value_of(Everything, "{}")
    assert str(caught.value) == "name: is missing"


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "-Infinity", "1e999", "9" * 400, "[" * 100_000, "{", ""]
)
def test_not_json(text: str) -> None:
    with pytest.raises(Mismatch, match=r"^not JSON \("):
        typed_json.load(text)
