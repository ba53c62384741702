"""Keys in camelCase: which name each means, and the way back to what is written."""

from collections.abc import Mapping

import pytest

from rubric_ci.files.validation.agentv import (
    guideline_matcher,
    guideline_problems,
    normalise_keys,
    snake_case,
    to_original_path,
)
from rubric_ci.values.references import Found, Lookup, NotFound


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


def lookup(files: Mapping[str, str]) -> Lookup:
    def find(name: str) -> Found | NotFound:
        return Found(name, files[name]) if name in files else NotFound("no such file")

    return find


def config(text: str) -> Lookup:
    return lookup({".agentv/config.yaml": text})


@pytest.mark.parametrize(
    ("text", "path", "matches"),
    [
        ("guideline_patterns: ['**/*.instructions.md']", "python.instructions.md", True),
        ("guideline_patterns: ['**/*.instructions.md']", "a/b/python.instructions.md", True),
        ("guideline_patterns: ['**/*.instructions.md']", "a/python.md", False),
        ("guideline_patterns: ['*.md']", "a/python.md", False),
        ("guideline_patterns: ['**/rules/**', '*.txt']", "a/rules/b/c.md", True),
        ("guideline_patterns: ['docs/*.{md,txt}']", "docs/a.txt", True),
        ("guideline_patterns: ['docs/*.{md,txt}']", "docs/a.py", False),
        ("guideline_patterns: ['{a,b}/*.{md,txt}']", "b/c.md", True),
        ("guideline_patterns: []", "a.md", False),
        ("$schema: agentv-config-v2", "a.instructions.md", False),
        ("", "a.instructions.md", False),
    ],
)
def test_patterns_count_from_the_root(text: str, path: str, matches: bool) -> None:
    assert guideline_matcher(config(text))(path) is matches
    assert list(guideline_problems(config(text))) == []


def test_without_a_configuration_no_file_is_a_guideline() -> None:
    assert not guideline_matcher(lookup({}))("a.instructions.md")


WRONG = "`guideline_patterns` of .agentv/config.yaml is not a list of texts"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("guideline_patterns: '*.md'", WRONG, id="text"),
        pytest.param("guideline_patterns: [1]", WRONG, id="number"),
        pytest.param("guideline_patterns:", WRONG, id="nothing"),
        pytest.param("- a", WRONG, id="a-list"),
        pytest.param(
            "a: [", ".agentv/config.yaml:1: the file ends in the middle of a value", id="not-yaml"
        ),
    ],
)
def test_patterns_that_cannot_be_read_are_a_problem(text: str, message: str) -> None:
    [problem] = guideline_problems(config(text))
    assert problem.message == message
    assert not guideline_matcher(config(text))("a.md")
