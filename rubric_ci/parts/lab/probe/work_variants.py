"""Variants of an answer whose work lacks what a criterion quotes: calls, changes, kept files."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rubric_ci.models.judge.prompt_parts import call_text, change_text, file_text
from rubric_ci.parts.lab.probe.quote_variants import Variant
from rubric_ci.values.answers import KeptAnswer, answer_of, kept
from rubric_ci.values.results import Answer
from rubric_ci.values.trace import CaseTrace, SeenPart, Step

WORK: Final[tuple[SeenPart, ...]] = ("tool_calls", "file_changes", "files")


def without_quoted(answer: Answer, quote: str, other: Answer) -> Iterator[Variant]:
    """Yield the answer without all that holds the quote, with other work, and without any work.

    A quote of a result alone is taken away with the result as well: the call failed.
    """
    whole = kept(answer)
    left = _without(whole, quote)
    if left == whole:
        return
    yield _variant(answer, left, "work-dropped", f"without {_dropped(whole, left)}")
    failed = _with_failures(whole, quote)
    if failed != whole and _without(failed, quote) == failed:
        yield _variant(answer, failed, "call-failed", "the call failed")
    of_other = kept(other)
    if of_other.trace and _without(of_other, quote) == of_other:
        changed = replace(whole, trace=of_other.trace, file_changes=of_other.file_changes)
        yield _variant(answer, changed, "other-work", "the work of another case")
    none = _emptied(whole)
    if none != left:
        yield _variant(answer, none, "no-work", "without any work")


def _without(whole: KeptAnswer, quote: str) -> KeptAnswer:
    trace = whole.trace or CaseTrace()
    return replace(
        whole,
        trace=replace(
            trace,
            steps=tuple(each for each in trace.steps if not _holds(call_text(each), quote)),
            files=tuple(each for each in trace.files if not _holds(file_text(each), quote)),
        ),
        file_changes=tuple(
            each for each in whole.file_changes if not _holds(change_text(each), quote)
        ),
    )


def _emptied(whole: KeptAnswer) -> KeptAnswer:
    trace = replace(whole.trace or CaseTrace(), steps=(), files=())
    return replace(whole, trace=trace, file_changes=())


def _with_failures(whole: KeptAnswer, quote: str) -> KeptAnswer:
    """Return the answer with a failure in place of each result that holds the quote."""
    trace = whole.trace or CaseTrace()
    steps = tuple(_failed(s) if _holds(s.result, quote) else s for s in trace.steps)
    return replace(whole, trace=replace(trace, steps=steps))


def _failed(step: Step) -> Step:
    return replace(step, result="", error=step.error or "exit status 1")


def _dropped(whole: KeptAnswer, left: KeptAnswer) -> str:
    """Return the missing parts in words."""
    before, after = whole.trace or CaseTrace(), left.trace or CaseTrace()
    calls = [step.tool for step in before.steps if step not in after.steps]
    changed = [each.path for each in whole.file_changes if each not in left.file_changes]
    files = [each.path for each in before.files if each not in after.files]
    found = [f"the call of {name}" for name in dict.fromkeys(calls)]
    return ", ".join([*found, *dict.fromkeys((*changed, *files))])


def _holds(text: str, quote: str) -> bool:
    """Return True if a piece of work has a quote, or lies in a longer one; blanks do not count."""
    own, wanted = " ".join(text.split()), " ".join(quote.split())
    return bool(own and wanted) and (wanted in own or own in wanted)


def _variant(answer: Answer, changed: KeptAnswer, family: str, change: str) -> Variant:
    files = changed.trace.files if changed.trace else ()
    texts = [changed.answer, *map(file_text, files)]
    shown = tuple(each for each in answer.media if any(each.name in text for text in texts))
    return Variant(family=family, text=changed.answer, change=change, did=answer_of(changed, shown))
