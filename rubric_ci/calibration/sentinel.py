"""The choice of remembered judgements, and the test whether the judge moved since."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import comb
from typing import Final

from rubric_ci.model.results import Assessed, CaseResult, Graded
from rubric_ci.model.sentinel import Sentinel, SentinelItem

ITEMS: Final = 12
REPEATS: Final = 5
"""Requests per item when the reference is measured: how much the judge differs from itself."""
REQUESTS: Final = 2
"""Requests per item and later run."""
LEVEL: Final = 0.005
"""Probability per run that a judge that is the same counts as moved."""


def choose(cases: Sequence[CaseResult]) -> tuple[SentinelItem, ...]:
    """Return at most `ITEMS` marks, spread over kinds of marks, criteria and cases.

    The rarest combination so far is taken first; a digest decides between equal ones, so that the
    choice depends on the cases only.
    """
    left = sorted(_candidates(cases), key=lambda pair: _digest(pair[1]))
    chosen: list[tuple[str, SentinelItem]] = []
    while left and len(chosen) < ITEMS:
        best = min(left, key=lambda pair: _common(pair, chosen))
        chosen.append(best)
        left.remove(best)
    return tuple(item for _, item in chosen)


def conclude(items: Sequence[SentinelItem]) -> Sentinel:
    """Return whether the marks of this run differ more than the repeats did.

    Fisher's exact test, one-sided: given how many of all requests differ from the remembered mark,
    the probability that as many of them are of this run (hypergeometric). Remembered mark, repeats
    and new marks of an item are exchangeable if the judge is the same.
    """
    found = Sentinel(items=tuple(items))
    (before, repeats), (differing, requests) = found.repeated, found.asked
    if not repeats or not requests:
        return found
    p_value = _tail(differing, requests, before + differing, repeats + requests)
    return replace(found, p_value=p_value, moved=p_value <= LEVEL)


def _tail(least: int, drawn: int, marked: int, total: int) -> float:
    """Return the probability of `least` or more marked ones among `drawn` of `total`."""
    ways = (
        comb(marked, k) * comb(total - marked, drawn - k)
        for k in range(least, min(drawn, marked) + 1)
    )
    return sum(ways) / comb(total, drawn)


def _candidates(cases: Sequence[CaseResult]) -> Iterator[tuple[str, SentinelItem]]:
    """Yield the kind and the item of each criterion that a judge marked."""
    for case in (case for case in cases if isinstance(case, Graded)):
        for result in case.evaluators:
            if isinstance(result, Assessed) and result.judge and result.weight > 0:
                for criterion in result.criteria:
                    item = SentinelItem(
                        file=case.file,
                        id=case.id,
                        evaluator=result.name,
                        criterion=criterion.id,
                        text=criterion.text,
                        answer=case.answer,
                        mark=criterion.mark,
                    )
                    yield criterion.kind, item


def _common(
    pair: tuple[str, SentinelItem], chosen: Sequence[tuple[str, SentinelItem]]
) -> tuple[int, int, int]:
    """Return how many of the chosen ones have the same answer, the same mark, the same text."""
    kind, item = pair
    return (
        sum((other.file, other.id) == (item.file, item.id) for _, other in chosen),
        sum((k, str(other.mark)) == (kind, str(item.mark)) for k, other in chosen),
        sum(other.text == item.text for _, other in chosen),
    )


def _digest(item: SentinelItem) -> str:
    name = f"{item.file}\n{item.id}\n{item.evaluator}\n{item.criterion}"
    return hashlib.sha256(name.encode()).hexdigest()
