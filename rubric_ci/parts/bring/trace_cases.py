"""Cases of traces, one for each root span, their choice and masking."""

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.errors import CannotConfigure
from rubric_ci.parts.bring import chat_messages as chat
from rubric_ci.parts.bring.spans_and_otlp import Span, Traced
from rubric_ci.text.redact import MASK
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON, Missing, value_at
from rubric_ci.values.trace import Step

_Steps: TypeAlias = dict[str, Span]
"""The spans of one trace, by id."""


class LeftOut(NamedTuple):
    """A root span that is not a case, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCase(Traced):
    """A question that was asked, with the answer that was given."""

    span: str
    answer: str = ""
    steps: tuple[Step, ...] = ()


class Traces:
    """The spans of a file by their traces; facts in other records are joined to their span."""

    def __init__(self) -> None:
        self._traces: dict[str, _Steps] = defaultdict(dict)
        self._facts: dict[tuple[str, str], Span] = {}  # by trace and span, which may be unknown

    def add(self, span: Span) -> None:
        if span.is_step:
            known = self._traces[span.trace].get(span.id)
            self._traces[span.trace][span.id] = known.with_facts(span) if known else span
        else:
            key = span.trace, span.id
            known = self._facts.get(key)
            self._facts[key] = known.with_facts(span) if known else span

    def cases(self) -> Iterator[TraceCase | LeftOut]:
        """Yield the cases of all traces, in the order of the file."""
        about = self._join()
        for trace, steps in self._traces.items():
            yield from _cases(steps, about.pop(trace, None))
        for facts in about.values():
            yield LeftOut(facts.line, "with scores or messages only, and no span")

    def _join(self) -> dict[str, Span]:
        """Join facts to their spans; return those about a trace as a whole, or an unknown span."""
        owners = {
            (trace, name): (steps, span.id)
            for whole, steps in self._traces.items()
            for span in steps.values()
            for name in filter(None, (span.id, span.row))
            for trace in ("", whole)
            if self._facts
        }
        about: dict[str, Span] = {}
        for (trace, name), facts in self._facts.items():
            if found := owners.get((trace, name)):
                steps, key = found
                steps[key] = steps[key].with_facts(facts)
            else:
                whole = trace or name
                about[whole] = about[whole].with_facts(facts) if whole in about else facts
        return about


def _cases(steps: _Steps, about: Span | None) -> Iterator[TraceCase | LeftOut]:
    children: dict[str, list[Span]] = defaultdict(list)
    for span in steps.values():
        children[span.parent if span.parent in steps else ""].append(span)
    roots = sorted(children.pop("", []), key=lambda span: span.started)
    if not roots:
        yield LeftOut(next(iter(steps.values())).line, "with spans that are each other's parent")
    for number, root in enumerate(roots):
        own = root.with_facts(about) if about and number == 0 else root
        yield _case(own, [own, *_below(root, children)])


def _below(root: Span, children: Mapping[str, Sequence[Span]]) -> list[Span]:
    """Return the spans below a root in the order of their start, without evaluator spans."""
    found: list[Span] = []
    waiting = list(children.get(root.id, ()))
    while waiting:
        span = waiting.pop()
        if span.kind != "evaluator":
            found.append(span)
            waiting.extend(children.get(span.id, ()))
    return sorted(found, key=lambda span: span.started)


def _case(root: Span, spans: Sequence[Span]) -> TraceCase | LeftOut:
    if root.kind == "evaluator":
        return LeftOut(root.line, "of an evaluator")
    speaking = [span for span in spans if span.kind != "tool"]
    asked = next((span for span in speaking if span.question), None)
    if asked is None:
        return LeftOut(root.line, "without a question")
    said = root if root.answer else next((s for s in reversed(speaking) if s.answer), root)
    head, _ = chat.split(asked.question)
    return TraceCase(
        trace=root.trace,
        span=root.id,
        file=root.file,
        line=root.line,
        name=root.name,
        started=root.started,
        question=tuple(head or asked.question),
        answer=chat.last_text(said.answer),
        steps=tuple(_steps(spans, speaking)),
        expected=root.expected,
        measures=_measures(root, spans),
        # The first span that has a key decides.
        attributes={k: each for span in reversed(spans) for k, each in span.attributes.items()},
        tags=tuple(dict.fromkeys(tag for span in spans for tag in span.tags)),
        feedback=tuple(given for span in spans for given in span.feedback),
        error=root.error,
        rest={**said.rest, **asked.rest, **root.rest},
    )


def _steps(spans: Sequence[Span], speaking: Sequence[Span]) -> Iterator[Step]:
    """Yield the calls of tools: their spans, else those in the messages of the last model.

    Programs that do not record content have spans of tools without arguments and results.
    """
    made = [
        replace(span.tool, error=span.error, duration_ms=span.measures.get("duration_ms"))
        for span in spans
        if span.tool
    ]
    talks = [(*span.question, *span.answer) for span in speaking if span.question]
    said = list(chat.steps(chat.split(talks[-1])[1])) if talks else []
    with_content = any(step.arguments or step.result for step in made)
    yield from made if with_content or not said else said


def _measures(root: Span, spans: Sequence[Span]) -> dict[str, JSON]:
    """Return duration, and tokens and cost: the root's, else the sum of the models'."""
    models = [span.measures for span in spans if span.kind == "model"]
    found = dict(root.measures)
    counts = [each["token_usage"] for each in models if "token_usage" in each]
    costs = [each["cost_usd"] for each in models if "cost_usd" in each]
    if counts:
        names = dict.fromkeys(name for each in counts for name in each)
        sums = {name: sum(each.get(name, 0) for each in counts) for name in names}
        found.setdefault("token_usage", sums)
    if costs:
        found.setdefault("cost_usd", sum(costs))
    return {name: value for name, value in found.items() if _is_measure(value)}


def _is_measure(value: JSON) -> bool:
    if isinstance(value, dict):
        return all(map(_is_measure, value.values()))
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0


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
        texts = (str(v).lower() if isinstance(v, bool) else str(v) for v in values)
        equal = any(fnmatchcase(text, self.value) for text in texts)
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

    def draw(case: TraceCase) -> bytes:
        return hashlib.sha256(f"{seed}\n{case.trace}\n{case.span}".encode()).digest()

    drawn = sorted(cases, key=draw)[:size]
    kept = {(case.trace, case.span) for case in drawn}
    return [case for case in cases if (case.trace, case.span) in kept]


def fact(case: TraceCase, key: str) -> JSON | Missing:
    """Return a fact of a trace by its key: ours, an attribute, or a path into one."""
    own = _facts(case)
    if key in own:
        return own[key]
    if key in case.attributes:
        return case.attributes[key]
    return value_at(case.attributes, key)


def _facts(case: TraceCase) -> dict[str, Any]:
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
    yield from _facts(case)
    for key, value in case.attributes.items():
        yield key
        if isinstance(value, dict):
            yield from (f"{key}.{inner}" for inner in value)


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


SECRET: Final = "secret"  # noqa: S105 - the name of a kind
KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    "EMAIL": re.compile(r"(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,9}+"),
    "PHONE": re.compile(
        r"(?<![\w+.-])(?:(?:\+|00)[1-9](?:[ ().\/-]{0,2}\d){6,13}"
        r"|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}"
        r"|\(?0\d{1,4}\)?[ \/-]\d(?:[ -]?\d){4,9})(?![\w-])"
    ),
}
_KEYS: Final = re.compile(
    r"(?<![\w-])(?:sk-[\w-]{16,400}+|gh[oprsu]_\w{20,255}+|github_pat_\w{20,255}+"
    r"|glpat-[\w-]{16,64}+|xox[abeprs]-[\w-]{10,255}+|A[KS]IA[A-Z\d]{16}|AIza[\w-]{35}"
    r"|hf_\w{20,64}+|lsv2_\w{16,128}+|npm_\w{30,64}+|pypi-[\w-]{16,400}+"
    r"|eyJ[\w-]{10,4000}+\.eyJ[\w-]{5,4000}+\.[\w-]{5,4000}+)"
)


class Masker:
    """Masks known secrets, keys of known forms and kinds of personal data, and counts them."""

    def __init__(self, kinds: Iterable[str], hide: Callable[[str], str]) -> None:
        self._kinds = tuple((kind, KINDS[kind]) for kind in kinds)
        self._hide = hide
        self.counts: Counter[str] = Counter()

    def __call__(self, text: str) -> str:
        """Return the text with secrets as `***`, and personal data as its kind."""
        hidden = self._hide(text)
        self.counts[SECRET] += hidden.count(MASK) - text.count(MASK)
        text, found = _KEYS.subn(MASK, hidden)
        self.counts[SECRET] += found
        for kind, pattern in self._kinds:
            text, found = pattern.subn(f"[{kind}]", text)
            self.counts[kind] += found
        return text

    def value(self, value: Any) -> Any:
        """Return a value with every text in it masked, keys as well."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {self(str(key)): self.value(each) for key, each in value.items()}
        return value
