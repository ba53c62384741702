"""The `tool_trajectory` evaluator: counts, sequences and sets of tool calls."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from operator import itemgetter
from typing import Annotated, Any, Literal, TypeAlias, assert_never

from rubric_ci.errors import CannotMeasure
from rubric_ci.text.redact import Redactor
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, MeasuringSpec
from rubric_ci.values.json_value import JSON, equal
from rubric_ci.values.results import Answer, Assessment
from rubric_ci.values.scoring import DECIMALS
from rubric_ci.values.written_keys import Key

_Call: TypeAlias = Mapping[str, JSON]

_Found: TypeAlias = Mapping[int, _Call]
"""The call that was found for each expected one, by its index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """An expected tool call."""

    tool: Annotated[str, Key("search")]
    """Name of the tool."""
    args: Annotated[  # None: any
        Mapping[str, Any] | None,
        Key(
            {"query": "quicksort"},
            title="Arguments",
            type=["string", "object"],
            **{"if": {"type": "string"}, "then": {"enum": ["any"]}},
            default="any",
            to=lambda args, _: None if args == "any" else args,
        ),
    ] = None
    """Arguments that the call must have, or `any`."""
    exact_args: Annotated[
        bool,
        Key(
            "exact",
            name="args_match",
            title="Comparison of arguments",
            enum=["superset", "exact"],
            default="superset",
            to=lambda match, _: match == "exact",
        ),
    ] = False
    """`superset`: the call may have other arguments. `exact`: it has no others."""
    max_duration_ms: Annotated[float | None, Key(2000, title="Maximum duration", minimum=0)] = None
    """Maximum duration of the call in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTrajectorySpec(MeasuringSpec):
    """Expected tool calls of the target, their counts or their order."""

    type: str = "tool_trajectory"
    mode: Annotated[
        Literal["any_order", "in_order", "exact", "superset", "subset"], Key("in_order")
    ]
    """`any_order`: minimum number of calls per tool. `in_order`: the expected calls in this order,
    others between them allowed. `exact`: exactly the expected calls. `superset`: the expected calls
    and any others, in any order. `subset`: no calls but the expected ones."""
    minimums: Annotated[
        Mapping[str, int],
        Key({"search": 2}, minProperties=1, additionalProperties={"type": "integer", "minimum": 0}),
    ] = field(default_factory=dict)
    """Minimum number of calls of each tool."""
    expected: Annotated[  # for the others
        tuple[ExpectedCall, ...],
        Key([{"tool": "search"}, {"tool": "summarise"}], title="Expected calls", minItems=1),
    ] = ()
    """Expected calls; `in_order` and `exact`: in this order."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """Expected calls that were found, those that were not, and how many count."""

    hits: tuple[str, ...]
    misses: tuple[str, ...]
    of: int
    warnings: tuple[str, ...] = ()


def tool_trajectory(
    _: EvalCase, answer: Answer, spec: ToolTrajectorySpec, redact: Redactor
) -> Assessment:
    """Compare the tool calls; raises CannotMeasure if the target does not report them."""
    if answer.left_out:
        left = f"the report left out {answer.left_out:,} calls of a long trace"
        raise CannotMeasure(left)
    compared = _compare(answer, spec)
    return Assessment(
        score=round(len(compared.hits) / compared.of, DECIMALS),
        reasoning=_summary(answer),
        hits=compared.hits,
        misses=tuple(redact(miss) for miss in compared.misses),
        warnings=compared.warnings,
    )


def _compare(answer: Answer, spec: ToolTrajectorySpec) -> _Compared:
    match spec.mode:
        case "any_order":
            return _at_least(_counts(answer), spec.minimums)
        case "in_order":
            calls = _calls(answer)
            found = _followed(calls, spec.expected)
            return _with_durations(_in_order(spec.expected, found), spec.expected, found)
        case "exact":
            calls = _calls(answer)
            return _with_durations(_exact(calls, spec.expected), spec.expected, _same(calls, spec))
        case "superset":
            found = _assigned(_calls(answer), spec.expected)
            return _with_durations(_in_order(spec.expected, found), spec.expected, found)
        case "subset":
            calls = _calls(answer)
            return _with_durations(*_allowed(calls, spec.expected))
        case _:
            assert_never(spec.mode)


def _calls(answer: Answer) -> Sequence[_Call]:
    if not answer.reports_calls:
        raise CannotMeasure("the target reports no tool calls (`output_messages`)")
    return [call for message in answer.messages for call in message.get("tool_calls") or ()]


def _counts(answer: Answer) -> Mapping[str, int]:
    counted = (answer.trace_summary or {}).get("tool_calls_by_name")
    if not answer.reports_calls and isinstance(counted, dict):
        return {tool: count for tool, count in counted.items() if isinstance(count, int)}
    return Counter(call["tool"] for call in _calls(answer))


def _at_least(counts: Mapping[str, int], minimums: Mapping[str, int]) -> _Compared:
    texts = {
        tool: f"{tool}: {counts.get(tool, 0)} of at least {least} calls"
        for tool, least in minimums.items()
    }
    met = {tool for tool, least in minimums.items() if counts.get(tool, 0) >= least}
    return _Compared(
        hits=tuple(text for tool, text in texts.items() if tool in met),
        misses=tuple(text for tool, text in texts.items() if tool not in met),
        of=len(minimums),
    )


def _in_order(expected: Sequence[ExpectedCall], found: _Found) -> _Compared:
    """Count the expected calls that come in this order; other calls may be in between."""
    return _Compared(
        hits=tuple(_call_text(expected[i]) for i in found),
        misses=tuple(_call_text(call) for i, call in enumerate(expected) if i not in found),
        of=len(expected),
    )


def _followed(calls: Sequence[_Call], expected: Sequence[ExpectedCall]) -> _Found:
    """Return the first call of each expected tool after the one before, if its arguments fit.

    As in AgentV, a tool that is not called any more leaves nothing for those after it.
    """
    found: dict[int, _Call] = {}
    rest = iter(calls)
    for i, each in enumerate(expected):
        call = next((call for call in rest if call["tool"] == each.tool), None)
        if call is not None and not _difference(call, each):
            found[i] = call
    return found


def _assigned(calls: Sequence[_Call], expected: Sequence[ExpectedCall]) -> _Found:
    """Return a call for as many expected ones as possible, in any order; each call counts once."""
    taken: dict[int, int] = {}

    def fits(place: int, wanted: int) -> bool:
        return not _difference(calls[place], expected[wanted])

    for wanted in range(len(expected)):
        _assign(wanted, taken, fits, len(calls))
    return {wanted: calls[place] for place, wanted in sorted(taken.items(), key=itemgetter(1))}


def _assign(
    wanted: int, taken: dict[int, int], fits: Callable[[int, int], bool], places: int
) -> None:
    """Give a place to an expected call in `taken`; those that have theirs may move to others.

    Without recursion: a chain of moves may be as long as the list.
    """
    tried: set[int] = set()
    chain = [(wanted, iter(range(places)))]
    moved: list[int] = []
    while chain:
        owner, left = chain[-1]
        free = (place for place in range(places) if place not in taken and place not in tried)
        place = next((each for each in free if fits(each, owner)), None)
        if place is not None:
            for (each, _), at in zip(chain, (*moved, place), strict=True):
                taken[at] = each
            return
        place = next((each for each in left if each not in tried and fits(each, owner)), None)
        if place is not None:
            tried.add(place)
            moved.append(place)
            chain.append((taken[place], iter(range(places))))
        else:
            chain.pop()
            moved = moved[: max(len(chain) - 1, 0)]


def _allowed(
    calls: Sequence[_Call], expected: Sequence[ExpectedCall]
) -> tuple[_Compared, Sequence[ExpectedCall], _Found]:
    """Count the calls that an expected one fits, which may fit several; no call is not an error.

    The duration that counts for an expected call is the longest one.
    """
    fits = [[i for i, e in enumerate(expected) if not _difference(call, e)] for call in calls]
    names = [str(call["tool"]) for call in calls]
    compared = _Compared(
        hits=tuple(name for name, fit in zip(names, fits, strict=True) if fit)
        or (() if calls else ("no tool is called",)),
        misses=tuple(
            f"{name} is not expected" for name, fit in zip(names, fits, strict=True) if not fit
        ),
        of=max(len(calls), 1),
    )
    by_expected = {
        i: max((c for c, fit in zip(calls, fits, strict=True) if i in fit), key=_took)
        for i in sorted({i for fit in fits for i in fit})
    }
    return compared, expected, by_expected


def _same(calls: Sequence[_Call], spec: ToolTrajectorySpec) -> _Found:
    """Return the calls that are the expected ones at their positions."""
    pairs = zip(calls, spec.expected, strict=False)
    return {i: call for i, (call, each) in enumerate(pairs) if not _difference(call, each)}


def _with_durations(
    compared: _Compared, expected: Sequence[ExpectedCall], found: _Found
) -> _Compared:
    """Add a hit or a miss per maximum duration; one that cannot be compared does not count."""
    limited = {i: call for i, call in enumerate(expected) if call.max_duration_ms is not None}
    hits, misses, unknown = [], [], []
    for i in (i for i in limited if i in found):
        took = _duration(found[i])
        limit = limited[i].max_duration_ms or 0
        text = f"{expected[i].tool} within {limit:g} ms"
        if took is None:
            unknown.append(f"the target reports no duration of `{expected[i].tool}`")
        elif took <= limit:
            hits.append(text)
        else:
            misses.append(f"{text}: took {took:g} ms")
    return _Compared(
        hits=(*compared.hits, *hits),
        misses=(*compared.misses, *misses),
        of=compared.of + len(limited) - len(unknown),
        warnings=tuple(unknown),
    )


def _exact(calls: Sequence[_Call], expected: Sequence[ExpectedCall]) -> _Compared:
    """Compare call by call; an extra call counts like a missing one."""
    texts = [_call_text(each) for each in expected]
    wrong = [_difference(call, each) for call, each in zip(calls, expected, strict=False)] + [
        "is not called"
    ] * (len(expected) - len(calls))
    extra = [f"{call['tool']} is called beyond what is expected" for call in calls[len(expected) :]]
    pairs = list(zip(texts, wrong, strict=True))
    return _Compared(
        hits=tuple(text for text, difference in pairs if not difference),
        misses=(*(f"{text}: {difference}" for text, difference in pairs if difference), *extra),
        of=max(len(expected), len(calls)),
    )


def _difference(call: _Call, expected: ExpectedCall) -> str:
    """Return how a call differs from the expected one, or "" if it does not."""
    if call["tool"] != expected.tool:
        return f"{call['tool']} is called in its place"
    given = call.get("input") or {}
    for name, value in (expected.args or {}).items():
        if not isinstance(given, dict) or name not in given:
            return f"`{name}` is not given"
        if not equal(given[name], value):
            return f"`{name}` is {json.dumps(given[name], ensure_ascii=False)}"
    other = [name for name in given if name not in (expected.args or {})]
    exact = expected.exact_args and expected.args is not None
    return f"`{other[0]}` is given as well" if exact and other else ""


def _duration(call: _Call) -> float | None:
    took = call.get("duration_ms")
    return None if isinstance(took, bool) or not isinstance(took, int | float) else took


def _took(call: _Call) -> float:
    return _duration(call) or 0


def _call_text(call: ExpectedCall) -> str:
    args = json.dumps(dict(call.args), ensure_ascii=False) if call.args else ""
    return f"{call.tool}{f' with {args}' if args else ''}"


def _summary(answer: Answer) -> str:
    if not answer.messages:
        return ""
    names = [call["tool"] for call in _calls(answer)]
    return f"called: {', '.join(names)}" if names else "no tool is called"
