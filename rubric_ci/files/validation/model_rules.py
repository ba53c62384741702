"""Rules of models and judges: models live and take parameters, judges differ and may log in."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import inf
from typing import Any, Final

from rubric_ci.evaluators.kind import written_evaluators
from rubric_ci.files.validation.agentv import snake_case, snake_cased
from rubric_ci.files.validation.config_summary import STARTED
from rubric_ci.files.validation.provider_rules import provider_problems
from rubric_ci.files.validation.schema import read_schema
from rubric_ci.values.agent_program import JudgeCommand
from rubric_ci.values.model_end_and_parameters import (
    NAMES,
    SWITCH,
    WARNING_TIME,
    JudgeCall,
    Models,
    end_of,
    ending,
    refused_parameters,
)
from rubric_ci.values.problems import Path, Problem, Rule, list_at, mapping_at, mappings
from rubric_ci.values.written_keys import keys_of

MODEL_END: Final = Rule(
    id="model-end",
    severity="warning",
    switchable=True,
    meaning="The provider has switched the model off: requests to it fail.",
    hint=SWITCH,
)
MODEL_ENDS_SOON: Final = Rule(
    id="model-ends-soon",
    severity="notice",
    switchable=True,
    meaning=(
        "The provider has announced the day on which it switches the model off; the notice begins "
        f"{WARNING_TIME.days} days before, and fails no command. "
        "From that day on it is `model-end`."
    ),
    hint=SWITCH,
)
MODEL_PARAMETER: Final = Rule(
    id="model-parameter",
    switchable=True,
    meaning=(
        "The provider refuses requests to this model with this parameter, so that no case would "
        "get a verdict."
    ),
    hint="remove the parameter, or choose a model that takes it",
    bad="judge: {model: openai/gpt-6-luna, temperature: 0}\n",
    good="judge: {model: openai/gpt-6-luna, temperature: 0, reasoning_effort: none}\n",
)

MODEL_NAME: Final = Rule(
    id="model-name",
    meaning=(
        "A model's name has letters, digits and `_ . : / @ + -`, and a region has small letters, "
        "digits and `-`: libraries build the address of the request from them."
    ),
    hint="write the name as the provider lists it",
    bad="judge: {model: 'openai/gpt-6-luna?x=1'}\n",
    good="judge: {model: openai/gpt-6-luna}\n",
)

MODEL_PRICE: Final = Rule(
    id="model-price",
    meaning="A price is a number of dollars, 0 or more: a negative one would void a cap on cost.",
    hint="write the dollars of one token, such as 0.0000004, or remove it",
    bad="judge: {model: openai/gpt-6-luna, input_cost_per_token: -1, output_cost_per_token: 1}\n",
    good="judge: {model: openai/gpt-6-luna, input_cost_per_token: 1, output_cost_per_token: 1}\n",
)

_MODEL: Final = re.compile(r"[A-Za-z0-9_.:/@+~-]*")
_REGION: Final = re.compile(r"[a-z0-9-]*")
_VARIABLE: Final = re.compile(r"\$\{\{[^{}]*\}\}")

JUDGES: Final = Rule(
    id="judges",
    meaning=(
        "A `panel` has an odd number of judges, so that there is a majority. The settings of its "
        "members are their own; `votes`, `mode`, `output`, `evidence`, `canary` and `images` hold "
        "for all."
    ),
    hint="give each member its settings, and the panel the shared ones",
    bad="judge: {panel: [openai/a, anthropic/b, gemini/c], temperature: 0}\n",
    good="judge: {panel: [openai/a, anthropic/b, gemini/c], votes: 3}\n",
)
AUTH_AND_KEY: Final = Rule(
    id="auth-and-key",
    meaning="A judge has an API key or a workload identity: which of both counts would be a guess.",
    hint="remove the key, and its secret from the repository",
    bad='judge: {model: openai/a, api_key: "${{ OPENAI_API_KEY }}", auth: {oidc: openai}}\n',
    good="judge: {model: openai/a, auth: {oidc: openai}}\n",
)


def model_problems(
    data: Any, models: Callable[[], Models], *, providers: bool = True
) -> Iterator[Problem]:
    """Yield models without provider or that end soon, and the parameters that they refuse.

    Without `providers`, they are not checked.
    """
    for path, owner in _owners(data):
        settings = owner if isinstance(owner, dict) else {"model": owner}
        name = _name(settings)
        yield from _unsafe(settings, path, isinstance(owner, dict))
        if "${{" in name or settings.keys().isdisjoint(("cli", "model", "provider")):
            continue
        known = models()
        place: Path = (*path, "model") if isinstance(owner, dict) else path
        wrong = [*provider_problems(settings, path, place, known.providers)] if providers else []
        yield from wrong
        if wrong or ("/" not in name and "cli" not in settings):
            continue
        yield from _end(name, place, known)
        yield from _parameters(name, settings, path, known.info(name))


def evaluator_model_problems(data: Any, models: Callable[[], Models]) -> Iterator[Problem]:
    """Yield the models of an eval file without provider, and those that ended or end soon."""
    for path, name in _named_models(data):
        yield from _unsafe_name(name, path)
        if "${{" in name:
            continue
        wrong = [*provider_problems({"model": name}, path, path, models().providers)]
        yield from wrong or _end(name, path, models())


def _unsafe(settings: Mapping[str, Any], path: Path, named: bool) -> Iterator[Problem]:
    """Yield parts of a request's address with characters of an address, and wrong prices."""
    if "cli" in settings or settings.get("provider") in ("cli", *STARTED):
        return  # a program gets the name, no address is built from it
    for key in sorted(settings.keys() & {*NAMES}):
        yield from _unsafe_name(settings[key], (*path, key) if named else path)
    for owner, at in _with_inner(settings, path):
        for key, value in owner.items():
            if "region" in snake_case(key) and not _is_plain(value, _REGION):
                message = f"`{key}: {value}` has other characters than `a-z0-9-`"
                yield Problem(MODEL_NAME, (*at, key), message)
            if "cost_per" in snake_case(key) and not _is_price(value):
                message = f"`{key}: {value}` is not a price"
                yield Problem(MODEL_PRICE, (*at, key), message)


def _is_price(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value < inf


def _unsafe_name(name: Any, path: Path) -> Iterator[Problem]:
    if isinstance(name, str) and not _is_plain(name, _MODEL):
        yield Problem(MODEL_NAME, path, f"the model `{name}` has characters that no model has")


def _is_plain(value: Any, pattern: re.Pattern[str]) -> bool:
    """Return True for a text of the pattern; a variable's value is the environment's."""
    return bool(pattern.fullmatch(_VARIABLE.sub("x", str(value))))


def _named_models(data: Any) -> Iterator[tuple[Path, str]]:
    owners: list[tuple[Path, Any]] = [*written_evaluators(data)]
    owners += [((*at, "aggregator"), each.get("aggregator")) for at, each in owners]
    cases = mappings(data, "evalcases")
    owners += [((*at, "simulated_user"), case.get("simulated_user")) for at, case in cases]
    for path, owner in owners:
        model = owner.get("model") if isinstance(owner, dict) else None
        if isinstance(model, str):
            yield (*path, "model"), model


def _end(name: str, place: Path, known: Models) -> Iterator[Problem]:
    end = known.info(name).get("deprecation_date")
    if message := ending(name, end, known.today):
        over = (end_of(end) or known.today) <= known.today
        yield Problem(MODEL_END if over else MODEL_ENDS_SOON, place, message)


def _parameters(
    name: str, settings: Mapping[str, Any], path: Path, info: Mapping[str, Any]
) -> Iterator[Problem]:
    owners = _with_inner(settings, path)
    options = snake_cased({**owners[1][0], **settings})
    for parameter in refused_parameters(name, options, info):
        message = f"`{name}` does not take `{parameter}: {options[parameter]}`"
        for owner, at in owners:
            keys = [key for key in owner if snake_cased({key: 0}).keys() == {parameter}]
            if keys:
                yield Problem(MODEL_PARAMETER, (*at, keys[0]), message)
                break


def _with_inner(settings: Mapping[str, Any], path: Path) -> list[tuple[Mapping[str, Any], Path]]:
    """Return settings and the ones below `settings`, each with its path."""
    return [(settings, path), (mapping_at(settings, "settings"), (*path, "settings"))]


def _owners(data: Any) -> Iterator[tuple[Path, Any]]:
    if not isinstance(data, dict):
        return
    judge = data.get("judge")
    if isinstance(judge, dict) and (members := [*members_of(judge)]):
        yield from members
    elif isinstance(judge, dict | str):
        yield ("judge",), judge
    yield from mappings(data, "targets")


def _name(settings: Mapping[str, Any]) -> str:
    """Return the model with its provider; empty: none is named."""
    model, provider = settings.get("model"), settings.get("provider")
    if not isinstance(model, str):
        return ""
    named = not isinstance(provider, str) or model.startswith(f"{provider}/")
    return model if named else f"{provider}/{model}"


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


def judge_command_problems(judge: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Yield the keys that a judge that is a command cannot have, and a missing model."""
    kind = "cli" if "cli" in judge else "command"
    other = ("command",) if kind == "cli" else ("cli", "model")
    known = {*keys_of(JudgeCommand), "timeout_seconds", *judge_keys()} - {"output", *other}
    for key in judge:
        if snake_case(key) not in known and not key.startswith("x-"):
            message = f"`{key}` has no effect on a judge with `{kind}`"
            yield Problem(JUDGE_COMMAND, (*path, key), message, at_key=True)
    if kind == "cli" and "model" not in judge:
        message = f"`cli: {judge['cli']}` has no `model`"
        yield Problem(JUDGE_WITHOUT_MODEL, (*path, "cli"), message)


@cache
def judge_keys() -> frozenset[str]:
    """Return the settings of `judge` that hold for each of its models and commands."""
    found = read_schema("config")["$defs"]["judge"]["properties"]
    return frozenset(found) - {*keys_of(JudgeCall), *keys_of(JudgeCommand)}


def members_of(judge: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    for index, member in enumerate(list_at(judge, "panel")):
        if isinstance(member, dict | str):
            yield ("judge", "panel", index), member


def judges_problems(judge: dict[str, Any]) -> Iterator[Problem]:
    """Yield the settings that a panel cannot have."""
    shared = {*judge_keys(), "panel"}
    for key in judge:
        if snake_case(key) not in shared and not key.startswith("x-"):
            message = f"`{key}` has no effect together with `panel`"
            yield Problem(JUDGES, ("judge", key), message, at_key=True)
    for place, member in members_of(judge):
        for key in member if isinstance(member, dict) else ():
            if snake_case(key) in shared:
                message = f"`{key}` is a setting of all judges, not of one"
                yield Problem(JUDGES, (*place, key), message, at_key=True)
    members = list_at(judge, "panel")
    if len(members) > 2 and len(members) % 2 == 0:
        message = f"a panel needs an odd number of judges, not {len(members)}"
        yield Problem(JUDGES, ("judge", "panel"), message)
