"""Report files, and files that are none."""

import sys
from pathlib import Path
from subprocess import run

import pytest

from rubric_ci.errors import UserError
from rubric_ci.report import json_format
from rubric_ci.report.report_file import read_report
from tests.sample_reports import a_report, graded


def test_a_report_is_read(tmp_path: Path) -> None:
    report = a_report(graded("a", "pass"))
    file = tmp_path / "report.json"
    file.write_text(json_format.render(report))
    assert read_report(file) == report


@pytest.mark.parametrize("text", [None, "[]", "{"], ids=["missing", "a list", "broken"])
def test_another_file_is_refused_by_name(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "report.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError) as caught:
        read_report(file)
    assert any(path in caught.value.message for path in (str(file), file.as_posix()))
    if text is None:
        assert "rubric-ci run" in caught.value.hint


def test_no_comparison_is_loaded() -> None:
    script = "import sys, rubric_ci.report.report_file; print(*sys.modules, sep='\\n')"
    loaded = run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    heavy = {"rubric_ci.comparison.compare", "rubric_ci.render.formats", "rich"}
    assert heavy.isdisjoint(loaded.split())


@pytest.mark.parametrize(
    ("name", "command"),
    [("report.json", "rubric-ci run"), ("reference", "rubric-ci baseline keep")],
)
def test_a_missing_file_names_the_command_that_writes_it(
    tmp_path: Path, name: str, command: str
) -> None:
    with pytest.raises(UserError) as caught:
        read_report(tmp_path / name)
    assert caught.value.hint == f"`{command}` writes it"
