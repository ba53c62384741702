"""The name of one of several suites: what identifies its comment."""

from pathlib import Path
from typing import Any

import pytest

from rubric_ci.files.project.suite_name import comment_of_suite, suite_of
from rubric_ci.values.command_settings import CommentSettings, SelectOptions
from tests.checkout import start_repository


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, ""),
        ({"config": "rubric-ci.yaml"}, ""),
        ({"config": "packages/bot/rubric-ci.yaml"}, "packages/bot"),
        ({"config": "./packages/bot/rubric-ci.yml"}, "packages/bot"),
        ({"config": "evals/nightly.yaml"}, "evals/nightly"),
        ({"config": "nightly.yaml"}, "nightly"),
        ({"paths": ("evals/chat/",)}, "evals/chat"),
        ({"paths": ("evals/a.yaml", "evals/b.yaml")}, "evals/a.yaml evals/b.yaml"),
        ({"paths": ("x" * 61,)}, f"{'x' * 51}-c508e75f"),
    ],
)
def test_the_name_of_a_suite(
    given: dict[str, Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    if "config" in given:
        given = given | {"config": Path(given["config"])}
    select = SelectOptions(**given)
    assert comment_of_suite(CommentSettings(), select).key == name
    assert comment_of_suite(CommentSettings(key="bot"), select).key == "bot"


def test_a_configuration_has_a_full_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So two jobs with the same `working-directory` and `config` have the same key."""
    start_repository(tmp_path)
    (tmp_path / "packages/bot").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "packages/bot")
    assert suite_of(Path("rubric-ci.yaml"), ()) == "packages/bot"
