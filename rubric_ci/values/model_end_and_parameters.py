"""The end of a model, the parameters that it refuses, and the media that it takes."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from typing import Final, NamedTuple

from rubric_ci.values.json_value import JSON

WARNING_TIME: Final = timedelta(days=90)
SWITCH: Final = (
    "choose another model NEW; for a judge, `rubric-ci judge calibrate --judge NEW` measures it"
)

_SAMPLING = ("temperature", "top_p", "top_k")
_PENALTIES = ("frequency_penalty", "presence_penalty")
_LISTED = frozenset({"anthropic", "gemini", "openai"})
_OWN_HOST = frozenset({"api_base", "base_url", "endpoint"})


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
