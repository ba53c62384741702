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
    ("text", "targets_only", "expected"), MISSPELT.values(), ids=MISSPELT.keys()
)
def test_misspelt_keys(text: str, *, targets_only: bool, expected: list[str]) -> None:
    found = check_config(Document("a.yaml", text), targets_only=targets_only)
    assert [f"{d.rule}: {d.message}; {d.hint}" for d in found] == expected
