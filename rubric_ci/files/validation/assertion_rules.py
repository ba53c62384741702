"""Rules of assertions that a schema cannot express: patterns, schemas and options."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.evaluators.assertions.call_patterns import tool_of
from rubric_ci.evaluators.assertions.json_data import schema_problem
from rubric_ci.evaluators.assertions.keys import SCHEMA_KEY, keys_of
from rubric_ci.evaluators.assertions.marking import TABLE
from rubric_ci.evaluators.assertions.row import CALLS
from rubric_ci.evaluators.kind import target_names
from rubric_ci.files.validation.config_summary import KnownTargets
from rubric_ci.files.validation.http_target_and_literal_rules import json_paths
from rubric_ci.files.validation.reference_rules import missing_file
from rubric_ci.files.validation.shape_rules import ASSERTION_OPTION
from rubric_ci.models.agents import AGENTS, named
from rubric_ci.models.agents.program import KINDS
from rubric_ci.text.suggestions import did_you_mean
from rubric_ci.values.problems import Path, Problem, Rule, mappings, with_rubrics
from rubric_ci.values.references import Found, Lookup, NearFile

ASSERTION_VALUE: Final = Rule(
    id="assertion-value",
    meaning=(
        "The value of an assertion cannot be used: a regular expression is not in the syntax of "
        "RE2, which has no lookaround and no backreferences, or a JSON Schema is not complete in "
        "itself."
    ),
    hint="write a value that can be checked",
    bad=with_rubrics('- matches: "(?=refund)"'),
    good=with_rubrics("- matches: refund"),
)
CALLS_NOT_REPORTED: Final = Rule(
    id="calls-not-reported",
    severity="warning",
    switchable=True,
    meaning=(
        "An assertion about calls of tools needs a target that reports them: an agent, a command "
        "with `trace` or `output_messages`, or a service with `tool_calls`. Without them its cases "
        "are errored."
    ),
    hint="name a target that reports its calls, such as an agent or a command",
)
UNKNOWN_TOOL: Final = Rule(
    id="unknown-tool",
    severity="warning",
    switchable=True,
    meaning=(
        "An assertion names a tool that the agent of its cases does not have, so that it can hold "
        "for no reason, or never. `shell`, `edit`, `read` and `web` mean the tools of every agent."
    ),
    hint="name a tool of the agent",
)
_NO_TOOLS: Final = frozenset(("max_calls", "skill_used"))
_HINTS: Final = {
    SCHEMA_KEY: "write a JSON Schema that loads nothing and whose patterns have no lookaround",
    "matches": "https://github.com/google/re2/wiki/Syntax lists what a pattern can have",
}


def assertion_problems(
    data: Any, lookup: Lookup, near_file: NearFile = lambda _: ""
) -> Iterator[Problem]:
    """Yield options without effect, and patterns, numbers and schemas that cannot be used."""
    for path, criterion in _criteria(data, ()):
        for key in keys_of(criterion)[:1]:
            yield from _option(criterion, key, path)
            yield from json_paths([((*path, "field"), criterion.get("field"))])
            yield from _value(criterion[key], key, (*path, key), lookup, near_file)


def call_problems(data: Any, known: KnownTargets) -> Iterator[Problem]:
    cases = dict(mappings(data, "evalcases"))
    for path, criterion in _criteria(data, ()):
        key = next((key for key in keys_of(criterion)[:1] if TABLE[key].of == CALLS), "")
        own = cases.get(path[:2])
        for name in target_names(own, data, known.compare) if key else ():
            target = known.targets.get(name)
            if why := target and target.without_calls:
                shown = f"`{name}`" if name else "the default one"
                message = f"`{key}` needs a target that reports calls of tools; {shown} {why}"
                hint = "set `tool_calls`, the place of the calls in its reply" * ("service" in why)
                yield Problem(CALLS_NOT_REPORTED, (*path, key), message, hint, at_key=True)
                break
            yield from _unknown_tools(criterion[key], key, path, target.program if target else "")


def _unknown_tools(value: Any, key: str, path: Path, program: str) -> Iterator[Problem]:
    if not program or key in _NO_TOOLS:
        return
    own = AGENTS[program].tools
    names = {name for kind in own.values() for name in kind} | {kind for kind in own if kind}
    for pattern in value if isinstance(value, list) else [value]:
        written = pattern.get("name") if isinstance(pattern, dict) else pattern
        tool = tool_of(written) if isinstance(written, str) else ""
        if tool and tool not in names and not tool.startswith("mcp") and not set("*?") & set(tool):
            message = f"`{program}` has no tool `{tool}`"
            hint = did_you_mean(_same_kind(tool, own))
            yield Problem(UNKNOWN_TOOL, (*path, key), message, hint)


def _same_kind(tool: str, own: Mapping[str, tuple[str, ...]]) -> str:
    """Return the kind of a tool that another agent has by this name."""
    return next((kind for kind in KINDS if kind in own and tool in named(kind)), "")


def _option(criterion: dict[str, Any], key: str, path: Path) -> Iterator[Problem]:
    row = TABLE[key]
    idle = {
        "ignore_case": criterion.get("ignore_case") is True and not row.folds,
        "exact": criterion.get("exact") is True and row.exact is None,
        "field": "field" in criterion and row.of != "text",
    }
    for option in (name for name, no_effect in idle.items() if no_effect):
        message = f"`{option}` has no effect on `{key}`"
        yield Problem(ASSERTION_OPTION, (*path, option), message, "remove it", at_key=True)


def _value(
    value: Any, key: str, path: Path, lookup: Lookup, near_file: NearFile
) -> Iterator[Problem]:
    if key == SCHEMA_KEY and isinstance(value, str):
        found = lookup(value)
        if not isinstance(found, Found):
            yield missing_file(path, value, found, near_file)
        elif reason := _schema_file_problem(found.text):
            yield _unusable(key, path, f"{found.path}: {reason}")
    elif reason := TABLE[key].problem(value):
        yield _unusable(key, path, reason)


def _unusable(key: str, path: Path, reason: str) -> Problem:
    hint = _HINTS.get(key, "")
    return Problem(ASSERTION_VALUE, path, f"`{key}`: {reason}", hint)


def _schema_file_problem(text: str) -> str:
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"it is not JSON ({error})"
    return schema_problem(schema) if isinstance(schema, dict) else "it is not a JSON object"


_HOLDERS: Final = frozenset(
    ("evalcases", "turns", "execution", "evaluators", "rubrics", "criteria")
)


def _criteria(value: Any, path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _criteria(each, (*path, index))
    elif isinstance(value, dict) and len(path) > 1 and path[-2] in {"rubrics", "criteria"}:
        yield path, value
        if isinstance(condition := value.get("applies_if"), dict):
            yield (*path, "applies_if"), condition
    elif isinstance(value, dict):
        for key, each in value.items():
            if key in _HOLDERS:
                yield from _criteria(each, (*path, key))
