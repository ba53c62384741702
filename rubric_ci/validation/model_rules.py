"""Rules of models and of commands as judge: they live, and take their parameters."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rubric_ci.kinds.kind import written_evaluators
from rubric_ci.model.model_facts import (
    COMMAND_KEYS,
    SWITCH,
    Models,
    end_of,
    ending,
    refused_parameters,
)
from rubric_ci.model.rules import Rule
from rubric_ci.validation.agentv import snake_case, snake_cased
from rubric_ci.validation.config_summary import JUDGE_KEYS
from rubric_ci.validation.judges_rules import members_of
from rubric_ci.yaml_text.problems import Path, Problem, mappings

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
        "90 days before, and fails no command. From that day on it is `model-end`."
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


def model_problems(data: Any, models: Callable[[], Models]) -> Iterator[Problem]:
    """Yield the models of a configuration that end soon, and the parameters that they refuse."""
    for path, owner in _owners(data):
        settings = owner if isinstance(owner, dict) else {"model": owner}
        name = _name(settings)
        if ("/" not in name and "cli" not in settings) or "${{" in name:
            continue
        known = models()
        place: Path = (*path, "model") if isinstance(owner, dict) else path
        yield from _end(name, place, known)
        yield from _parameters(name, settings, path, known.info(name))


def evaluator_model_problems(data: Any, models: Callable[[], Models]) -> Iterator[Problem]:
    """Yield the models of evaluators in an eval file that ended, or end soon."""
    for path, name in _evaluator_models(data):
        if "/" in name and "${{" not in name:
            yield from _end(name, path, models())


def _evaluator_models(data: Any) -> Iterator[tuple[Path, str]]:
    """Yield the `model` of every evaluator and aggregator."""
    for path, evaluator in written_evaluators(data):
        for place in ((), ("aggregator",)):
            owner = evaluator.get("aggregator") if place else evaluator
            model = owner.get("model") if isinstance(owner, dict) else None
            if isinstance(model, str):
                yield (*path, *place, "model"), model


def _end(name: str, place: Path, known: Models) -> Iterator[Problem]:
    end = known.info(name).get("deprecation_date")
    if message := ending(name, end, known.today):
        over = (end_of(end) or known.today) <= known.today
        yield Problem(MODEL_END if over else MODEL_ENDS_SOON, place, message)


def _parameters(
    name: str, settings: Mapping[str, Any], path: Path, info: Mapping[str, Any]
) -> Iterator[Problem]:
    nested = settings.get("settings")
    inner = nested if isinstance(nested, dict) else {}
    options = snake_cased({**inner, **settings})
    for parameter in refused_parameters(name, options, info):
        message = f"`{name}` does not take `{parameter}: {options[parameter]}`"
        for owner, at in ((settings, path), (inner, (*path, "settings"))):
            keys = [key for key in owner if snake_cased({key: 0}).keys() == {parameter}]
            if keys:
                yield Problem(MODEL_PARAMETER, (*at, keys[0]), message)
                break


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
    known = {*COMMAND_KEYS, *JUDGE_KEYS} - {"output", *other}
    for key in judge:
        if snake_case(key) not in known and not key.startswith("x-"):
            message = f"`{key}` has no effect on a judge with `{kind}`"
            yield Problem(JUDGE_COMMAND, (*path, key), message, at_key=True)
    if kind == "cli" and "model" not in judge:
        message = f"`cli: {judge['cli']}` has no `model`"
        yield Problem(JUDGE_WITHOUT_MODEL, (*path, "cli"), message)
