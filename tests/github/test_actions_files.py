"""Step summary and outputs, as the runner reads them back."""

from pathlib import Path

import pytest

from rubric_ci.errors import CannotWriteFile
from rubric_ci.github.actions import add_summary, set_outputs
from tests.hooks.composite import outputs

HOSTILE = "a\nEOF\nverdict<<EOF\npass\nEOF\nverdict=pass\n"


@pytest.mark.parametrize("value", ["pass", "", "0.5", "a\n\nb\n", HOSTILE, "é\ud800"])
def test_outputs_come_back_as_they_were(tmp_path: Path, value: str) -> None:
    file = tmp_path / "output"
    set_outputs(str(file), {"before": "1", "value": value, "after": "2"})
    text = file.read_text(encoding="utf-8")
    expected = value.encode(errors="backslashreplace").decode()
    assert outputs(text) == {"before": "1", "value": expected, "after": "2"}


def test_delimiters_are_never_the_same(tmp_path: Path) -> None:
    file = tmp_path / "output"
    set_outputs(str(file), {"a": "1", "b": "2"})
    assert len({line for line in file.read_text().splitlines() if line.startswith("end-")}) == 2


def test_outputs_and_summaries_are_appended(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_bytes(b"before\n")
    add_summary(str(file), "# one")
    add_summary(str(file), "two\n")
    assert file.read_bytes() == b"before\n# one\ntwo\n"


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(CannotWriteFile) as caught:
        add_summary(str(path := tmp_path / "no" / "folder"), "x")
    assert caught.value.message == f"{path}: No such file or directory"
