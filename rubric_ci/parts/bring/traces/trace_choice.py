"""The choice of cases of traces: by their facts, each question once, a sample."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from rubric_ci.errors import CannotConfigure
from rubric_ci.parts.bring.traces.trace_cases import TraceCase
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.json_value import JSON, Missing, value_at

_CONDITION: Final = re.compile(r"([^=<>!]++)(!=|=|<|>)(.*+)", re.DOTALL)


class Condition(NamedTuple):
    """A condition on a fact of a trace, as it was typed."""

    key: str
    sign: str
    value: str

    def fits(self, case: TraceCase) -> bool:
        """Return True for a trace with such a fact; without it, only `!=` holds."""
        found = fact(case, self.key)
        if isinstance(found, Missing):
            return self.sign == "!="
        values = found if isinstance(found, list) else [found]
        if self.sign in "<>":
            return any(_compared(each, self.sign, self.value) for each in values)
        equal = any(fnmatchcase(_text(each), self.value) for each in values)
        return equal == (self.sign == "=")


def conditions(typed: Iterable[str]) -> list[Condition]:
    """Return the conditions of `--where`; raises CannotConfigure."""
    found = []
    for each in typed:
        if not (parts := _CONDITION.fullmatch(each)):
            raise CannotConfigure(
                f"`--where {each}` is not a condition",
                "write KEY=VALUE, KEY!=VALUE, KEY<N or KEY>N",
            )
        key, sign, value = (part.strip() for part in parts.groups())
        if sign in "<>" and _number(value) is None:
            raise CannotConfigure(f"`--where {each}`: {value or 'nothing'} is not a number")
        found.append(Condition(key, sign, value))
    return found


def chosen(cases: Sequence[TraceCase], wanted: Sequence[Condition]) -> list[TraceCase]:
    """Return the cases that fit all conditions; raises CannotConfigure for a key of none."""
    for each in wanted:
        if cases and all(isinstance(fact(case, each.key), Missing) for case in cases):
            known = sorted({key for case in cases for key in _keys(case)})
            near = nearest(each.key, known, most=len(known))
            shown = f"the keys are {', '.join(known[:30])}"
            raise CannotConfigure(f"no trace has `{each.key}`", did_you_mean(near) or shown)
    return [case for case in cases if all(each.fits(case) for each in wanted)]


def each_once(cases: Iterable[TraceCase]) -> list[TraceCase]:
    """Return the first case of each question; white space and case do not count."""
    found: dict[tuple[tuple[str, str], ...], TraceCase] = {}
    for case in cases:
        key = tuple((m.role, " ".join(m.text.split()).casefold()) for m in case.question)
        found.setdefault(key, case)
    return list(found.values())


def sample(cases: Sequence[TraceCase], size: int, seed: int) -> list[TraceCase]:
    """Return so many cases in their order; the draw depends on their ids and the seed only."""
    drawn = sorted(cases, key=lambda case: _draw(case, seed))[:size]
    kept = {(case.trace, case.span) for case in drawn}
    return [case for case in cases if (case.trace, case.span) in kept]


def fact(case: TraceCase, key: str) -> JSON | Missing:
    """Return a fact of a trace by its key: ours, an attribute, or a path into one."""
    own = _own(case)
    if key in own:
        return own[key]
    if key in case.attributes:
        return case.attributes[key]
    return value_at(case.attributes, key)


def _own(case: TraceCase) -> dict[str, Any]:
    feedback = {f"feedback.{each.name}": each.value for each in case.feedback}
    return {
        "name": case.name,
        "trace": case.trace,
        "status": "error" if case.error else "ok",
        "tag": list(case.tags),
        "question": "\n".join(each.text for each in case.question),
        "answer": case.answer,
        "tool": [step.tool for step in case.steps],
        **{name: value for name, value in case.measures.items() if name != "token_usage"},
        **feedback,
    }


def _keys(case: TraceCase) -> Iterable[str]:
    yield from _own(case)
    for key, value in case.attributes.items():
        yield key
        if isinstance(value, dict):
            yield from (f"{key}.{inner}" for inner in value)


def _draw(case: TraceCase, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{case.trace}\n{case.span}".encode()).digest()


def _compared(value: JSON, sign: str, than: str) -> bool:
    one, other = _number(value), _number(than)
    if one is None or other is None:
        return False
    return one < other if sign == "<" else one > other


def _number(value: JSON) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _text(value: JSON) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)
