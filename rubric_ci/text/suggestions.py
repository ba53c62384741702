"""Suggestions for a mistake: the known name for a misspelt one, a number for `5m` or `90%`.

Also the provider that the name of a model lacks or misspells.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

JUDGED: Final = ("llm-rubric", "llm-grader", "model-graded-closedqa", "g-eval")
"""The types of other tools' checks whose text is a criterion."""
SYNONYMS: Final = {
    **dict.fromkeys(("tests", "cases", "test_cases", "evals"), ("evalcases",)),
    "criteria": ("rubrics", "expected_outcome"),
    **dict.fromkeys(("criterion", "outcome"), ("expected_outcome",)),
    **dict.fromkeys(("prompt", "question", "messages"), ("input",)),
    **dict.fromkeys(("reference", "reference_answer", "answer", "expected"), ("expected_output",)),
    **dict.fromkeys(("assert", "assertions", "checks"), ("rubrics",)),
    **dict.fromkeys(JUDGED, ("expected_outcome",)),
    "regex": ("matches",),
    "min_score": ("required_min_score",),
    "user": ("input",),
    "name": ("id",),
    **dict.fromkeys(("expires", "expiry", "expires_at", "expires_on"), ("until",)),
    **dict.fromkeys(("text", "message"), ("value", "content")),
    **dict.fromkeys(("path", "file"), ("value",)),
    **dict.fromkeys(("command", "cmd"), ("script",)),
    **dict.fromkeys(("input", "arguments", "params"), ("args",)),
    **dict.fromkeys(("max", "limit", "maximum"), ("threshold", "budget", "max_total")),
    **dict.fromkeys(("max_ms", "ms", "milliseconds", "max_latency_ms"), ("threshold",)),
    **dict.fromkeys(("max_cost", "max_cost_usd", "max_usd", "usd"), ("budget",)),
    **dict.fromkeys(("output", "response", "completion", "candidate"), ("candidate_answer",)),
}
"""Names that other tools use, and their names here; the first known one is suggested."""

_SLIP: Final = 0.85  # as alike are a name and a slip of the pen, and no two names
MAX_NAME: Final = 100
MAX_COMPARED: Final = 64  # a file of thousands of unknown names is still checked in seconds
MAX_SHOWN: Final = 20


def nearest(name: str, known: Iterable[str], *, most: int = MAX_COMPARED) -> str:
    """Return the closest of the first `most` known names, or "" if none is close."""
    if len(name) > MAX_NAME:
        return ""
    names = list(islice(known, most))
    for synonym in SYNONYMS.get(name, ()):
        if synonym in names:
            return synonym
    folded = _folded(name)
    by_folded = {_folded(each): each for each in reversed(names)}
    if folded in by_folded:
        return by_folded[folded]
    from difflib import get_close_matches  # only files with problems need it

    close = get_close_matches(folded, reversed(by_folded), n=1, cutoff=0.7)
    begun = (each for each in reversed(by_folded) if _begins(each, folded))
    found = close[0] if close else next(begun, "")
    return by_folded.get(found, "")


def slip(name: str, known: Sequence[str]) -> str:
    """Return the name that another one misspells, or ""; one only similar means another thing."""
    from difflib import get_close_matches  # few files have such names

    return next(iter(get_close_matches(name, known, n=1, cutoff=_SLIP)), "")


def did_you_mean(name: str) -> str:
    """Return a hint that names the nearest known name, or "" for ""."""
    return f"did you mean `{name}`?" if name else ""


def known_names(names: Iterable[str]) -> str:
    """Return a hint that lists the known names, or the first of many."""
    listed = list(names)
    if not listed:
        return "none is defined"
    shown = ", ".join(f"`{name}`" for name in listed[:MAX_SHOWN])
    more = f" and {len(listed) - MAX_SHOWN:,} more" if len(listed) > MAX_SHOWN else ""
    return f"known: {shown}{more}"


def suggest(name: str, known: Iterable[str], *, most: int = MAX_COMPARED) -> str:
    """Return a hint that names the nearest known name, else the known names in order.

    `most` limits the names that are compared; 0 compares all.
    """
    names = _sorted(frozenset(known))
    return did_you_mean(nearest(name, names, most=most or len(names))) or known_names(names)


@lru_cache(maxsize=1)
def _sorted(names: frozenset[str]) -> list[str]:
    return sorted(names)


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def _begins(known: str, name: str) -> bool:
    return len(name) >= 3 and (known.startswith(name) or name.startswith(known))


_UNITS: Final = {
    "ms": 0.001,
    "s": 1,
    "sec": 1,
    "m": 60,
    "min": 60,
    "h": 3600,
    "second": 1,
    "minute": 60,
    "hour": 3600,
}


def seconds_hint(text: str) -> str:
    """Return the hint for a duration with its unit, or ""."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]+?)", text)
    unit = _UNITS.get(found[2]) or _UNITS.get(found[2].removesuffix("s")) if found else None
    return f"write {float(found[1]) * unit:g}: the unit is seconds" if found and unit else ""


def number_hint(text: str) -> str:
    """Return the hint for an amount, a share or a number with separators, or ""."""
    if share := re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]+)?) ?%", text):
        return f"write {float(share[1]) / 100:g}"
    amount = re.fullmatch(r"[$€£]\s?([0-9]+(?:\.[0-9]+)?)", text)
    amount = amount or re.fullmatch(r"(?i)([0-9]+(?:\.[0-9]+)?)\s?(?:[$€£]|usd|dollars?)", text)
    if amount:
        return f"write {amount[1]}"
    if re.fullmatch(r"[1-9][0-9]{0,2}(?:[,_ '][0-9]{3})+", text):
        return f"write {re.sub('[^0-9]', '', text)}"
    return f"write {text.replace(',', '.')}" if re.fullmatch(r"[0-9]+,[0-9]{1,2}", text) else ""


_LIKELY: Final = {
    **dict.fromkeys(("gpt-", "chatgpt-", "o1", "o3", "o4-"), "openai"),
    "claude-": "anthropic",
    "gemini-": "gemini",
    **dict.fromkeys(("mistral-", "codestral-"), "mistral"),
    "deepseek-": "deepseek",
    "command-r": "cohere",
    "grok-": "xai",
}
"""The provider of model names that start so."""
COMMON: Final = (
    *("openai", "anthropic", "azure", "azure_ai", "bedrock", "bedrock_converse", "vertex_ai"),
    *("gemini", "mistral", "codestral", "deepseek", "cohere", "cohere_chat", "groq", "ollama"),
    *("ollama_chat", "openrouter", "together_ai", "fireworks_ai", "hosted_vllm", "huggingface"),
    *("litellm_proxy", "perplexity", "xai", "zai", "sagemaker", "sagemaker_chat", "watsonx"),
)
"""Providers that a misspelt one may mean."""
ALIASES: Final = {"azure-openai": "azure", "google": "gemini", "google-gemini": "gemini"}
"""Names of providers in other tools' files, and their names here."""


class Misnamed(NamedTuple):
    """The mistake in the name of a model, and the name that is meant ("": it is not known)."""

    message: str
    meant: str
    hint: str


def misnamed(model: str, providers: Collection[str], *, served: bool = False) -> Misnamed | None:
    """Return the fault of a model's provider; None: it is one of `providers`.

    `served` is True for a model with its own host, which has OpenAI's format then.
    """
    provider, slash, rest = model.partition("/")
    if not slash:
        begun = (_LIKELY[start] for start in _LIKELY if model.startswith(start))
        likely = "openai" if served else next(begun, "")
        meant = f"{likely}/{model}" if likely else ""
        message = f"the model `{model}` has no provider"
    elif provider in COMMON or provider in providers:
        return None
    else:
        close = nearest(provider, COMMON)
        meant = f"{close}/{rest}" if close else ""
        message = f"`{provider}` is not a known provider"
    example = f"write `provider/model`, such as `openai/{rest or model}`"
    return Misnamed(message, meant, did_you_mean(meant) or example)
