"""The work of a target as the values that `templates/work.html` shows: dialogue, steps, files."""

import json
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from rubric_ci.text import answer_text, numbers, quotes
from rubric_ci.text.answer_text import Exchange
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import CaseResult
from rubric_ci.values.trace import CaseTrace, FileChange, Step

Piece: TypeAlias = tuple[str, str]  # (kind, text): "mark" for a quote, "ins" and "del", or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """A call of a tool, folded, with call and result apart; or a file of the workspace."""

    number: str
    name: str
    detail: str
    texts: tuple[tuple[str, tuple[Piece, ...]], ...]  # titles and texts


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkView:
    """A folded list of steps or of files."""

    title: str
    entries: tuple[StepView, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextView:
    title: str
    text: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """A message of the user and the answer to it, with the calls in between."""

    number: int
    user: str
    answer: TextView
    work: WorkView | None


def dialogue(case: CaseResult, quoted: Sequence[str]) -> tuple[TurnView, ...]:
    """Return the turns of a conversation; empty if the answer is not one."""
    exchanges = answer_text.read_exchanges(case.answer)
    steps = case.trace.steps if case.trace else ()
    return tuple(
        TurnView(
            number=number,
            user=each.user,
            answer=answer_view("Assistant", each.answer, quoted),
            work=_steps([step for step in steps if step.turn == number], ""),
        )
        for number, each in enumerate(exchanges, 1)
    )


def before_dialogue(question: str, exchanges: Sequence[Exchange]) -> str:
    """Return the question without the messages of the user that the dialogue shows."""
    said = "\n\n".join(f"[user]\n{each.user}" for each in exchanges)
    if exchanges and question == exchanges[0].user:
        return ""
    return question.removesuffix(said).rstrip() if exchanges else question


def work(case: CaseResult) -> Iterator[WorkView]:
    """Yield the steps of no turn, the changes of files and the kept files."""
    trace = case.trace or CaseTrace()
    in_turns = bool(answer_text.read_exchanges(case.answer))
    own = [step for step in trace.steps if not (in_turns and step.turn)]
    if shown := _steps(own, trace.shortened):
        yield shown
    if case.file_changes:
        changes = tuple(map(_change, case.file_changes))
        note = "; ".join(trace.notes)
        yield WorkView(title=f"File changes: {len(changes)}", entries=changes, note=note)
    if trace.files:
        files = tuple(
            StepView(number="", name=each.path, detail="", texts=(("", (("", each.text),)),))
            for each in trace.files
        )
        yield WorkView(title=f"Files: {len(files)}", entries=files)


def answer_view(title: str, answer: str, quoted: Sequence[str]) -> TextView:
    """Return an answer; the judge's quotes are separate pieces."""
    pieces, done = [], 0
    for start, end in quotes.places(answer, quoted):
        pieces += [("", answer[done:start]), ("mark", answer[start:end])]
        done = end
    text = tuple(piece for piece in (*pieces, ("", answer[done:])) if piece[1])
    return TextView(title=title, text=text)


def _steps(steps: Sequence[Step], note: str) -> WorkView | None:
    if not steps:
        return None
    failed = sum(bool(step.error) for step in steps)
    more = f", {failed} failed" if failed else ""
    entries = tuple(_step(number, step) for number, step in enumerate(steps, 1))
    return WorkView(title=f"Tool calls: {len(steps)}{more}", entries=entries, note=note)


def _step(number: int, step: Step) -> StepView:
    arguments = step.arguments
    called = "" if arguments is None else json.dumps(arguments, ensure_ascii=False, indent=2)
    every = (("Call", called), ("Error", step.error), ("Result", step.result))
    return StepView(
        number=f"{number}.",
        name=step.tool,
        detail=", ".join(filter(None, ("failed" if step.error else "", _duration(step)))),
        texts=tuple((title, (("", text),)) for title, text in every if text),
    )


def _duration(step: Step) -> str:
    if step.duration_ms is None:
        return ""
    if step.duration_ms < 1000:
        return f"{step.duration_ms:,.0f} ms"
    return numbers.duration(step.duration_ms / 1000)


def _change(change: FileChange) -> StepView:
    lines = tuple((_kind(line), line) for line in change.diff.splitlines(keepends=True))
    texts = (("", lines),) if lines else ()
    return StepView(number="", name=change.path, detail=change.kind, texts=texts)


def _kind(line: str) -> str:
    """Return how a line of a diff is shown; its header is not coloured."""
    if line.startswith(("+++ ", "--- ")):
        return ""
    return {"+": "ins", "-": "del"}.get(line[:1], "")
