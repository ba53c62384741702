"""The end of a model, the parameters that it refuses, and the media that it takes."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from typing import Annotated, Final, NamedTuple

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.written_keys import VARIABLE, Key

WARNING_TIME: Final = timedelta(days=90)
SWITCH: Final = (
    "choose another model NEW; for a judge, `rubric-ci judge calibrate --judge NEW` measures it"
)

_SAMPLING = ("temperature", "top_p", "top_k")
_PENALTIES = ("frequency_penalty", "presence_penalty")
_LISTED = frozenset({"anthropic", "gemini", "openai"})
_OWN_HOST = frozenset({"api_base", "base_url", "endpoint"})


NAMES: Final = ("model", "deployment", "deployment_name", "variant")
"""The keys of a model's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """The keys of a model's request; others are passed to the call unchanged."""

    provider: Annotated[str, Key("cli", "recorded", "azure")] = ""
    """{providers}, or the provider of the model. Without it, `model` contains the provider."""
    model: Annotated[
        str, Key("anthropic/claude-sonnet-5-5", aliases=dict.fromkeys(NAMES[1:], ""))
    ] = ""
    """litellm model name; with `provider`, the name without the provider prefix."""
    prompt: Annotated[str, Key("prompts/support.md")] = ""
    """File with the prompt of a model: a text with `{{ variables }}` of the cases, or a
    `.prompt.yml` of GitHub Models. With `{{ input }}` it replaces the messages of a case, else it
    precedes them."""
    skill: Annotated[str, Key("skills/refunds")] = ""
    """Folder of an Agent Skill, with `SKILL.md`. A model and a command get its text before the
    messages; a target with a workspace finds the folder there as `skills/NAME`."""
    api_key: Annotated[str, Key("${{ OPENAI_API_KEY }}", title="API key", type="string")] = ""
    """API key, as `${{ NAME }}`: the value of an environment variable. Do not write the key
    itself."""
    api_base: Annotated[
        str,
        Key(
            "http://127.0.0.1:8000/v1",
            title="API base",
            aliases=dict.fromkeys(("endpoint", "base_url", "resource", "resource_name"), ""),
            type="string",
        ),
    ] = ""
    """Base URL of an OpenAI-compatible server, a proxy or a resource."""
    api_version: Annotated[
        JSON, Key("2024-10-21", title="API version", aliases={"version": ""}, type="string")
    ] = None
    """Version of the API, for Azure."""
    temperature: Annotated[JSON, Key(0, type=["number", "string"], minimum=0, pattern=VARIABLE)] = (
        None
    )
    """Sampling temperature of the model."""
    max_tokens: Annotated[
        JSON,
        Key(
            4000,
            aliases={"max_output_tokens": ""},
            type=["integer", "string"],
            minimum=1,
            pattern=VARIABLE,
        ),
    ] = None
    """Maximum length of the reply in tokens."""
    timeout_seconds: Annotated[float, Key.of("seconds")] = 60.0
    input_cost_per_token: Annotated[JSON, Key(1e-07, type="number", minimum=0)] = None
    """Price in US dollars of a token that is read, for a model that litellm has no price for."""
    output_cost_per_token: Annotated[JSON, Key(4e-07, type="number", minimum=0)] = None
    """Price in US dollars of a token that is written, for a model that litellm has no price for."""
    input_cost_per_token_batches: Annotated[JSON, Key(5e-08, type="number", minimum=0)] = None
    """Price in US dollars of a token that is read in a batch."""
    output_cost_per_token_batches: Annotated[JSON, Key(2e-07, type="number", minimum=0)] = None
    """Price in US dollars of a token that is written in a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCall(ModelCall):
    """The keys of a judge that is a model, or several; `JudgeConfig` has the keys of any judge."""

    panel: Annotated[
        tuple[JSON, ...],
        Key(
            ["openai/gpt-6-luna", "anthropic/claude-sonnet-5-5", "gemini/gemini-3.8-flash"],
            items={"$ref": "#/$defs/one_judge"},
            minItems=3,
        ),
    ] = ()
    """Odd number of judges, of different model families: models, or objects with the settings of a
    model, a `cli` or a `command`. Each marks every criterion; the majority counts, of scores and
    levels the median."""
    provider: Annotated[str, Key("openai")] = ""
    """Provider, if `model` does not start with it."""
    auth: Annotated[
        JSON,
        Key.of(
            "auth",
            {
                "oidc": "anthropic",
                "audience": "https://api.anthropic.com",
                "parameters": {"federation_rule_id": "fdrl_1", "organization_id": "o_1"},
            },
        ),
    ] = None
    temperature: Annotated[JSON, Key(0, type="number", minimum=0)] = None
    """Sampling temperature, for models that take one: most that reason do not."""
    max_tokens: Annotated[JSON, Key(4000, type="integer", minimum=1)] = None
    """Maximum length of the reply in tokens."""
    timeout_seconds: Annotated[float, Key.of("seconds")] = 60.0
    """Timeout of one judge request in seconds."""


class Models(NamedTuple):
    """The list of models and providers, and the day on which it is read."""

    info: Callable[[str], Mapping[str, JSON]]  # {} for an unknown model
    today: date
    providers: frozenset[str] = frozenset()


def end_of(end: JSON) -> date | None:
    """Return the day in a date as YYYY-MM-DD, also with a time after it; None: it is unknown."""
    try:
        return date.fromisoformat(end[:10]) if isinstance(end, str) else None
    except ValueError:
        return None


def ending(model: str, end: JSON, today: date) -> str:
    """Return the warning for a model that ends soon or has ended; empty: none is due."""
    day = end_of(end)
    if day is None or day - today > WARNING_TIME:
        return ""
    if day <= today:
        return f"`{model}` was switched off on {day}"
    left = (day - today).days
    return f"`{model}` is switched off on {day}, in {left} {'day' if left == 1 else 'days'}"


def refused_parameters(
    model: str, options: Mapping[str, JSON], info: Mapping[str, JSON]
) -> tuple[str, ...]:
    """Return the parameters that a model refuses at its provider; a gateway may accept them."""
    if not options.keys().isdisjoint(_OWN_HOST):
        return ()
    match model.partition("/")[0]:
        case "anthropic" if info.get("supports_sampling_params") is False:
            return tuple(_given(_SAMPLING, options))
        case "openai" if info.get("supports_reasoning"):
            return tuple(_refused_by_openai(options, info))
        case _:
            return ()


def takes(
    kind: str, model: str, options: Mapping[str, JSON], info: Mapping[str, JSON]
) -> bool | None:
    """Return whether a model takes images, or documents; None: it is not known.

    The list says it of every model of these providers; at another host, a name may be another
    model's.
    """
    known = info.get("supports_vision" if kind == "image" else "supports_pdf_input")
    if known is not None or not info or not options.keys().isdisjoint(_OWN_HOST):
        return known if known is None else bool(known)
    return False if model.partition("/")[0] in _LISTED or "/" not in model else None


def _refused_by_openai(options: Mapping[str, JSON], info: Mapping[str, JSON]) -> Iterable[str]:
    effort = options.get("reasoning_effort", info.get("default_reasoning_effort"))
    may_be_off = info.get("supports_none_reasoning_effort")
    if effort != "none":
        yield from _given((*_SAMPLING[:2], *_PENALTIES), options)
    elif not may_be_off and "reasoning_effort" in options:
        yield "reasoning_effort"


def _given(names: Iterable[str], options: Mapping[str, JSON]) -> Iterable[str]:
    """Yield the given parameters that are not the default: 0 of penalties, else 1."""
    for name in names:
        default = 0 if name in _PENALTIES else 1
        if name in options and options[name] != default:
            yield name
