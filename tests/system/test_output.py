"""Whether a stream takes colours, and where its lines end."""

from io import StringIO
from typing import TextIO

import pytest

from rubric_ci.system.output import use_color, wrapped


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
