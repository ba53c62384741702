"""What a person sees who marks an answer: the question, the answer, one criterion, the keys.

What a judge said is not shown, nor is the weight or the gate: labels are worth something only if
they are independent of both.
"""

from collections.abc import Iterator
from textwrap import indent
from typing import assert_never

from rubric_ci.judging.measuring.agreement import word
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.rubric import Check, Criterion, Levelled, MarkValue, Scored
from rubric_ci.render.escape import one_line, visible


def render(
    case: EvalCase, answer: str, criterion: Criterion, *, place: str, known: MarkValue | None
) -> str:
    """Return the screen; `place` tells how far one is, `known` is the mark given before."""
    return "\n".join(_lines(case, answer, criterion, place, known))


def _lines(
    case: EvalCase, answer: str, criterion: Criterion, place: str, known: MarkValue | None
) -> Iterator[str]:
    yield f"{one_line(case.file)}: {one_line(case.id)}  ({place})"
    yield from _block("Question", case.question)
    yield from _block("Expected outcome", case.expected_outcome)
    yield from _block("Reference answer", case.reference_answer)
    yield from _block("Answer", answer or "(empty)")
    yield from _block(f"Criterion {one_line(criterion.id)}", _asked(criterion))
    yield ""
    if known is not None:
        yield f"Marked before: {word(known)}"
    yield f"{_keys(criterion)} · c cannot assess · s skip · b back · q quit"


def _block(title: str, text: str) -> Iterator[str]:
    if text.strip():
        yield ""
        yield f"{title}:"
        yield indent(visible(text).strip("\n"), "  ")


def _asked(criterion: Criterion) -> str:
    match criterion:
        case Check():
            return criterion.text
        case Scored():
            scale = [f"{r.low}-{r.high}: {r.text}" for r in criterion.ranges]
        case Levelled():
            scale = [
                f"{s.level}{f' ({s.name})' if s.name else ''}: {s.text}" for s in criterion.levels
            ]
        case _:
            assert_never(criterion)
    return "\n".join([criterion.text, *scale] if criterion.text else scale)


def _keys(criterion: Criterion) -> str:
    match criterion:
        case Check():
            return "y satisfied · n not satisfied"
        case Scored():
            return "0 to 10, then Enter"
        case Levelled():
            return f"{', '.join(str(s.level) for s in criterion.levels)}, then Enter"
        case _:
            assert_never(criterion)
