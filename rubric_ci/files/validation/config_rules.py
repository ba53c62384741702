"""Rules of the configuration and of targets files."""

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

from rubric_ci.files.validation.agentv import (
    conflicting_aliases,
    normalise_keys,
    snake_case,
    snake_cased,
    to_original_path,
)
from rubric_ci.files.validation.ambiguity_rules import ambiguous_scalar_problems
from rubric_ci.files.validation.config_summary import is_of_agentv
from rubric_ci.files.validation.evaluator_rules import SIMILAR_KEY
from rubric_ci.files.validation.model_rules import (
    AUTH_AND_KEY,
    judge_command_problems,
    judges_problems,
    members_of,
)
from rubric_ci.files.validation.provider_rules import agent_problems
from rubric_ci.files.validation.schema import problems as schema_problems
from rubric_ci.files.validation.schema import read_schema
from rubric_ci.files.validation.shape_rules import MISSING_KEY
from rubric_ci.files.validation.target_rules import (
    Names,
    is_idle,
    is_model,
    named_targets,
    target_rules,
)
from rubric_ci.files.yaml_text.source import Source, Values
from rubric_ci.text.redact import is_secret_name
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.model_end_and_parameters import NAMES, ModelCall
from rubric_ci.values.problems import (
    MAX_PROBLEMS,
    UNKNOWN_KEY,
    Path,
    Problem,
    Rule,
    list_at,
    mapping_at,
    mappings,
    with_target,
)
from rubric_ci.values.written_keys import keys_of

_SHELL_REFERENCE: Final = re.compile(
    r"(?:\$(?:\{|env:)?|%|\{\{ *|os\.environ/)([A-Za-z_][A-Za-z0-9_]*)(?: *\}\}|\}|%)?"
)
"""A variable as a shell or another tool writes it."""

_OF_GITHUB: Final = re.compile(r"\$\{\{ *(?:secrets|vars|env)\.(\w+) *\}\}")

LITERAL_SECRET: Final = Rule(
    id="literal-secret",
    severity="warning",
    switchable=True,
    meaning=(
        "Configuration is committed, so a key in it is public to everyone who can read the "
        "repository."
    ),
    hint="write `${{ NAME }}` and set the environment variable NAME",
    bad="judge: {model: openai/gpt-6-luna, api_key: sk-abc}\n",
    good='judge: {model: openai/gpt-6-luna, api_key: "${{ OPENAI_API_KEY }}"}\n',
)
_WITH_KEY: Final = with_target("provider: cli, command_template: 'echo {PROMPT} ${{ SHOP_KEY }}'")
VARIABLE_NOT_ALLOWED: Final = Rule(
    id="variable-not-allowed",
    meaning=(
        "A configuration may use the variables of model providers, and others that `env.allow` "
        "lists. A run stops at any other."
    ),
    hint="add it to `env.allow`",
    bad=_WITH_KEY,
    good=f"{_WITH_KEY}env: {{allow: [SHOP_KEY]}}\n",
)
THRESHOLD_ORDER: Final = Rule(
    id="threshold-order",
    meaning="The threshold for borderline must not be above the threshold for pass.",
    hint="keep `borderline` at or below `pass`",
    bad="gate: {thresholds: {pass: 0.6, borderline: 0.8}}\n",
    good="gate: {thresholds: {pass: 0.8, borderline: 0.6}}\n",
)
UNKNOWN_RULE: Final = Rule(
    id="unknown-rule",
    meaning="`rules` configures rules by their ids.",
    hint="`rubric-ci validate --explain all` lists the rules",
    bad="rules: {gates: off}\n",
    good="rules: {gate-kind: off}\n",
)
VOTES_EVEN: Final = Rule(
    id="votes-even",
    meaning="An even number of votes can tie, and a tie gives no mark.",
    hint="use an odd number: an even one can tie",
    bad="judge: {model: openai/gpt-6-luna, votes: 2}\n",
    good="judge: {model: openai/gpt-6-luna, votes: 3}\n",
)


def config_problems(
    document: Source,
    known_rules: Callable[[], Collection[str]],
    *,
    targets_only: bool = False,
    others: Names | None = None,
) -> Iterator[Problem]:
    """Yield all problems of a configuration; a targets file has the key `targets` only.

    `known_rules` gives the ids of all rules, and `others` the targets of other files; without
    the latter, judges are not looked up.
    """
    if not document.readable:
        return
    normalised = schema_problems("config", _Normalised(document))
    found = [each._replace(path=to_original_path(each.path, document.data)) for each in normalised]
    data = document.data if isinstance(document.data, dict) else {}
    if targets_only:
        found.extend(_misplaced_in_targets_file(data))
    found.extend(_judge(data.get("judge")))
    found.extend(_targets(data, agents=not targets_only))
    found.extend(target_rules(data.get("targets"), others, agentv=is_of_agentv(document.file)))
    if others:
        found.extend(named_targets(data, others))
    found.extend(_thresholds(data.get("gate")))
    found.extend(_rules(data.get("rules"), known_rules))
    found.extend(ambiguous_scalar_problems(document, found))
    yield from _merge_misspelt(found)


def forbidden_variables(data: Any) -> Iterator[Problem]:
    """Yield variables of the judge and the targets that `env.allow` does not list.

    `validate` alone asks: on a pull request, a run holds to the list of the base commit.
    """
    from rubric_ci.text.command_lines_and_variables import names, why_forbidden

    allowed = list_at(mapping_at(data, "env"), "allow")
    listed = tuple(each for each in allowed if isinstance(each, str))
    owners: list[tuple[Path, Any]] = [*mappings(data, "targets")]
    for path, owner in [*owners, (("judge",), mapping_at(data, "judge"))]:
        for key, value in owner.items():
            for name in dict.fromkeys(names(value)):
                if hint := why_forbidden(name, listed):
                    message = f"`${{{{ {name} }}}}` is not allowed"
                    yield Problem(VARIABLE_NOT_ALLOWED, (*path, key), message, hint)


class _Normalised(Values):
    def __init__(self, document: Source) -> None:
        self.data = normalise_keys(document.data)
        self._document = document

    def written(self, path: Path) -> str | None:
        return self._document.written(to_original_path(path, self._document.data))


def _misplaced_in_targets_file(data: dict[str, Any]) -> Iterator[Problem]:
    for key in read_schema("config")["properties"]:
        if key in data and key not in ("$schema", "targets"):
            message = f"`{key}` does not belong in a targets file"
            yield Problem(UNKNOWN_KEY, (key,), message, "move it to rubric-ci.yaml", at_key=True)
    if "targets" not in data:
        message = "the file has no `targets`"
        yield Problem(MISSING_KEY, (), message, missing=("targets",))


def _judge(judge: Any) -> Iterator[Problem]:
    if not isinstance(judge, dict):
        return
    votes = judge.get("votes")
    if isinstance(votes, int) and votes > 0 and votes % 2 == 0:
        yield Problem(VOTES_EVEN, ("judge", "votes"), f"`votes` must be odd, not {votes}")
    if "panel" in judge:
        yield from judges_problems(judge)
        for place, member in members_of(judge):
            if isinstance(member, dict):
                yield from _one_judge(member, place)
        return
    yield from _one_judge(judge, ("judge",))


def _one_judge(judge: dict[str, Any], path: Path) -> Iterator[Problem]:
    if "cli" in judge or "command" in judge:
        yield from judge_command_problems(judge, path)
        return
    yield from conflicting_aliases(judge, path)
    if "auth" in judge and (
        key := next((key for key in ("api_key", "apiKey") if key in judge), "")
    ):
        message = f"`{key}` is not used: `auth` gives the key"
        yield Problem(AUTH_AND_KEY, (*path, key), message, at_key=True)
    yield from _secret(judge, path)
    yield from _misspelt(judge, path, "judge")


def _targets(data: Any, *, agents: bool) -> Iterator[Problem]:
    """Yield the problems of the targets' keys; with `agents`, also programs that are not started.

    A targets file of AgentV may have such targets for others.
    """
    for path, target in mappings(data, "targets"):
        yield from _secret(target, path)
        if agents:
            yield from agent_problems(target, path)
        if is_model(target):
            yield from _misspelt(target, path, "target")


def _secret(owner: dict[str, Any], path: Path) -> Iterator[Problem]:
    for key in ("api_key", "apiKey"):
        value = owner.get(key)
        if isinstance(value, str) and (foreign := _OF_GITHUB.search(value)):
            message = f"`{foreign[0]}` is of a workflow; here, `${{{{ NAME }}}}` is a variable"
            hint = did_you_mean(f"${{{{ {foreign[1]} }}}}")
            yield Problem(LITERAL_SECRET, (*path, key), message, hint)
        elif isinstance(value, str) and value.strip() and "${{" not in value:
            message, hint = f"`{key}` contains a literal value", ""
            reference = _SHELL_REFERENCE.fullmatch(value.strip())
            if reference and (reference[0] != reference[1] or is_secret_name(reference[1])):
                message = (
                    f"`{key}` is the text `{value.strip()}`: only `${{{{ NAME }}}}` is a variable"
                )
                hint = did_you_mean(f"${{{{ {reference[1]} }}}}")
            yield Problem(LITERAL_SECRET, (*path, key), message, hint, secret=not hint)


def _misspelt(owner: dict[str, Any], path: Path, definition: str) -> Iterator[Problem]:
    """Yield keys that are passed to the model call and look like a misspelt setting."""
    given, known = snake_cased(owner), read_schema("config")["$defs"][definition]["properties"]
    read = {*known, *keys_of(ModelCall)}  # with the spellings of other tools
    for key in owner:
        name = snake_case(key)
        if name not in read and not name.startswith("x-") and not is_idle(name):
            free = [other for other in known if other not in given]
            missing = ["model"] if given.keys().isdisjoint(NAMES) else []
            meant = nearest(name, missing) or nearest(name, free)
            if meant:
                message = (
                    f"`{key}` is not a known setting and is passed to the model call unchanged"
                )
                where, hint = (*path, key), did_you_mean(meant)
                yield Problem(SIMILAR_KEY, where, message, hint, at_key=True, meant=meant)


def _merge_misspelt(found: list[Problem]) -> list[Problem]:
    """Merge a missing-key problem into the misspelt key that explains it."""
    missing = {(p.path, p.missing): p for p in found if p.missing}
    others = []
    for problem in found:
        explained = missing.pop((problem.path[:-1], (problem.meant,)), None)
        if explained:
            message = f"{explained.message}, but `{problem.path[-1]}`"
            others.append(problem._replace(rule=explained.rule, message=message))
        elif not problem.missing:
            others.append(problem)
    return [*missing.values(), *others]


def _thresholds(gate: Any) -> Iterator[Problem]:
    thresholds = gate.get("thresholds") if isinstance(gate, dict) else None
    if not isinstance(thresholds, dict):
        return
    high, low = thresholds.get("pass", 0.8), thresholds.get("borderline", 0.6)
    if isinstance(high, int | float) and isinstance(low, int | float) and low > high:
        message = f"`borderline` ({low}) is above `pass` ({high})"
        yield Problem(THRESHOLD_ORDER, ("gate", "thresholds"), message)


def _rules(rules: Any, known_rules: Callable[[], Collection[str]]) -> Iterator[Problem]:
    known = known_rules() if isinstance(rules, dict) else ()
    unknown = (name for name in rules or () if name not in known) if known else ()
    for number, name in enumerate(unknown):
        message = f"there is no rule `{name}`"
        compared = len(known) if number <= MAX_PROBLEMS else 0  # no more are reported
        hint = did_you_mean(nearest(name, known, most=compared))
        yield Problem(UNKNOWN_RULE, ("rules", name), message, hint, at_key=True)
