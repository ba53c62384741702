"""Spans of traces: a step of a program, or facts about one; and OTLP's spans.

OpenTelemetry's OTLP in JSON has spans, and log records with messages or evaluations of them. The
attributes follow OpenTelemetry's GenAI conventions, OpenInference or OpenLLMetry.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Final, Literal, TypeAlias

from rubric_ci.models.agents import otlp
from rubric_ci.models.agents.otlp import decoded
from rubric_ci.models.agents.program import as_text, items, mapping, number
from rubric_ci.parts.bring import chat_messages as chat
from rubric_ci.parts.bring.chat_messages import ChatMessage
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.trace import Step

Kind: TypeAlias = Literal["model", "tool", "evaluator", ""]

ROOT: Final = ""
"""The id of facts about a trace as a whole."""


class Unreadable(ValueError):
    """A record of a trace file cannot be read; the message is a sentence for its line."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """One score or label that a person or an evaluator gave."""

    name: str
    value: JSON
    comment: str = ""

    @property
    def tag(self) -> str:
        """Return the tag of a case; numbers have at most four digits."""
        number = isinstance(self.value, float)
        return f"{self.name}={self.value:.4g}" if number else f"{self.name}={self.value}"


def marked(name: str, label: JSON, score: JSON, comment: JSON) -> Feedback:
    """Return a mark with its label, or with its score if it has none."""
    return Feedback(name, score if label is None else label, str(comment or ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """The facts of a span, and of the case that it becomes."""

    trace: str
    file: str = ""
    line: int = 0
    name: str = ""
    started: str = ""  # sorts as text within a trace
    question: tuple[ChatMessage, ...] = ()
    expected: JSON = None  # the reference answer
    measures: Mapping[str, JSON] = field(default_factory=dict)  # as in a recorded answer
    attributes: Mapping[str, JSON] = field(default_factory=dict)  # for `--where`
    tags: tuple[str, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    error: str = ""
    rest: Mapping[str, JSON] = field(default_factory=dict)  # of question and answer: no text of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Span(Traced):
    """A step; facts about it that are in several records are joined."""

    id: str = ROOT
    row: str = ""  # another id, by which later records may name it
    parent: str = ""  # "": it is a root, or its parent is unknown
    is_step: bool = True  # False: only facts about a step, or about a trace
    kind: Kind = ""
    answer: tuple[ChatMessage, ...] = ()
    tool: Step | None = None

    def with_facts(self, other: "Span") -> "Span":
        """Return the span with the facts of another record, which may be one message."""
        step, more = (other, self) if other.is_step and not self.is_step else (self, other)
        asked, said = step.question or more.question, step.answer or more.answer
        if not step.is_step:
            asked, said = (*step.question, *more.question), (*step.answer, *more.answer)
        return replace(
            step,
            parent=step.parent or more.parent,
            question=asked,
            answer=said,
            attributes={**more.attributes, **step.attributes},
            measures={**more.measures, **step.measures},
            tags=(*step.tags, *more.tags),
            feedback=(*step.feedback, *more.feedback),
            error=step.error or more.error,
            rest={**more.rest, **step.rest},
        )


def talk(
    asked: JSON, said: JSON, expected: JSON = None, *, kind: Kind = "", name: str = ""
) -> dict[str, Any]:
    """Return the facts of a span in its input, its output and its reference answer."""
    question, answer = chat.question(asked), chat.answer(said)
    found = (("input", question.rest), ("output", answer.rest))
    tool = None
    if kind == "tool":
        arguments, result = chat.decoded(_only(asked, "input")), chat.decoded(_only(said, "output"))
        tool = Step(tool=name or "unknown", arguments=arguments, result=as_text(result))
    return {
        "kind": kind,
        "name": name,
        "tool": tool,
        "question": question.messages,
        "answer": answer.messages,
        "expected": chat.last_text(chat.answer(expected).messages) or None,
        "rest": {key: rest for key, rest in found if rest is not None},
    }


def _only(value: JSON, key: str) -> JSON:
    """Return the value of a mapping that has this key only, else the value itself."""
    return value[key] if isinstance(value, dict) and value.keys() == {key} else value


def measures(
    tokens: Mapping[str, JSON], took: float | None = None, cost: float | None = None
) -> dict[str, JSON]:
    """Return tokens, milliseconds and dollars that are known, as a recorded answer has them."""
    counts = {name: count for name, count in tokens.items() if number(count)}
    facts = {"duration_ms": took, "cost_usd": cost, "token_usage": counts or None}
    return {name: fact for name, fact in facts.items() if fact is not None}


_PROTOCOL: Final = ("resource_spans", "resource_logs")
_EXPORTS: Final = ("resourceSpans", "resourceLogs", *_PROTOCOL)
_LOWER: Final = re.compile(r"_([a-z])")


def is_record(record: Mapping[str, Any]) -> bool:
    return any(isinstance(record.get(key), list) for key in _EXPORTS)


def read_spans(record: Mapping[str, Any]) -> Iterator[Span]:
    """Yield the spans of an export, and what its log records say of them."""
    if not is_record(record):
        raise Unreadable("it has neither `resourceSpans` nor `resourceLogs`, as OTLP has")
    if any(key in record for key in _PROTOCOL):
        record = _camel(record)
    yield from map(_exported, otlp.spans([record]))
    for resource in map(mapping, items(record.get("resourceLogs"))):
        for scope in map(mapping, items(resource.get("scopeLogs"))):
            yield from filter(None, map(_log, map(mapping, items(scope.get("logRecords")))))


def _camel(value: Any) -> Any:
    """Return a value with the keys of OTLP's JSON in place of names of its protocol buffers.

    Names that a program gave are values of `key`, and stay.
    """
    if isinstance(value, list):
        return [_camel(each) for each in value]
    if not isinstance(value, dict):
        return value
    names = {key: _LOWER.sub(lambda letter: letter[1].upper(), str(key)) for key in value}
    return {names[key]: _camel(each) for key, each in value.items()}


def _exported(written: Mapping[str, Any]) -> Span:
    trace, identity, parent = (
        str(written.get(key) or "") for key in ("traceId", "spanId", "parentSpanId")
    )
    if not trace or not identity:
        raise Unreadable("a span has no `traceId` or no `spanId`")
    events = [
        (str(each.get("name", "")), otlp.attributes(each.get("attributes")))
        for each in map(mapping, items(written.get("events")))
    ]
    found = otlp.attributes(written.get("attributes"))
    given = read_attributes(found, str(written.get("name", "")), events)
    return replace(
        given,
        trace=trace,
        id=identity,
        parent="" if parent.strip("0") == "" else parent,
        started=str(written.get("startTimeUnixNano", "")).zfill(20),
        error=otlp.error_of(written, found),
        measures={"duration_ms": otlp.took(written), **given.measures},
    )


def _log(written: Mapping[str, Any]) -> Span | None:
    """Return the facts about a span in a log record; None: it is about something else."""
    found = otlp.attributes(written.get("attributes"))
    name = str(written.get("eventName") or found.get("event.name") or "")
    trace, identity = (str(written.get(key) or "") for key in ("traceId", "spanId"))
    if not name.startswith("gen_ai.") or not trace or not identity:
        return None
    facts = {**mapping(otlp.value(written.get("body"))), **found}
    given = read_attributes(facts, events=[(name, facts)])
    return replace(given, trace=trace, id=identity, is_step=False)


Attributes: TypeAlias = Mapping[str, Any]
Event: TypeAlias = tuple[str, Attributes]
"""The name of an event of a span, and its attributes."""

_EVALUATION: Final = "gen_ai.evaluation.result"
_KINDS: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(("chat", "generate_content", "text_completion", "llm", "generation"), "model"),
    **dict.fromkeys(("execute_tool", "tool", "ai.toolcall"), "tool"),
    "evaluator": "evaluator",
}
_KIND_NAMES: Final = (
    *("gen_ai.operation.name", "openinference.span.kind", "langfuse.observation.type"),
    *("traceloop.span.kind", "ai.operationId"),
)
_INPUTS: Final = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt")
_OUTPUTS: Final = ("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion")
_INPUT_VALUES: Final = (
    *("input.value", "langfuse.observation.input", "traceloop.entity.input"),
    *("ai.prompt.messages", "ai.prompt", "ai.toolCall.args"),
)
_OUTPUT_VALUES: Final = (
    *("output.value", "langfuse.observation.output", "traceloop.entity.output"),
    *("ai.response.text", "ai.toolCall.result"),
)
_EVENT_ROLES: Final = ("system", "user", "assistant", "tool")  # until conventions 1.36
_CONTENT: Final = (
    *("gen_ai.input.", "gen_ai.output.", "gen_ai.system_instr", "gen_ai.tool.def"),
    *("gen_ai.tool.call.", "gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages"),
    *("llm.output_messages", "llm.tools", "llm.prompts", "input.value", "output.value"),
)
_DEEPEST: Final = 20  # levels of a dotted key


def read_attributes(found: Attributes, name: str = "", events: Iterable[Event] = ()) -> Span:
    """Return the facts in the attributes and events of a span, without its ids and times."""
    nested, answers = nest(found), list(events)
    kind = _kind(nested)
    return Span(
        trace="",
        name=name,
        kind=kind,
        question=_question(nested, answers),
        answer=_answer(nested, answers),
        tool=_tool(nested, name, answers) if kind == "tool" else None,
        measures=_measures(nested),
        attributes={key: each for key, each in found.items() if not key.startswith(_CONTENT)},
        feedback=(
            *(_feedback(facts) for event, facts in answers if event == _EVALUATION),
            *_annotations(nested),
        ),
    )


def nest(found: Attributes) -> dict[str, Any]:
    """Return attributes with dotted keys as nested mappings; indices of lists are keys."""
    nested: dict[str, Any] = {}
    for key, value in found.items():
        *path, last = str(key).split(".", _DEEPEST)
        owner = nested
        for step in path:
            inner = owner.setdefault(step, {})
            if not isinstance(inner, dict):
                inner = owner[step] = {"": inner}
            owner = inner
        owner[last] = nest(value) if isinstance(value, dict) else value
    return nested


def at(nested: Attributes, path: str) -> JSON:
    """Return the value at a dotted path; None: there is none."""
    value: Any = nested
    for step in path.split("."):
        value = mapping(value).get(step)
    return value


def _kind(nested: Attributes) -> Kind:
    names = [str(at(nested, each)).lower() for each in _KIND_NAMES]
    found: Kind = next((_KINDS[name] for name in names if name in _KINDS), "")
    return "tool" if at(nested, "gen_ai.tool.call") else found


def _question(nested: Attributes, events: Iterable[Event]) -> tuple[chat.ChatMessage, ...]:
    instructions = decoded(at(nested, "gen_ai.system_instructions"))
    system = chat.question([{"role": "system", "parts": instructions}]).messages
    texts = "\n".join(each.text for each in system)
    before = (chat.ChatMessage(role="system", text=texts),) if texts else ()
    questions = _first(nested, _INPUTS)
    questions = questions or tuple(each for event in events for each in _asked(*event))
    return (*before, *(questions or chat.question(_value(nested, _INPUT_VALUES)).messages))


def _answer(nested: Attributes, events: Iterable[Event]) -> tuple[chat.ChatMessage, ...]:
    answers = _first(nested, _OUTPUTS)
    answers = answers or tuple(each for event in events for each in _choice(*event))
    return answers or chat.answer(_value(nested, _OUTPUT_VALUES)).messages


def _value(nested: Attributes, paths: Iterable[str]) -> JSON:
    """Return the first value of these paths that is not empty; None: there is none."""
    return next(filter(None, (at(nested, each) for each in paths)), None)


def _first(nested: Attributes, paths: Iterable[str]) -> tuple[chat.ChatMessage, ...]:
    values = (_listed(decoded(at(nested, path))) for path in paths)
    return next((chat.question(value).messages for value in values if value), ())


def _listed(value: JSON) -> JSON:
    """Return mappings whose keys are indices as lists, at any depth; dotted keys nested."""
    if isinstance(value, list):
        return [_listed(each) for each in value]
    if not isinstance(value, dict):
        return value
    value = nest(value)
    if value and all(str(key).isdecimal() and len(str(key)) < 6 for key in value):
        return [_listed(value[key]) for key in sorted(value, key=int)]
    return {key: _listed(each) for key, each in value.items()}


def _asked(name: str, facts: Attributes) -> Iterator[chat.ChatMessage]:
    """Yield the message of an event of the conventions before 1.37."""
    role = name.removeprefix("gen_ai.").removesuffix(".message")
    if role in _EVENT_ROLES and name.endswith(".message"):
        content = decoded(facts.get("content"))
        yield from chat.question([{**facts, "content": content, "role": role}]).messages


def _choice(name: str, facts: Attributes) -> Iterator[chat.ChatMessage]:
    if name == "gen_ai.choice":
        message = decoded(facts.get("message", facts.get("content")))
        whole = message if isinstance(message, dict) else {"content": message}
        yield from chat.question([{**whole, "role": "assistant"}]).messages


def _tool(nested: Attributes, name: str, events: Iterable[Event]) -> Step:
    """Return the call of a tool: of attributes, else of events, whose choice is the result."""
    given = dict(events)
    content = given.get("gen_ai.tool.message", {}).get("content")
    answers = chat.last_text([each for event in given.items() for each in _choice(*event)])
    return Step(
        tool=str(at(nested, "gen_ai.tool.name") or at(nested, "tool.name") or name),
        arguments=decoded(
            _value(nested, ("gen_ai.tool.call.arguments", *_INPUT_VALUES)) or content
        ),
        result=as_text(_value(nested, ("gen_ai.tool.call.result", *_OUTPUT_VALUES)) or answers),
    )


def _measures(nested: Attributes) -> dict[str, Any]:
    paths = {
        "input": ("gen_ai.usage.input_tokens", "llm.token_count.prompt"),
        "output": ("gen_ai.usage.output_tokens", "llm.token_count.completion"),
    }
    tokens = {
        name: count
        for name, known in paths.items()
        if isinstance(count := _value(nested, known), int)
    }
    return {"token_usage": tokens} if tokens else {}


_EVALUATED: Final = ("score.label", "score.value", "explanation")


def _feedback(facts: Attributes) -> Feedback:
    found = (facts.get(f"gen_ai.evaluation.{key}") for key in _EVALUATED)
    return marked(str(facts.get("gen_ai.evaluation.name") or "evaluation"), *found)


def _annotations(nested: Attributes) -> Iterator[Feedback]:
    """Yield the annotations of OpenInference, which Phoenix's downloads have as attributes."""
    for place in ("annotations", "trace.annotations"):
        for each in map(mapping, items(_listed(at(nested, place)))):
            given = mapping(each.get("annotation"))
            found = (given.get(key) for key in ("label", "score", "explanation"))
            yield marked(str(given.get("name") or "annotation"), *found)
