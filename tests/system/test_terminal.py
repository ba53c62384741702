"""Whether a stream takes colours."""

from io import StringIO
from typing import TextIO

import pytest

from rubric_ci.system.terminal import use_color


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
        (StringIO(), {"FORCE_COLOR": "1"}, True),
        (StringIO(), {"FORCE_COLOR": ""}, False),
        (StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
    ids=["a pipe", "a terminal", "NO_COLOR", "empty", "FORCE_COLOR", "empty too", "both"],
)
def test_use_color(stream: TextIO, environment: dict[str, str], expected: bool) -> None:
    assert use_color(stream, environment) is expected
