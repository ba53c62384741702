"""The known name that a misspelt one probably means."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Final

SYNONYMS: Final = {
    **dict.fromkeys(("tests", "cases", "test_cases", "evals"), ("evalcases",)),
    **dict.fromkeys(("criteria", "criterion", "outcome"), ("expected_outcome",)),
    **dict.fromkeys(("prompt", "question", "messages"), ("input",)),
    **dict.fromkeys(("reference", "answer", "expected"), ("expected_output",)),
    **dict.fromkeys(("assert", "assertions", "checks"), ("rubrics",)),
    **dict.fromkeys(("text", "message"), ("value", "content")),
    **dict.fromkeys(("path", "file"), ("value",)),
    **dict.fromkeys(("command", "cmd"), ("script",)),
    **dict.fromkeys(("input", "arguments", "params"), ("args",)),
    **dict.fromkeys(("max", "limit", "maximum"), ("threshold", "budget", "max_total")),
    **dict.fromkeys(("max_ms", "ms", "milliseconds", "max_latency_ms"), ("threshold",)),
    **dict.fromkeys(("max_cost", "max_cost_usd", "max_usd", "usd"), ("budget",)),
    **dict.fromkeys(("output", "response", "completion", "candidate"), ("candidate_answer",)),
}
"""Words that other tools use for the same things: the first that is known is meant."""


LONGEST_NAME: Final = 100
MOST_NAMES: Final = 64  # among more, no one is meant
MOST_SHOWN: Final = 20


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the closest known name, or nothing if none is close."""
    if len(name) > LONGEST_NAME:
        return None
    names = list(islice(known, MOST_NAMES))
    for synonym in SYNONYMS.get(name, ()):
        if synonym in names:
            return synonym
    folded = name.lower().replace("-", "_")
    if folded in names:
        return folded
    from difflib import get_close_matches  # only files with problems need it

    close = get_close_matches(folded, names, n=1, cutoff=0.7)
    if close:
        return close[0]
    return next((known for known in names if _begins(known, folded)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint, or nothing."""
    close = nearest(name, known)
    return f"did you mean `{close}`?" if close else ""


def meant_or_known(name: str, known: frozenset[str]) -> str:
    """Return the name that is probably meant, or the names that there are."""
    names = _sorted(known)
    more = f", and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return did_you_mean(name, names) or f"known are {', '.join(names[:MOST_SHOWN])}{more}"


@lru_cache(maxsize=1)
def _sorted(names: frozenset[str]) -> list[str]:
    return sorted(names)


def _begins(known: str, name: str) -> bool:
    return len(name) >= 3 and (known.startswith(name) or name.startswith(known))
