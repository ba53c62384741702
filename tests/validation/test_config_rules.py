"""A misspelt key and the missing one that it means are one problem; no message is parsed for it."""

import pytest

from rubric_ci.validation.validator import check_config
from rubric_ci.yaml_text.document import Document

MISSPELT = {
    "a setting of the model call": (
        "judge: {mdel: openai/a}\n",
        False,
        ["missing-key: `judge` has no `model`, but `mdel`; did you mean `model`?"],
    ),
    "a setting of a command": (
        "targets: [{name: a, provider: cli, comand: x}]\n",
        False,
        [
            "missing-key: the target has no `command_template`; ",
            "unused-setting: `comand` has no effect on a command; did you mean `command`?",
        ],
    ),
    "the only key of a targets file": (
        "target: [{name: a, model: openai/a}]\n",
        True,
        ["missing-key: the file has no `targets`, but `target`; did you mean `targets`?"],
    ),
    "a key that is not missing": (
        "judge: {model: openai/a, temprature: 0}\n",
        False,
        [
            (
                "similar-key: `temprature` is not a known setting and is passed to the model call "
                "unchanged; did you mean `temperature`?"
            )
        ],
    ),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "judge: {model: gpt-4.1-mini}\n",
            ["the model `gpt-4.1-mini` has no provider; did you mean `openai/gpt-4.1-mini`?"],
            id="judge",
        ),
        pytest.param(
            "targets: [{name: a, model: claude-sonnet-4}]\n",
            [
                (
                    "the model `claude-sonnet-4` has no provider; "
                    "did you mean `anthropic/claude-sonnet-4`?"
                )
            ],
            id="target",
        ),
        pytest.param("judge: {model: openai/gpt-4.1-mini}\n", [], id="with its provider"),
        pytest.param("targets: [{name: a, provider: openai, model: gpt-4.1}]\n", [], id="provider"),
        pytest.param("judge: {model: my-own}\n", [], id="an unknown name"),
    ],
)
def test_a_model_without_a_provider(text: str, expected: list[str]) -> None:
    found = [d for d in check_config(Document("a.yaml", text)) if d.rule == "model-provider"]
    assert [f"{d.message}; {d.hint}" for d in found] == expected
    assert {d.severity.value for d in found} <= {"warning"}


@pytest.mark.parametrize(
    ("text", "targets_only", "expected"), MISSPELT.values(), ids=MISSPELT.keys()
)
def test_misspelt_keys(text: str, *, targets_only: bool, expected: list[str]) -> None:
    found = check_config(Document("a.yaml", text), targets_only=targets_only)
    assert [f"{d.rule}: {d.message}; {d.hint}" for d in found] == expected
