"""Which tools the target called: least counts, a sequence with gaps, or the exact sequence."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from rubric_ci.errors import CannotMeasure
from rubric_ci.evaluators.json_compare import same
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import JSON
from rubric_ci.model.evaluators import ExpectedCall, ToolTrajectorySpec
from rubric_ci.model.results import Answer, Assessed
from rubric_ci.model.scoring import DECIMALS, verdict
from rubric_ci.system.masking import redact

_Call: TypeAlias = Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class _Compared:
    """What was asked and found, what was asked and missed, and of how many."""

    hits: tuple[str, ...]
    misses: tuple[str, ...]
    of: int


def tool_trajectory(answer: Answer, spec: ToolTrajectorySpec, context: RunContext) -> Assessed:
    """Compare the calls; raises CannotMeasure where the target does not tell them."""
    compared = _compare(answer, spec)
    score = round(len(compared.hits) / compared.of, DECIMALS)
    return Assessed(
        name=spec.name,
        type=spec.type,
        weight=spec.weight,
        line=spec.span.line,
        score=score,
        verdict=verdict(score, (), context.thresholds).value,
        reasoning=_called(answer),
        hits=compared.hits,
        misses=compared.misses,
    )


def _compare(answer: Answer, spec: ToolTrajectorySpec) -> _Compared:
    match spec.mode:
        case "any_order":
            return _at_least(_counts(answer), spec.minimums)
        case "in_order":
            return _in_order(_calls(answer), spec.expected)
        case "exact":
            return _exact(_calls(answer), spec.expected)
        case _:
            assert_never(spec.mode)


def _calls(answer: Answer) -> Sequence[_Call]:
    if not answer.messages:
        raise CannotMeasure("the target does not tell its tool calls (`output_messages`)")
    return [call for message in answer.messages for call in message.get("tool_calls") or ()]


def _counts(answer: Answer) -> Mapping[str, int]:
    counted = (answer.trace_summary or {}).get("tool_calls_by_name")
    if not answer.messages and isinstance(counted, dict):
        return {tool: count for tool, count in counted.items() if isinstance(count, int)}
    return Counter(call["tool"] for call in _calls(answer))


def _at_least(counts: Mapping[str, int], minimums: Mapping[str, int]) -> _Compared:
    told = {
        tool: f"{tool}: {counts.get(tool, 0)} of at least {least} calls"
        for tool, least in minimums.items()
    }
    met = {tool for tool, least in minimums.items() if counts.get(tool, 0) >= least}
    return _Compared(
        hits=tuple(text for tool, text in told.items() if tool in met),
        misses=tuple(text for tool, text in told.items() if tool not in met),
        of=len(minimums),
    )


def _in_order(calls: Sequence[_Call], expected: Sequence[ExpectedCall]) -> _Compared:
    """Find as many of the expected calls as come in this order, whatever is between them."""
    found = _longest(calls, expected)
    return _Compared(
        hits=tuple(_told(expected[i]) for i in found),
        misses=tuple(_told(call) for i, call in enumerate(expected) if i not in found),
        of=len(expected),
    )


def _longest(calls: Sequence[_Call], expected: Sequence[ExpectedCall]) -> tuple[int, ...]:
    """Return the indices of expected calls in a longest common subsequence."""
    best: list[tuple[int, ...]] = [()] * (len(expected) + 1)  # by how many expected are looked at
    for call in calls:
        before = best
        best = [()]
        for i, wanted in enumerate(expected):
            options = [before[i + 1], best[i]]
            if not _difference(call, wanted):
                options.append((*before[i], i))
            best.append(max(options, key=len))
    return best[-1]


def _exact(calls: Sequence[_Call], expected: Sequence[ExpectedCall]) -> _Compared:
    """Compare call by call; one too many counts against it as one too few does."""
    told = [_told(wanted) for wanted in expected]
    wrong = [_difference(call, wanted) for call, wanted in zip(calls, expected, strict=False)] + [
        "is not called"
    ] * (len(expected) - len(calls))
    extra = [f"{call['tool']} is called beyond what is expected" for call in calls[len(expected) :]]
    pairs = list(zip(told, wrong, strict=True))
    return _Compared(
        hits=tuple(text for text, difference in pairs if not difference),
        misses=(*(f"{text}: {difference}" for text, difference in pairs if difference), *extra),
        of=max(len(expected), len(calls)),
    )


def _difference(call: _Call, wanted: ExpectedCall) -> str:
    """Say how a call is not the expected one; nothing where it is."""
    if call["tool"] != wanted.tool:
        return f"{call['tool']} is called in its place"
    given = call.get("input") or {}
    for name, value in (wanted.args or {}).items():
        if not isinstance(given, dict) or name not in given:
            return f"`{name}` is not given"
        if not same(given[name], value):
            return f"`{name}` is {redact(json.dumps(given[name], ensure_ascii=False))}"
    return _too_slow(call, wanted)


def _too_slow(call: _Call, wanted: ExpectedCall) -> str:
    if wanted.max_duration_ms is None:
        return ""
    took = call.get("duration_ms")
    if isinstance(took, bool) or not isinstance(took, int | float):
        raise CannotMeasure(f"the target does not tell how long `{wanted.tool}` took")
    return f"took {took:g} ms" if took > wanted.max_duration_ms else ""


def _told(call: ExpectedCall) -> str:
    args = json.dumps(dict(call.args), ensure_ascii=False) if call.args else ""
    limit = f" within {call.max_duration_ms:g} ms" if call.max_duration_ms is not None else ""
    return f"{call.tool}{f' with {args}' if args else ''}{limit}"


def _called(answer: Answer) -> str:
    if not answer.messages:
        return ""
    names = [call["tool"] for call in _calls(answer)]
    return f"called: {', '.join(names)}" if names else "no tool is called"
