"""What users write becomes values by the keys that the fields declare."""

from collections.abc import Mapping
from typing import Annotated

import pytest

from rubric_ci.files.validation.model_rules import judge_keys
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.problems import MESSAGES
from rubric_ci.values.written_keys import Key, keys_of, read_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    names: Annotated[tuple[str, ...], Key()] = ()
    limit: Annotated[float | None, Key()] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    passing: Annotated[float, Key(name="pass")] = 0.8
    inner: Annotated[Inner, Key()] = Inner()
    several: Annotated[tuple[Inner, ...], Key()] = ()
    line: Annotated[str | tuple[str, ...], Key(aliases={"command": "older"})] = ""
    rates: Annotated[Mapping[str, float], Key()]
    place: int = 0


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ({"rates": {}}, Outer(rates={})),
        ({"rates": {"a": 1}}, Outer(rates={"a": 1.0})),
        ({"rates": {}, "pass": 1}, Outer(rates={}, passing=1.0)),
        ({"rates": {}, "inner": {"names": ["a"]}}, Outer(rates={}, inner=Inner(names=("a",)))),
        ({"rates": {}, "several": [{"limit": 2}]}, Outer(rates={}, several=(Inner(limit=2.0),))),
        ({"rates": {}, "line": "a b"}, Outer(rates={}, line="a b")),
        ({"rates": {}, "line": ["a", "b"]}, Outer(rates={}, line=("a", "b"))),
        ({"rates": {}, "command": "a"}, Outer(rates={}, line="a")),
        ({"rates": {}, "place": 7, "passing": 1, "x-own": 1}, Outer(rates={})),
    ],
)
def test_a_mapping_becomes_a_value(data: dict[str, object], value: Outer) -> None:
    found = read_keys(Outer, data)
    assert found == value
    assert repr(found) == repr(value)  # 1 is not 1.0


def test_fields_without_a_key_are_given() -> None:
    assert read_keys(Outer, {"rates": {}, "place": 7}, place=3) == Outer(rates={}, place=3)


def test_the_checks_know_the_keys_of_a_judge() -> None:
    assert judge_keys() == {*keys_of(JudgeConfig)}  # which `validate` needs without the class


def test_the_keys_with_messages_are_those_of_a_case() -> None:
    assert keys_of(EvalCase, "input_messages", "expected_messages") == MESSAGES
