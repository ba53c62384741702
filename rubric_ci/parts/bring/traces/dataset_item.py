"""Items of datasets: a question with a reference answer, and no answer of a program."""

from collections.abc import Mapping
from typing import Any

from rubric_ci.parts.bring.traces import chat_messages as chat
from rubric_ci.parts.bring.traces.span import Span


def item_of(record: Mapping[str, Any], asked: str, expected: str) -> Span:
    """Return an item from the keys of its question and of its reference answer."""
    identity = str(record.get("id") or "")  # downloads have none
    question = chat.question(record.get(asked))
    reference = chat.answer(record.get(expected))
    metadata = record.get("metadata")
    return Span(
        trace=identity,
        id=identity,
        question=question.messages,
        expected=chat.last_text(reference.messages) or None,
        attributes={"metadata": metadata} if metadata else {},
        rest={
            key: rest
            for key, rest in (
                ("input", question.rest),
                ("expected_output", reference.rest),
                ("metadata", metadata),
            )
            if rest
        },
        is_item=True,
    )
