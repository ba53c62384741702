"""Keys that exclude each other are named, wherever the schema says so."""

from typing import Any

import pytest

from rubric_ci.files.validation.schema_errors import explain

GIT = {"dependentSchemas": {"url": {"properties": {"path": False}}}}
HAS = {"if": {"properties": {"execution": {"required": ["target"]}}}}
SUITE = {"dependentSchemas": {"execution": {**HAS, "then": {"properties": {"target": False}}}}}
CASE = {"dependentSchemas": {"execution": {"allOf": [SUITE["dependentSchemas"]["execution"]]}}}
SAME = "`target` and `execution.target` mean the same; use one of them"
SCHEMA = {
    **SUITE,
    "properties": {"git": {"$ref": "#/$defs/git"}, "cases": {"items": CASE}},
    "$defs": {"git": GIT},
}


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"git": {"url": "u"}}, []),
        (
            {"git": {"url": "u", "path": "p"}},
            [(("git", "path"), "`git` has either `path` or `url`, not both")],
        ),
        ({"execution": {}, "target": "a"}, []),
        ({"execution": {"target": "b"}, "target": "a"}, [(("target",), SAME)]),
        (
            {"cases": [{"execution": {"target": "b"}, "target": "a"}]},
            [(("cases", 0, "target"), SAME)],
        ),
    ],
)
def test_a_key_that_another_one_excludes(data: Any, found: list[Any]) -> None:
    problems = explain(SCHEMA, data, lambda _: None)
    assert [(problem.path, problem.message) for problem in problems] == found
