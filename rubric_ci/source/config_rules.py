"""What is wrong with a configuration or a targets file: its shape, and what no schema can say."""

import re
from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.model.rulebook import RULES
from rubric_ci.source.document import Document
from rubric_ci.source.nearest import did_you_mean
from rubric_ci.source.oddities import oddity_problems
from rubric_ci.source.problem import Path, Problem
from rubric_ci.source.schema import problems as schema_problems

PLACEHOLDERS: Final = ("PROMPT", "GUIDELINES", "EVAL_ID", "ATTEMPT", "FILES", "OUTPUT_FILE")

_PLACEHOLDER = re.compile(r"(?<![$\w{])\{([A-Z_]+)\}")
_KNOWN: Final = (
    *("name", "provider", "model", "api_key", "api_base", "temperature", "concurrency"),
    *("judge_target", "timeout_seconds", "depends_on", "max_tokens"),
)
_OF_CLI: Final = ("command_template", "command", "cwd", "env", "healthcheck")


def config_problems(document: Document, *, targets_only: bool = False) -> Iterator[Problem]:
    """Yield what is wrong; a targets file has no keys but `targets`."""
    if not document.readable:
        return
    found = schema_problems("config", document)
    data = document.data if isinstance(document.data, dict) else {}
    if targets_only:
        found.extend(_not_of_targets(data))
    found.extend(_judge(data.get("judge")))
    found.extend(_targets(data.get("targets")))
    found.extend(_thresholds(data.get("gate")))
    found.extend(_rules(data.get("rules")))
    found.extend(oddity_problems(document, found))
    yield from found


def _not_of_targets(data: dict[str, Any]) -> Iterator[Problem]:
    for key in ("evals", "judge", "gate", "rules"):
        if key in data:
            message = f"a targets file has no `{key}`"
            yield Problem("unknown-key", (key,), message, "move it to rubric-ci.yaml", at_key=True)
    if "targets" not in data:
        yield Problem("missing-key", (), "the file has no `targets`")


def _judge(judge: Any) -> Iterator[Problem]:
    if not isinstance(judge, dict):
        return
    votes = judge.get("votes")
    if isinstance(votes, int) and votes > 0 and votes % 2 == 0:
        yield Problem("votes-even", ("judge", "votes"), f"`votes` must be odd, not {votes}")
    yield from _secret(judge, ("judge",))
    known = (*_KNOWN, "mode", "output", "evidence", "votes", "canary")
    yield from _misspelt(judge, ("judge",), known)


def _targets(targets: Any) -> Iterator[Problem]:
    if not isinstance(targets, list):
        return
    names = [target.get("name") for target in targets if isinstance(target, dict)]
    for index, target in enumerate(targets):
        if not isinstance(target, dict):
            continue
        path: Path = ("targets", index)
        yield from _secret(target, path)
        if isinstance(target.get("name"), str) and target["name"] in names[:index]:
            message = f"the name `{target['name']}` is taken by an earlier target"
            yield Problem("target-name-duplicate", (*path, "name"), message)
        if target.get("provider") == "cli":
            yield from _placeholders(target, path)
            yield from _misspelt(target, path, (*_KNOWN, *_OF_CLI))
        else:
            yield from _misspelt(target, path, (*_KNOWN, "answers", "response"))


def _placeholders(target: dict[str, Any], path: Path) -> Iterator[Problem]:
    for key in ("command_template", "commandTemplate", "command"):
        template = target.get(key)
        for name in _PLACEHOLDER.findall(template) if isinstance(template, str) else ():
            if name not in PLACEHOLDERS:
                message = f"`{{{name}}}` is not filled in"
                known = ", ".join(f"{{{placeholder}}}" for placeholder in PLACEHOLDERS)
                hint = _did_you_mean(name) or f"known are {known}"
                yield Problem("unknown-placeholder", (*path, key), message, hint)


def _did_you_mean(name: str) -> str:
    hint = did_you_mean(name, [known.lower() for known in PLACEHOLDERS])
    return re.sub("`(.*)`", lambda found: f"`{{{found[1].upper()}}}`", hint)


def _secret(owner: dict[str, Any], path: Path) -> Iterator[Problem]:
    for key in ("api_key", "apiKey"):
        value = owner.get(key)
        if isinstance(value, str) and value.strip() and "${{" not in value:
            message = f"`{key}` holds a literal value"
            yield Problem("literal-secret", (*path, key), message)


def _misspelt(owner: dict[str, Any], path: Path, known: tuple[str, ...]) -> Iterator[Problem]:
    """Warn of keys that are handed to the model call and look like a setting of ours."""
    for key in owner:
        if key not in known and not key.startswith("x-"):
            hint = did_you_mean(key, [name for name in known if name not in owner])
            if hint and not _is_another_spelling(key, hint):
                message = f"`{key}` is handed on as it is"
                yield Problem("similar-key", (*path, key), message, hint, at_key=True)


def _is_another_spelling(key: str, hint: str) -> bool:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower() in hint


def _thresholds(gate: Any) -> Iterator[Problem]:
    thresholds = gate.get("thresholds") if isinstance(gate, dict) else None
    if not isinstance(thresholds, dict):
        return
    high, low = thresholds.get("pass", 0.8), thresholds.get("borderline", 0.6)
    if isinstance(high, int | float) and isinstance(low, int | float) and low > high:
        message = f"`borderline` ({low}) is above `pass` ({high})"
        yield Problem("threshold-order", ("gate", "thresholds"), message)


def _rules(rules: Any) -> Iterator[Problem]:
    for name in rules if isinstance(rules, dict) else ():
        if name not in RULES:
            hint = did_you_mean(name, RULES)
            yield Problem("unknown-rule", ("rules", name), f"no rule `{name}`", hint, at_key=True)
