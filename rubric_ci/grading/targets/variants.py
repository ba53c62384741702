"""Harmless variants of a message: blanks at its end, other ones for each answer.

At a temperature of 0, with a seed, with a cache before the model, and from most programs, equal
messages get equal answers. A case that stands on an edge shows that in answers to variants, and a
case that is worse in all of them here and in none before is no edge.
"""

from dataclasses import replace

from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase


def varied(case: EvalCase, context: RunContext) -> EvalCase:
    """Return the case as it is sent; the first answer, and what judges see, is as written."""
    return replace(case, variant=blanks(context.trial)) if context.variants else case


def blanks(number: int) -> str:
    """Return as many line breaks and blanks, in turn."""
    return ("\n " * number)[:number]
