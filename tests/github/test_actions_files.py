"""Step summary and outputs, as the runner reads them back."""

from pathlib import Path

import pytest

from rubric_ci.errors import CannotWriteFile
from rubric_ci.github.actions import add_summary, set_outputs


def read_outputs(text: str) -> dict[str, str]:
    """Read a GITHUB_OUTPUT file by the runner's rules."""
    found = {}
    lines = iter(text.split("\n"))
    for line in lines:
        if not line:
            continue
        name, _, delimiter = line.partition("<<")
        value = []
        for entry in lines:
            if entry == delimiter:
                break
            value.append(entry)
        found[name] = "\n".join(value)
    return found


HOSTILE = "a\nEOF\nverdict<<EOF\npass\nEOF\nverdict=pass\n"


@pytest.mark.parametrize("value", ["pass", "", "0.5", "a\n\nb\n", HOSTILE, "é\ud800"])
def test_outputs_come_back_as_they_were(tmp_path: Path, value: str) -> None:
    file = tmp_path / "output"
    set_outputs(str(file), {"before": "1", "value": value, "after": "2"})
    text = file.read_text(encoding="utf-8")
    expected = value.encode(errors="backslashreplace").decode()
    assert read_outputs(text) == {"before": "1", "value": expected, "after": "2"}


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
