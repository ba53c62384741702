"""Rules of a judge that is a command."""

from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.model.judge_cli import COMMAND_KEYS
from rubric_ci.model.rules import Rule
from rubric_ci.validation.agentv import snake_case
from rubric_ci.validation.config_summary import JUDGE_KEYS
from rubric_ci.yaml_text.problems import Problem

JUDGE_COMMAND: Final = Rule(
    id="judge-command",
    meaning=(
        "A judge that is a command takes no parameters of a model request: rubric-ci cannot pass "
        "them on, and would mark with other ones than those that are written."
    ),
    hint="remove the key, or name a model in place of the command",
    bad="judge: {cli: claude-code, model: claude-sonnet-5-5, temperature: 0}\n",
    good="judge: {cli: claude-code, model: claude-sonnet-5-5}\n",
)
JUDGE_WITHOUT_MODEL: Final = Rule(
    id="judge-without-model",
    severity="warning",
    switchable=True,
    meaning=(
        "Without `model` a command-line tool marks with its default, which changes with its "
        "version or the account, and marks change with it."
    ),
    hint="set `model` to one of the models of the tool",
    bad="judge: {cli: claude-code}\n",
    good="judge: {cli: claude-code, model: claude-sonnet-5-5}\n",
)


def judge_command_problems(judge: dict[str, Any]) -> Iterator[Problem]:
    """Yield the keys that a judge that is a command cannot have, and a missing model."""
    kind = "cli" if "cli" in judge else "command"
    other = ("command",) if kind == "cli" else ("cli", "model")
    known = {*COMMAND_KEYS, *JUDGE_KEYS} - {"output", *other}
    for key in judge:
        if snake_case(key) not in known and not key.startswith("x-"):
            message = f"`{key}` has no effect on a judge with `{kind}`"
            yield Problem(JUDGE_COMMAND, ("judge", key), message, at_key=True)
    if kind == "cli" and "model" not in judge:
        message = f"`cli: {judge['cli']}` has no `model`"
        yield Problem(JUDGE_WITHOUT_MODEL, ("judge", "cli"), message)
