"""Problems as SARIF, checked by the format's own validator."""

import json
from pathlib import Path

import pytest

from rubric_ci.files.validation.problem_formats import as_sarif
from rubric_ci.values.diagnostics import Diagnostic, Severity, Span
from tests import sarif_multitool
from tests.evals.__main__ import diagnostics, evals


@pytest.mark.slow
@sarif_multitool.INSTALLED
def test_no_error_and_no_warning(tmp_path: Path) -> None:
    every = [diagnostic for path in evals("invalid") for diagnostic in diagnostics(path)]
    of_rules = ({each.rule: each for each in some}.values() for some in (every, every[::-1]))
    found = [each for of_rule in of_rules for each in of_rule]  # the last and the first of each
    log = as_sarif(found, ["A note."])
    results = sarif_multitool.validate(tmp_path, log)
    serious = [r for r in results if r.get("level", "warning") in {"error", "warning"}]
    assert serious == []
    assert len(found) > 100


def test_nothing_found() -> None:
    run = json.loads(as_sarif([]))["runs"][0]
    assert run["results"] == []
    assert run["tool"]["driver"]["rules"] == []


@pytest.mark.parametrize(
    ("length", "column", "start"),
    [
        (90, 80, 0),
        (120, 1, 0),
        (5_000, 1, 0),
        (5_000, 61, 0),
        (5_000, 2_000, 1_939),
        (200, 200, 80),
    ],
)
def test_a_snippet_is_around_the_column(length: int, column: int, start: int) -> None:
    line = "".join(chr(0x4E00 + at) for at in range(length))
    found = Diagnostic(
        file="a.yaml",
        span=Span(7, column, 7, column + 1),
        rule="unknown-key",
        severity=Severity.ERROR,
        message="m",
        line_text=line,
    )
    (result,) = json.loads(as_sarif([found]))["runs"][0]["results"]
    snippet = result["locations"][0]["physicalLocation"]["region"]["snippet"]["text"]
    assert snippet == line[start : start + 120]
