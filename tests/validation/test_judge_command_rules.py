"""Rules of a judge that is a command."""

import pytest

from rubric_ci.model.judge_cli import CREDENTIALS
from rubric_ci.validation.validator import check_config
from rubric_ci.yaml_text.document import Document

NO_EFFECT = "judge-command `{}` has no effect on a judge with `{}`"


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        ("{cli: claude-code, model: m, votes: 3, canary: false, env: [T], concurrency: 1}", []),
        ("{command: [my-judge, --json], timeout_seconds: 9, mode: isolated, x-a: 1}", []),
        ("{cli: codex}", ["judge-without-model `cli: codex` has no `model`"]),
        ("{cli: codex, model: m, temperature: 0}", [NO_EFFECT.format("temperature", "cli")]),
        ("{cli: codex, model: m, output: prompt}", [NO_EFFECT.format("output", "cli")]),
        ("{cli: codex, model: m, command: [a]}", [NO_EFFECT.format("command", "cli")]),
        ("{command: [a], model: m}", [NO_EFFECT.format("model", "command")]),
        ("{command: [a], apiKey: k}", [NO_EFFECT.format("apiKey", "command")]),
        (
            "{cli: claude, model: m}",
            [
                "unknown-value `cli` must be one of "
                + ", ".join(f"`{name}`" for name in CREDENTIALS)
                + ", not the text `claude`"
            ],
        ),
    ],
)
def test_a_judge_that_is_a_command(judge: str, expected: list[str]) -> None:
    found = check_config(Document("a.yaml", f"judge: {judge}\n"))
    assert [f"{each.rule} {each.message}" for each in found] == expected
