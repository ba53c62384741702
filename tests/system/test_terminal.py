"""Whether a stream takes colours."""

from io import StringIO
from typing import TextIO

import pytest

from rubric_ci.system.terminal import use_color


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "stream", "environment", "expected"),
    [
        ("always", StringIO(), {}, True),
        ("never", Terminal(), {}, False),
        ("auto", StringIO(), {}, False),
        ("auto", Terminal(), {}, True),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"NO_COLOR": ""}, True),
        ("always", Terminal(), {"NO_COLOR": "1"}, True),
    ],
    ids=["always", "never", "a pipe", "a terminal", "NO_COLOR", "NO_COLOR empty", "both"],
)
def test_use_color(
    choice: str, stream: TextIO, environment: dict[str, str], expected: bool
) -> None:
    assert use_color(choice, stream, environment) is expected
