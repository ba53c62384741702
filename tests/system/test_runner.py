"""Whether a runner of GitHub Actions reads the output."""

import pytest

from rubric_ci.system.runner import in_workflow


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"GITHUB_ACTIONS": "true"}, True),
        ({"GITHUB_ACTIONS": "false"}, False),
        ({"GITHUB_ACTIONS": ""}, False),
        ({"CI": "true"}, False),
    ],
)
def test_in_a_workflow(environment: dict[str, str], *, expected: bool) -> None:
    assert in_workflow(environment) is expected
