"""What is wrong with a configuration or a targets file: its shape, and what no schema can say."""

from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.text.suggestions import did_you_mean
from rubric_ci.validation.agentv import (
    conflicting_aliases,
    normalise_keys,
    snake_case,
    snake_cased,
    to_original_key,
    to_original_path,
)
from rubric_ci.validation.ambiguous_scalars import ambiguous_scalar_problems
from rubric_ci.validation.config_summary import JUDGE_KEYS
from rubric_ci.validation.rule_ids import RULES
from rubric_ci.validation.schema import problems as schema_problems
from rubric_ci.validation.target_rules import NAMES, Names, is_idle, is_model, target_rules
from rubric_ci.yaml_text.document import Document
from rubric_ci.yaml_text.problems import Path, Problem

_KNOWN: Final = (
    *("name", "provider", "model", "api_key", "api_base", "temperature", "concurrency"),
    *("judge_target", "grader_target", "timeout_seconds", "depends_on", "max_tokens", "settings"),
)


def config_problems(
    document: Document, *, targets_only: bool = False, others: Names | None = None
) -> Iterator[Problem]:
    """Yield what is wrong; a targets file has no keys but `targets`.

    `others` are the targets of other files; without it, judges are not looked for.
    """
    if not document.readable:
        return
    respelt_problems = schema_problems("config", _Respelt(document))
    found = [to_original_key(problem, document.data) for problem in respelt_problems]
    data = document.data if isinstance(document.data, dict) else {}
    if targets_only:
        found.extend(_not_of_targets(data))
    found.extend(_judge(data.get("judge")))
    found.extend(_targets(data.get("targets")))
    found.extend(target_rules(data.get("targets"), others))
    found.extend(_thresholds(data.get("gate")))
    found.extend(_rules(data.get("rules")))
    found.extend(ambiguous_scalar_problems(document, found))
    yield from _said_once(found)


class _Respelt:
    """A document whose keys in camelCase are the names that they mean."""

    def __init__(self, document: Document) -> None:
        self.data = normalise_keys(document.data)
        self._document = document

    def written(self, path: Path) -> str | None:
        """Return the scalar at a path as it is written."""
        return self._document.written(to_original_path(path, self._document.data))


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
    yield from conflicting_aliases(judge, ("judge",))
    yield from _secret(judge, ("judge",))
    known = (*_KNOWN, *JUDGE_KEYS)
    yield from _misspelt(judge, ("judge",), known)


def _targets(targets: Any) -> Iterator[Problem]:
    for index, target in enumerate(targets if isinstance(targets, list) else ()):
        if isinstance(target, dict):
            path: Path = ("targets", index)
            yield from _secret(target, path)
            if is_model(target):
                yield from _misspelt(target, path, _KNOWN)


def _secret(owner: dict[str, Any], path: Path) -> Iterator[Problem]:
    for key in ("api_key", "apiKey"):
        value = owner.get(key)
        if isinstance(value, str) and value.strip() and "${{" not in value:
            message = f"`{key}` holds a literal value"
            yield Problem("literal-secret", (*path, key), message)


def _misspelt(owner: dict[str, Any], path: Path, known: tuple[str, ...]) -> Iterator[Problem]:
    """Warn of keys that are handed to the model call and look like a setting of ours."""
    meant = snake_cased(owner)
    for key in owner:
        name = snake_case(key)
        if name not in known and not name.startswith("x-") and not is_idle(name):
            free = [other for other in known if other not in meant]
            missing = ["model"] if meant.keys().isdisjoint(NAMES) else []
            hint = did_you_mean(name, missing) or did_you_mean(name, free)
            if hint:
                message = f"`{key}` is handed on as it is"
                yield Problem("similar-key", (*path, key), message, hint, at_key=True)


def _said_once(found: list[Problem]) -> list[Problem]:
    """Let a misspelt setting take the place of the missing one that it means."""
    missing = {(p.path, p.message): p for p in found if p.rule == "missing-key"}
    told = []
    for problem in found:
        name = problem.hint.removeprefix("did you mean ").removesuffix("?")
        owner, key = problem.path[:-1], problem.path[-1] if problem.path else ""
        wanted = [at for at in missing if at[0] == owner and at[1].endswith(f" has no {name}")]
        if problem.rule in {"similar-key", "unused-setting"} and wanted:
            message = f"{missing.pop(wanted[0]).message}, but `{key}`"
            told.append(problem._replace(rule="missing-key", message=message))
        elif problem.rule != "missing-key":
            told.append(problem)
    return [*missing.values(), *told]


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
