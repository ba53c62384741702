"""A drop of all cases together: found by first trials, confirmed with fresh answers of the base.

The base's answers come from the cache, often of another day. A model behind an alias, or a judge,
may have moved since: then the base fails as well today, and the change is not to blame. So before a
drop counts, it must show with answers of the base that were asked for again: with some of them, or
with all. The level is the same, since older answers of the base say nothing about the change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final

from rubric_ci.gate.comparison import verdicts
from rubric_ci.services.run.confirmation import INTERRUPTED
from rubric_ci.services.run.sides import Key, Sides, without_cache
from rubric_ci.services.run.suspect import Pair, once
from rubric_ci.values.comparison import Drop
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import is_gating
from rubric_ci.values.results import CaseResult, Errored, Graded

MOST: Final = 100  # answers of the base that are asked for again first
BASE_MOVED: Final = 0.05  # level of the test that the base is worse today


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The pairs, perhaps with fresh answers of the base, and the drop; None: there is none."""

    pairs: Mapping[Key, Pair]
    drop: Drop | None = None


async def find(sides: Sides, every: Mapping[Key, Pair]) -> Found:
    """Return the drop of all pairs together, after the base was asked again where it must be."""
    pairs = {key: pair for key, pair in every.items() if is_gating(pair.head, sides.gate)}
    found = await _find(sides, pairs)
    return replace(found, pairs={**every, **found.pairs})


async def _find(sides: Sides, pairs: Mapping[Key, Pair]) -> Found:
    drop = verdicts.drop_of(_graded(pairs), sides.config)
    cached = [key for key, pair in pairs.items() if _is_cached(pair)]
    if drop is None or not (cached and sides.can_ask):
        return Found(pairs=pairs, drop=drop)
    drawn = _drawn(cached)
    now = await _asked_again(sides, pairs, drawn)
    seen = {key: now[key] for key in pairs if key not in cached or key in drawn}
    again = _graded({key: now[key] for key in drawn})
    p_value = verdicts.mean_p_value(_graded(seen))
    drop = replace(
        drop,
        again=len(again),
        again_p_value=p_value,
        again_level=drop.level,
        confirmed=p_value <= drop.level,
    )
    if not again:
        return Found(pairs=pairs, drop=replace(drop, confirmed=False, problem=_problem(now, drawn)))
    if drop.confirmed:
        return Found(pairs=_with_usage_of(pairs, now, drawn), drop=drop)
    found = await _of_today(sides, now, [key for key in cached if key not in drawn], drop)
    if found.drop is None or found.drop.confirmed:
        return found
    moved = _base_p_value(pairs, found.pairs) <= BASE_MOVED
    return replace(found, drop=replace(found.drop, base_moved=moved))


def _drawn(keys: Sequence[Key]) -> Sequence[Key]:
    """Return all keys, or as many as are asked again, drawn by chance."""
    if len(keys) <= MOST:
        return keys
    return sorted(Random(0).sample(keys, MOST))  # noqa: S311 - a sample, the same in every run


async def _of_today(
    sides: Sides, pairs: Mapping[Key, Pair], left: Sequence[Key], drop: Drop
) -> Found:
    """Return the pairs with fresh answers of the base, and the remaining drop."""
    now = await _asked_again(sides, pairs, left)
    again = verdicts.drop_of(_graded(now), sides.config)
    asked = drop.again + len(_graded({key: now[key] for key in left}))
    if again is None:
        return Found(pairs=now, drop=replace(drop, again=asked))
    return Found(pairs=now, drop=replace(again, again=asked, again_p_value=again.p_value))


def _base_p_value(before: Mapping[Key, Pair], now: Mapping[Key, Pair]) -> float:
    """Return the p-value of the null hypothesis that the base is no worse today."""
    bases = [(now[key].base, before[key].base) for key in before]
    both = [(a, b) for a, b in bases if isinstance(a, Graded) and isinstance(b, Graded)]
    return verdicts.mean_p_value([(a, b) for a, b in both if a is not b])


async def _asked_again(
    sides: Sides, pairs: Mapping[Key, Pair], keys: Sequence[Key]
) -> Mapping[Key, Pair]:
    """Return the pairs, of which these have a new answer of the base."""
    tasks = [once(pairs[key].base_task) for key in keys]
    results = await sides.graded(tasks, without_cache(sides.base_context))
    found = dict(pairs)
    for key in keys:
        pair = pairs[key]
        case = pair.base_task.case
        result = results.get(case.key) or Errored(
            file=case.file, line=case.span.line, id=case.id, reason=INTERRUPTED
        )
        found[key] = replace(pair, base=result)
    return found


def _graded(pairs: Mapping[Key, Pair]) -> list[tuple[Graded, Graded]]:
    return [
        (pair.head, pair.base)
        for pair in pairs.values()
        if isinstance(pair.head, Graded) and isinstance(pair.base, Graded)
    ]


def _is_cached(pair: Pair) -> bool:
    graded = isinstance(pair.head, Graded) and isinstance(pair.base, Graded)
    return graded and isinstance(pair.base, Graded) and pair.base.answer_reused


def _problem(pairs: Mapping[Key, Pair], keys: Sequence[Key]) -> str:
    """Return why the base has no fresh answer."""
    reasons = (base.reason for key in keys if isinstance(base := pairs[key].base, Errored))
    return next(reasons, "it was not graded")


def _with_usage_of(
    pairs: Mapping[Key, Pair], now: Mapping[Key, Pair], keys: Sequence[Key]
) -> Mapping[Key, Pair]:
    """Return the pairs unchanged, with the usage of asking the base again."""
    return {
        key: replace(pair, base=_used(pair.base, now[key].base)) if key in keys else pair
        for key, pair in pairs.items()
    }


def _used(base: CaseResult, again: CaseResult) -> CaseResult:
    if isinstance(base, Graded) and isinstance(again, Graded | Errored):
        return replace(base, usage=base.usage + again.usage)
    return base
