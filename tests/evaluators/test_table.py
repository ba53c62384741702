"""The table of kinds agrees with the schema and the documentation, and costs `validate` little."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rubric_ci.evaluators.kind import Kind
from rubric_ci.evaluators.table import KINDS, kind_of
from rubric_ci.files.validation.evaluator_rules import evaluator_problems, prompts_of, scripts_of

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "schemas/eval.schema.json").read_text("utf-8"))["$defs"]["evaluator"]


def test_the_schema_has_the_kinds_of_the_table() -> None:
    assert sorted(SCHEMA["properties"]["type"]["enum"]) == sorted(KINDS)
    settings = [each["if"]["properties"]["type"]["const"] for each in SCHEMA["allOf"]]
    assert sorted(settings) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_assesses_in_one_way(kind: Kind) -> None:
    assert (kind.assess is None) != (kind.measure is None)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_documented(name: str) -> None:
    assert f"`{name}`" in (ROOT / "docs/evaluators.md").read_text("utf-8")


@pytest.mark.parametrize("data", [{}, {"type": "rubrics"}, {"type": ["rubric"]}])
def test_an_unknown_type_has_no_rules(data: dict[str, object]) -> None:
    kind = kind_of(data)
    assert (kind.criteria, kind.members, kind.whole) == (False, False, ())
    assert [*evaluator_problems(data, ()), *prompts_of(data, ()), *scripts_of(data, ())] == []


def test_the_table_needs_no_spec() -> None:
    names = "print(*(m for m in sys.modules if 'rubric_ci' in m))"
    code = f"import rubric_ci.evaluators.table, sys; {names}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stdout.split()
    assert "rubric_ci.evaluators.kind" in modules
    assert {"rubric_ci.values.evals", "rubric_ci.parts.graders.usage_limits"}.isdisjoint(modules)
