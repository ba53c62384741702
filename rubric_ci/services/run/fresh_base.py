"""All cases together: a drop counts if it shows with new answers of the base as well.

Answers of the base may be from the cache, of another day. A model behind an alias or the judge may
have moved since: then the base fails as well today, and the change is not to blame.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rubric_ci.gate.comparison import together
from rubric_ci.services.run.asking import Key
from rubric_ci.services.run.sides import Sides, again
from rubric_ci.services.run.suspect import Pair, once
from rubric_ci.values.comparison import Together
from rubric_ci.values.gate import is_gating
from rubric_ci.values.results import Errored, Graded


async def find_together(sides: Sides, every: Mapping[Key, Pair]) -> Together | None:
    """Return the test of the cases that the gate is about; the base is asked again if they fell."""
    pairs = [pair for pair in every.values() if is_gating(pair.head, sides.gate)]
    found = together.find(_graded(pairs))
    if found is None or not found.worse or not sides.can_ask:
        return found
    now = await _asked_again(sides, [pair for pair in pairs if pair.base_task])
    fresh = [(n.head, n.base) for n in now if isinstance(n.base, Graded)]
    if not fresh:
        return replace(found, worse=False, problem=_problem(now))
    same = [pair for pair in pairs if not pair.base_task]
    worse, p_value = together.is_worse(_graded([*now, *same]))
    moved = not worse and together.is_worse(_bases(pairs, now))[0]
    return replace(found, again=len(fresh), again_p_value=p_value, worse=worse, before_moved=moved)


async def _asked_again(sides: Sides, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with a new answer of the base."""
    tasks = [once(pair.base_task) for pair in pairs if pair.base_task]
    context = again(sides.base_context, reuse=False)
    results = await sides.graded(tasks, [context] * len(tasks))
    return [
        replace(pair, base=result)
        for pair, result in zip(pairs, results, strict=True)
        if result is not None
    ]


def _graded(pairs: Sequence[Pair]) -> list[tuple[Graded, Graded]]:
    return [
        (pair.head, pair.base)
        for pair in pairs
        if isinstance(pair.head, Graded) and isinstance(pair.base, Graded)
    ]


def _bases(before: Sequence[Pair], now: Sequence[Pair]) -> list[tuple[Graded, Graded]]:
    """Return the new and the former result of the base of each pair."""
    then = {pair.head.key: pair.base for pair in before}
    both = ((pair.base, then[pair.head.key]) for pair in now)
    return [(a, b) for a, b in both if isinstance(a, Graded) and isinstance(b, Graded)]


def _problem(pairs: Sequence[Pair]) -> str:
    """Return why the base has no new answer."""
    reasons = (pair.base.reason for pair in pairs if isinstance(pair.base, Errored))
    return next(reasons, "it cannot be asked again")
