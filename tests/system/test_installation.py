"""The command that installs an extra is that of the tool that installed rubric-ci."""

import pytest

from rubric_ci.system.installation import install_command

HOOK = (
    "add `additional_dependencies: ['google-auth>=2.40', "
    "'litellm!=1.82.7,!=1.82.8,>=1.80']` to the hook"
)


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("/home/ada/shop/.venv", "pip install 'rubric-ci[judge]'"),
        ("/home/ada/.local/share/uv/tools/rubric-ci", "uv tool install 'rubric-ci[judge]'"),
        ("C:\\Users\\Ada\\AppData\\uv\\tools\\rubric-ci", "uv tool install 'rubric-ci[judge]'"),
        ("/home/ada/.local/pipx/venvs/rubric-ci", "pipx install --force 'rubric-ci[judge]'"),
        ("/home/ada/.cache/pre-commit/repo1a/py_env-python3.12", HOOK),
        ("/home/ada/.cache/prek/hooks/python-1a", HOOK),
    ],
)
def test_the_command(prefix: str, expected: str) -> None:
    assert install_command("judge", prefix) == expected
