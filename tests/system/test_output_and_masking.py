"""Whether a stream takes colours, and where its lines end."""

import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import TextIO

import pytest

from rubric_ci.system import output_and_masking
from rubric_ci.system.output_and_masking import use_color, wrapped
from tests.sample_project import clean_environment


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "expected"),
    [
        (StringIO(), {}, False),
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (Terminal(), {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (StringIO(), {"FORCE_COLOR": "1"}, True),
        (StringIO(), {"FORCE_COLOR": ""}, False),
        (StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
    ids=[
        *("a pipe", "a terminal", "NO_COLOR", "empty", "dumb", "dumb and forced"),
        *("FORCE_COLOR", "empty too", "both"),
    ],
)
def test_use_color(stream: TextIO, environment: dict[str, str], expected: bool) -> None:
    assert use_color(stream, environment) is expected


def test_lines_end_at_a_word_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    text = "rubric-ci: the judge is not configured\n  set `judge:`\n"
    assert wrapped(text, StringIO()) == text
    assert wrapped(text, Terminal()) == (
        "rubric-ci: the judge is\n  not configured\n  set `judge:`\n"
    )
    assert wrapped("at https://example.com/a-long-path-of-words", Terminal()) == (
        "at\n  https://example.com/a-long-path-of-words"
    )


MASKS = (
    "from rubric_ci.system.output_and_masking import mask_on_runner; "
    "masks = ['100% secret', 'line one\\nline two', 'short']; "
    "mask_on_runner(masks); mask_on_runner(masks)"
)


def test_the_environment_of_the_moment_and_what_was_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_and_masking, "_hidden", set())
    assert output_and_masking.redact("first-key added-value") == "first-key added-value"
    monkeypatch.setenv("AN_API_KEY", "first-key")
    output_and_masking.hide(["added-value"])
    assert output_and_masking.redact("first-key added-value") == "*** ***"


@pytest.mark.parametrize(
    ("on_actions", "to_file", "masked"),
    [
        ("true", False, "::add-mask::100%25 secret\n::add-mask::line one\n::add-mask::line two\n"),
        ("true", True, ""),
        ("", False, ""),
    ],
    ids=["runner", "runner-to-a-file", "elsewhere"],
)
def test_mask_on_runner(on_actions: str, to_file: bool, masked: str, tmp_path: Path) -> None:
    path = tmp_path / "stderr"
    with path.open("w") as file:
        done = subprocess.run(
            [sys.executable, "-c", MASKS],
            env=clean_environment() | {"GITHUB_ACTIONS": on_actions},
            stdout=subprocess.PIPE,
            stderr=file if to_file else subprocess.PIPE,
            text=True,
            timeout=60,
            check=True,
        )
    assert done.stdout == ""
    assert (path.read_text() if to_file else done.stderr) == masked
