"""Names of the files that serve an eval file, from its folder upwards."""

import pytest

from rubric_ci.files.project.file_kinds import (
    CONFIG_NAMES,
    agentv_configs,
    folder_served,
    is_targets_file,
    sidecar_name,
    targets_candidates,
)


@pytest.mark.parametrize(
    ("name", "sidecar"),
    [("evals/a.jsonl", "evals/a.yaml"), ("a.eval.jsonl", "a.eval.yaml"), ("a.yaml", ""), ("a", "")],
)
def test_the_suite_fields_of_json_lines(name: str, sidecar: str) -> None:
    assert sidecar_name(name) == sidecar


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("targets.yaml", ""),
        ("a/targets.yaml", "a"),
        (".agentv/targets.yaml", ""),
        ("a/.agentv/targets.yaml", "a"),
        ("a/.agentv/b/targets.yaml", "a/.agentv/b"),
    ],
)
def test_the_folder_that_a_targets_file_serves(name: str, folder: str) -> None:
    assert folder_served(name) == folder


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("", [".agentv/config.yaml"]),
        ("a/b", ["a/b/.agentv/config.yaml", "a/.agentv/config.yaml", ".agentv/config.yaml"]),
        ("../a/b", ["../a/b/.agentv/config.yaml"]),
        ("..", ["../.agentv/config.yaml"]),
        ("..a", ["..a/.agentv/config.yaml", ".agentv/config.yaml"]),
        ("/a/b", ["/a/b/.agentv/config.yaml"]),
    ],
)
def test_the_configurations_of_agentv(folder: str, expected: list[str]) -> None:
    assert list(agentv_configs(folder)) == expected


def test_the_configuration_in_the_order_of_preference() -> None:
    assert CONFIG_NAMES == ("rubric-ci.yaml", "rubric-ci.yml")


def test_the_targets_files() -> None:
    assert list(targets_candidates("a")) == [
        "a/targets.yaml",
        "a/targets.yml",
        "a/.agentv/targets.yaml",
        "a/.agentv/targets.yml",
        "a/.agentv/providers.yaml",
        "a/.agentv/providers.yml",
        "targets.yaml",
        "targets.yml",
        ".agentv/targets.yaml",
        ".agentv/targets.yml",
        ".agentv/providers.yaml",
        ".agentv/providers.yml",
    ]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("targets.yml", True),
        ("a/targets.yaml", True),
        ("a/.agentv/providers.yaml", True),
        ("providers.yaml", False),
        ("a.agentv/providers.yaml", False),
        (".agentv/config.yaml", False),
    ],
)
def test_a_targets_file_by_its_name(name: str, found: bool) -> None:
    assert is_targets_file(name) is found
