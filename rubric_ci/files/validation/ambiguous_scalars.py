"""Scalars that YAML versions read differently, where a field requires text or a number.

Data that is passed through and not interpreted (`metadata`, `config`, structured contents, tool
calls and `x-` keys) is not checked.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from yaml.nodes import MappingNode

from rubric_ci.files.yaml_text.scalars import NOT_FINITE
from rubric_ci.files.yaml_text.source import Source
from rubric_ci.values.problems import Path, Problem, Rule, with_cases, with_rubrics

_PASSED_THROUGH = frozenset(("metadata", "config", "tool_calls", "args"))
_STRUCTURED = frozenset(("content", "expected_output"))
_WORDS = {
    "date": "a date",
    "octal12": "an octal number in YAML 1.2",
    "exponent": "a number in YAML 1.2",
    "octal": "an octal number in YAML 1.1",
    "binary": "a binary number",
    "hexadecimal": "a hexadecimal number",
    "sexagesimal": "a number of base 60 in YAML 1.1",
    "underscores": "a number with underscores in YAML 1.1",
}
_TEXTS = frozenset(("date", "octal12", "exponent"))


AMBIGUOUS_TEXT: Final = Rule(
    id="ambiguous-text",
    switchable=True,
    meaning=(
        "The field requires text, and some YAML versions read the value as a date or a number."
    ),
    hint="quote it",
    bad=with_cases("  - id: 2026-01-31\n    input: Say hello\n    rubrics: [Greets]\n"),
    good=with_cases('  - id: "2026-01-31"\n    input: Say hello\n    rubrics: [Greets]\n'),
)
PLAIN_NUMBER: Final = Rule(
    id="plain-number",
    switchable=True,
    meaning=(
        "YAML 1.1 and 1.2 read octal, sexagesimal and underscored numbers differently: `1:30` is "
        "90 in one and text in the other."
    ),
    hint="write a plain decimal number",
    bad=with_rubrics("- expected_outcome: Greets\n  weight: 1:30"),
    good=with_rubrics("- expected_outcome: Greets\n  weight: 90"),
)


def ambiguous_scalar_problems(source: Source, found: Iterable[Problem]) -> Iterator[Problem]:
    """Yield ambiguous scalars, except at places that have a problem already."""
    known = {problem.path for problem in found}
    paths = source.paths_of((scalar.node for scalar in source.ambiguous), _is_not_checked)
    for kind, node in source.ambiguous:
        path = paths.get(id(node))
        if path is not None and path not in known:
            yield _problem(kind, str(node.value), path)


def _is_not_checked(key: str, node: Any) -> bool:
    structured = key in _STRUCTURED and node.__class__ is MappingNode
    return structured or key in _PASSED_THROUGH or key.startswith("x-")


def _problem(kind: str, text: str, path: Path) -> Problem:
    if kind == "not-finite":
        return Problem(NOT_FINITE, path, f"`{text}` is not a finite number")
    message = f"`{text}` reads as {_WORDS[kind]}"
    if kind in _TEXTS:
        return Problem(AMBIGUOUS_TEXT, path, message, f'quote it: "{text}"')
    return Problem(PLAIN_NUMBER, path, message)


def is_passed_through(path: Path, data: Any) -> bool:
    """Return True if the value at a path is passed through and not interpreted."""
    for step in path:
        if isinstance(step, str) and (step in _PASSED_THROUGH or step.startswith("x-")):
            return True
        data = data[step]
        if step in _STRUCTURED and isinstance(data, dict):
            return True
    return False
