"""Keys in camelCase: which name each means, and the way back to what is written."""

import pytest

from rubric_ci.validation.agentv import normalise_keys, snake_case, to_original_path


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("timeoutSeconds", "timeout_seconds"),
        ("apiV2Key", "api_v2_key"),
        ("cwd", "cwd"),
        ("command_template", "command_template"),
        ("CWD", "CWD"),
        ("Name", "Name"),
        ("x-ownKey", "x-ownKey"),
        ("", ""),
    ],
)
def test_snake_case(key: str, name: str) -> None:
    assert snake_case(key) == name


def test_judge_targets_and_health_checks_are_respelt_and_nothing_else() -> None:
    written = {
        "judge": {"apiKey": "k", "extraBody": {"someKey": 1}},
        "targets": [{"healthcheck": {"timeoutSeconds": 1, "waitFor": 2}}, "text"],
        "failOn": 1,
    }
    assert normalise_keys(written) == {
        "judge": {"api_key": "k", "extra_body": {"someKey": 1}},
        "targets": [{"healthcheck": {"timeout_seconds": 1, "waitFor": 2}}, "text"],
        "failOn": 1,
    }
    path = ("targets", 0, "healthcheck", "timeout_seconds")
    assert to_original_path(path, written) == ("targets", 0, "healthcheck", "timeoutSeconds")
    assert to_original_path(("judge", "gone", 1), written) == ("judge", "gone", 1)


@pytest.mark.parametrize("data", [None, [], "text", {"judge": "m", "targets": {}}])
def test_other_shapes_stay(data: object) -> None:
    assert normalise_keys(data) == data
