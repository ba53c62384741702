"""The command that installs an extra is that of the tool that installed rubric-ci."""

import pytest

from rubric_ci.system.installation import install_command


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("/home/ada/shop/.venv", "pip install 'rubric-ci[judge]'"),
        ("/home/ada/.local/share/uv/tools/rubric-ci", "uv tool install 'rubric-ci[judge]'"),
        ("C:\\Users\\Ada\\AppData\\uv\\tools\\rubric-ci", "uv tool install 'rubric-ci[judge]'"),
        ("/home/ada/.local/pipx/venvs/rubric-ci", "pipx install --force 'rubric-ci[judge]'"),
    ],
)
def test_the_command(prefix: str, expected: str) -> None:
    assert install_command("judge", prefix) == expected
