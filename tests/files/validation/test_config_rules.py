"""A misspelt key and the missing one that it means are one problem; no message is parsed for it."""

import pytest

from rubric_ci.files.validation.validator import check_config
from rubric_ci.files.yaml_text.document import Document

MISSPELT = {
    "a setting of the model call": (
        "judge: {mdel: openai/a}\n",
        False,
        "missing-key: `judge` has no `model`, but `mdel`; did you mean `model`?",
    ),
    "a setting of a command": (
        "targets: [{name: a, provider: cli, comand: x}]\n",
        False,
        (
            "missing-key: the target has no `command_template`; \n"
            "unused-setting: `comand` has no effect on a command; did you mean `command`?"
        ),
    ),
    "the only key of a targets file": (
        "target: [{name: a, model: openai/a}]\n",
        True,
        "missing-key: the file has no `targets`, but `target`; did you mean `targets`?",
    ),
    "a key that is not missing": (
        "judge: {model: openai/a, temprature: 0}\n",
        False,
        (
            "similar-key: `temprature` is not a known setting and is passed to the model call "
            "unchanged; did you mean `temperature`?"
        ),
    ),
}


@pytest.mark.parametrize(("text", "targets_only", "expected"), MISSPELT.values(), ids=MISSPELT)
def test_misspelt_keys(text: str, *, targets_only: bool, expected: str) -> None:
    found = check_config(Document("a.yaml", text), targets_only=targets_only)
    assert "\n".join(f"{d.rule}: {d.message}; {d.hint}" for d in found) == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("variants: 1", "`variants` must be `true` or `false`, not `1`"),
        ("repeated: never", "`repeated` must be one of `broken`, `note`, not the text `never`"),
        ("cluster: topic", "`cluster` cannot be `topic`"),
        ("cluster: 'tag:'", "`cluster` cannot be `tag:`"),
        ("repeeted: note", "unknown key `repeeted` in `regression`"),
    ],
)
def test_settings_of_the_comparison(settings: str, expected: str) -> None:
    (found,) = check_config(Document("a.yaml", f"regression: {{{settings}}}\n"))
    assert found.message == expected
    if settings.startswith("cluster"):
        assert found.hint == "write a value such as `file` or `tag:topic-*`"


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("${OPENAI_API_KEY}", "did you mean `${{ OPENAI_API_KEY }}`?"),
        ("$OPENAI_API_KEY", "did you mean `${{ OPENAI_API_KEY }}`?"),
        ("$env:KEY", "did you mean `${{ KEY }}`?"),
        ("%KEY%", "did you mean `${{ KEY }}`?"),
        ("sk-1", "write `${{ NAME }}` and set the environment variable NAME"),
    ],
)
def test_a_variable_of_a_shell_is_no_key(value: str, hint: str) -> None:
    text = f'judge: {{model: openai/m, api_key: "{value}"}}\n'
    assert [d.hint for d in check_config(Document("a.yaml", text))] == [hint]


def test_prices_are_known_settings() -> None:
    prices = "input_cost_per_token: 1.0e-6, output_cost_per_token: 2.0e-6"
    text = f"judge: {{model: my-own, {prices}}}\ntargets: [{{name: a, model: own, {prices}}}]\n"
    assert not list(check_config(Document("a.yaml", text)))


@pytest.mark.parametrize(("targets_only", "rules"), [(False, ["agent-provider"]), (True, [])])
def test_an_agent_by_name(*, targets_only: bool, rules: list[str]) -> None:
    text = "targets: [{name: a, provider: claude-sdk}, {name: b, provider: claude-code}]\n"
    found = check_config(Document("a.yaml", text), targets_only=targets_only)
    assert [d.rule for d in found] == rules
