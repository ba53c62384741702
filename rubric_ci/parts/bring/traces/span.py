"""The neutral value of trace files: a step of a program, facts about one, or a dataset item."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final, Literal, TypeAlias

from rubric_ci.models.agents.program import number
from rubric_ci.parts.bring.traces import chat_messages as chat
from rubric_ci.parts.bring.traces.chat_messages import ChatMessage
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
    is_item: bool = False  # an item of a dataset
    file: str = ""
    line: int = 0
    name: str = ""
    started: str = ""  # sorts as text within a trace
    question: tuple[ChatMessage, ...] = ()
    expected: JSON = None  # the reference answer of a dataset item
    measures: Mapping[str, JSON] = field(default_factory=dict)  # as in a recorded answer
    attributes: Mapping[str, JSON] = field(default_factory=dict)  # for `--where`
    tags: tuple[str, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    error: str = ""
    rest: Mapping[str, JSON] = field(default_factory=dict)  # of question and answer: no text of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Span(Traced):
    """A step, or a dataset item; facts about it that are in several records are joined."""

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


def talk(asked: JSON, said: JSON, expected: JSON = None) -> dict[str, Any]:
    """Return the facts of a span in its input, its output and its reference answer."""
    question, answer = chat.question(asked), chat.answer(said)
    found = (("input", question.rest), ("output", answer.rest))
    return {
        "question": question.messages,
        "answer": answer.messages,
        "expected": chat.last_text(chat.answer(expected).messages) or None,
        "rest": {key: rest for key, rest in found if rest is not None},
    }


def measures(
    tokens: Mapping[str, JSON], took: float | None = None, cost: float | None = None
) -> dict[str, JSON]:
    """Return tokens, milliseconds and dollars that are known, as a recorded answer has them."""
    counts = {name: count for name, count in tokens.items() if number(count)}
    facts = {"duration_ms": took, "cost_usd": cost, "token_usage": counts or None}
    return {name: fact for name, fact in facts.items() if fact is not None}


def item_of(record: Mapping[str, Any], asked: str, expected: str) -> Span:
    """Return an item from the keys of its question and of its reference answer."""
    identity = str(record.get("id") or "")  # downloads have none
    question = chat.question(record.get(asked))
    reference = chat.answer(record.get(expected))
    metadata = record.get("metadata")
    rest = {"input": question.rest, "expected_output": reference.rest, "metadata": metadata}
    return Span(
        trace=identity,
        id=identity,
        question=question.messages,
        expected=chat.last_text(reference.messages) or None,
        attributes={"metadata": metadata} if metadata else {},
        rest={key: each for key, each in rest.items() if each},
        is_item=True,
    )
