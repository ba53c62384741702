"""An answer as a report keeps it, with its work, and the same answer read back from a report.

A report shortens long work by a rule, and judges see the shortened work. So an answer that was read
back is judged as the original was.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Final, Literal, Protocol

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import Media, Picture, answer_pictures
from rubric_ci.values.results import Answer
from rubric_ci.values.trace import (
    CaseTrace,
    FileChange,
    KeptFile,
    Step,
    Work,
    WorkCheck,
    call_of,
    counts_of,
    steps_of,
)

MOST_STEPS: Final = 100  # half of them from the start, half from the end
_USAGE: Final = ("token_usage", "cost_usd", "duration_ms")
_START, _END, _GAP = 400, 197, " … "  # of a result, which has 600 characters at most
_MOST: Final = _START + len(_GAP) + _END


class HasAnswer(Protocol):
    """A value with an answer: a case or trial of a report, its base, a label, a sentinel's item."""

    @property
    def answer(self) -> str | None:
        """The text; None: it was not kept."""

    @property
    def trace(self) -> CaseTrace | None:
        """The steps and the rest of the work; None: there is none."""

    @property
    def file_changes(self) -> tuple[FileChange, ...]:
        """The changes of the workspace."""

    @property
    def media(self) -> tuple[Picture, ...]:
        """The images and documents of the answer and the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """An answer with its work, in the form of reports."""

    answer: str
    trace: CaseTrace | None = None
    file_changes: tuple[FileChange, ...] = ()
    media: tuple[Picture, ...] = ()


def kept(answer: Answer) -> KeptAnswer:
    changes = answer.work.changes if answer.work else ()
    return KeptAnswer(
        answer=answer.text,
        trace=reported(answer),
        file_changes=changes,
        media=pictures_of("answer", answer.media),
    )


def reported(answer: Answer) -> CaseTrace | None:
    """Return the work for a report; None: no steps, no workspace and no failure to explain."""
    steps, work = steps_of(answer.messages), answer.work or Work()
    if not steps and answer.work is None and not answer.last_event:
        return None
    half = MOST_STEPS // 2
    shown = steps if len(steps) <= MOST_STEPS else (*steps[:half], *steps[-half:])
    cut = tuple(replace(each, result=_cut(each.result), error=_cut(each.error)) for each in shown)
    rules = (
        f"{len(shown)} of {len(steps)} calls shown" if len(shown) < len(steps) else "",
        f"results cut to {_MOST} characters" if cut != shown else "",
    )
    return CaseTrace(
        steps=cut,
        left_out=answer.left_out or len(steps) - len(shown),
        shortened=answer.shortened or "; ".join(filter(None, rules)),
        workspace=answer.work is not None,
        sandbox=work.sandbox,
        files=work.files,
        notes=work.notes,
        checks=work.checks,
        usage=_usage(answer),
        last_event=answer.last_event,
    )


def answer_of(kept: HasAnswer, media: tuple[Media, ...] = ()) -> Answer:
    """Return the answer that a report, a label or a sentinel keeps, with its work.

    `media` are its images and documents, if it is shown to a judge.
    """
    text, trace = kept.answer or "", kept.trace
    last: Mapping[str, JSON] = {"role": "assistant", "content": text}
    if trace is None:
        return Answer(text=text, messages=(last,), media=media)
    seconds = trace.usage.get("duration_ms")
    return Answer(
        text=text,
        messages=(*_messages(trace.steps), last),
        # the measurements that evaluators and scripts read
        trace_summary={**({} if trace.left_out else _counts(trace.steps)), **trace.usage} or None,
        duration_seconds=None if seconds is None else seconds / 1000,
        work=_work(trace, kept.file_changes) if trace.workspace else None,
        left_out=trace.left_out,
        shortened=trace.shortened,
        last_event=trace.last_event,
        media=media,
    )


def pictures_of(
    of: Literal["question", "reference", "answer"], media: Iterable[Media]
) -> tuple[Picture, ...]:
    return tuple(
        Picture(of=of, path=each.path, type=each.type, digest=each.digest) for each in media
    )


def identity(kept: HasAnswer) -> str:
    """Return the name of an answer: two answers with one text and other work are two answers."""
    if kept.trace is None and not kept.file_changes and not answer_pictures(kept.media):
        return kept.answer or ""
    return f"{kept.answer}\n{digest(kept)}"


def digest(kept: HasAnswer) -> str:
    """Return a digest of the work and images that count: no durations, usage and explanations."""
    trace = kept.trace or CaseTrace()
    steps = [[step.tool, step.arguments, step.result, step.error] for step in trace.steps]
    changes, files, checks = _flat(kept.file_changes), _flat(trace.files), _flat(trace.checks)
    images = [[each.digest for each in found]] if (found := answer_pictures(kept.media)) else []
    text = json.dumps([steps, changes, files, checks, trace.left_out, *images], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _flat(kept: Iterable[FileChange | KeptFile | WorkCheck]) -> list[Mapping[str, JSON]]:
    """Return the fields of values that hold texts only; `asdict` copies each of them."""
    return [{each.name: getattr(one, each.name) for each in fields(one)} for one in kept]


def _usage(answer: Answer) -> Mapping[str, JSON]:
    """Return tokens, cost and duration: as reported, else the duration as measured."""
    summary = answer.trace_summary or {}
    found = {name: summary[name] for name in _USAGE if name in summary}
    if answer.duration_seconds is not None:
        found.setdefault("duration_ms", round(answer.duration_seconds * 1000, 3))
    return found


def _messages(steps: tuple[Step, ...]) -> Iterator[Mapping[str, JSON]]:
    """Yield a message for each call, in the form in which targets report them."""
    for step in steps:
        turn = {"turn": step.turn} if step.turn else {}
        yield {"role": "assistant", "tool_calls": [call_of(step)], **turn}


def _counts(steps: tuple[Step, ...]) -> dict[str, JSON]:
    errors = sum(bool(step.error) for step in steps)
    return {**counts_of(step.tool for step in steps), "error_count": errors}


def _work(trace: CaseTrace, changes: tuple[FileChange, ...]) -> Work:
    return Work(
        sandbox=trace.sandbox,
        changes=changes,
        files=trace.files,
        notes=trace.notes,
        checks=trace.checks,
    )


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_START]}{_GAP}{text[-_END:]}"
