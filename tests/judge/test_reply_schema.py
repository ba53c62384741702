"""The reply schema: limits of providers on its size."""

import json

import pytest

from rubric_ci.judge.canary import with_canary
from rubric_ci.judge.reply_schema import reply_schema
from rubric_ci.judge.voting import grouped, most_per_request
from rubric_ci.model.config import Endpoint, JudgeConfig
from rubric_ci.model.diagnostics import Span
from rubric_ci.model.rubric import Check, Criterion, Level, Levelled, Scored, ScoreRange

ANTHROPIC_UNIONS = 16  # parameters with `anyOf` or several types, per request

SPAN = Span(1, 1, 1, 2)


def criteria(count: int) -> tuple[Criterion, ...]:
    """Return criteria of all kinds in turn."""
    levels = (Level(level=1, text="a"), Level(level=2, text="b"))
    ranges = (ScoreRange(low=0, high=10, text="x"),)
    kinds: list[Criterion] = [
        Check(id="c", text="x", span=SPAN),
        Scored(id="s", ranges=ranges, span=SPAN),
        Levelled(id="l", levels=levels, span=SPAN),
    ]
    return tuple(kinds[n % 3] for n in range(count))


@pytest.mark.parametrize("canary", [False, True], ids=["plain", "canary"])
@pytest.mark.parametrize("count", [*range(1, 41), 100])
def test_no_request_has_more_unions_than_anthropic_accepts(count: int, canary: bool) -> None:
    judge = JudgeConfig(endpoint=Endpoint(model="m", options={}), canary=canary)
    for group in grouped(criteria(count), most_per_request(judge)):
        asked = with_canary(group, "answer") if canary else group
        assert json.dumps(reply_schema(asked)).count('"anyOf"') <= ANTHROPIC_UNIONS
