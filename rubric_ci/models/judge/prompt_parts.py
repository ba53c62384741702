"""Parts that a judge sees besides the answer: turns of a conversation, tool calls, changes, files.

What an agent did is shortened by a rule. All of it is fenced as the answer is.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, Literal, NamedTuple

from rubric_ci.errors import CannotMeasure
from rubric_ci.text import answer_text
from rubric_ci.values.answers import reported
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.media import Media
from rubric_ci.values.messages import Turn, media_in
from rubric_ci.values.results import Answer
from rubric_ci.values.trace import CaseTrace, FileChange, KeptFile, SeenPart, Step

MOST: Final = 40_000  # characters of one part
ISOLATED: Final = 20_000  # characters of all parts: above, criteria are asked one by one
NOTHING: Final = "(nothing)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part that the judge sees, and how it was shortened."""

    name: SeenPart
    title: str
    text: str
    rule: str = ""
    said: Literal["", "user", "before", "answer"] = ""  # in a conversation; `before`: an answer
    media: tuple[Media, ...] = ()  # images and documents of a message

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.rule})" if self.rule else self.title


class Marked(NamedTuple):
    """The subject of a rubric: an answer, or a conversation, whose last answer is the answer."""

    case: EvalCase  # with the question before the parts
    answer: Answer
    parts: tuple[Part, ...] = ()  # what was said before the answer
    checked: str = ""  # what assertions read: the answer, or all answers
    warnings: tuple[str, ...] = ()


def marked(case: EvalCase, answer: Answer, turn: int) -> Marked:
    """Return the marked text: of a conversation the answer of a turn, or with 0 all answers.

    Raises CannotMeasure if the answer is not a conversation with this turn.
    """
    if not case.most_turns:
        return Marked(case, answer, checked=answer.said)
    said = answer_text.read_exchanges(answer.text)
    if len(said) < max(turn, 1):
        raise CannotMeasure(f"the answer is a conversation of {len(said)} turns")
    said = said[:turn] if turn else said
    own = replace(case, turns=(), simulated_user=None, vars={})
    if turn:
        own = replace(
            own, expected_outcome=case.turns[turn - 1].expected_outcome, expected_messages=()
        )
        answer = replace(
            answer, messages=tuple(m for m in answer.messages if m.get("turn") == turn)
        )
    most = case.most_turns
    ended = case.simulated_user and not turn and len(said) >= most
    marked_turns = said[-1:] if turn else said
    return Marked(
        own,
        replace(answer, text=said[-1].answer),
        tuple(_turns(said, "before" if turn else "answer", case.turns, answer.media)),
        "\n\n".join(replace(answer, text=each.answer).said for each in marked_turns),
        (f"the conversation was ended after {most} turns, its `max_turns`",) if ended else (),
    )


def _turns(
    said: Sequence[answer_text.Exchange],
    kind: Literal["before", "answer"],
    scripted: Sequence[Turn],
    shown: Sequence[Media],
) -> Iterator[Part]:
    for number, each in enumerate(said, start=1):
        user = Part(
            name="conversation",
            title=f"Turn {number}, the user",
            text=each.user,
            said="user",
            media=media_in(part for turn in scripted[number - 1 : number] for part in turn.parts),
        )
        yield user
        if number < len(said):
            title = f"Turn {number}, the answer"
            named = tuple(media for media in shown if media.name in each.answer)
            yield replace(user, title=title, text=each.answer, said=kind, media=named)


def parts_of(answer: Answer, sees: Sequence[SeenPart]) -> tuple[Part, ...]:
    """Return the parts besides the answer; raises CannotMeasure for one that is not reported."""
    names = [name for name in sees if name != "answer"]
    if not names:
        return ()
    trace = reported(answer) or CaseTrace()
    return tuple(_part(name, answer, trace) for name in names)


def _part(name: SeenPart, answer: Answer, trace: CaseTrace) -> Part:
    if name == "tool_calls":
        if not answer.messages:
            raise CannotMeasure("`sees: [tool_calls]`: the target reports none; set its `trace`")
        calls = (f"{number}. {call_text(step)}" for number, step in enumerate(trace.steps, start=1))
        return _shortened(name, "Tool calls", calls, trace.shortened)
    if answer.work is None:
        raise CannotMeasure(f"`sees: [{name}]`: the target has no `workspace`")
    if name == "file_changes":
        # The note of each cut names files of the agent, so it is fenced with its work.
        cuts = [f"({'; '.join(trace.notes)})"] if trace.notes else []
        changes = chain(map(change_text, answer.work.changes), cuts)
        return _shortened(name, "Changes of files", changes, "")
    return _shortened(name, "Files at the end", map(file_text, trace.files), "")


def call_text(step: Step) -> str:
    arguments = json.dumps(step.arguments, ensure_ascii=False)
    failed = f"\nfailed: {step.error}" if step.error else ""
    result = f"\n{step.result}" if step.result else ""
    return f"{step.tool} {arguments}{failed}{result}"


def change_text(change: FileChange) -> str:
    return f"{change.kind}: {change.path}\n{change.diff}".rstrip()


def file_text(file: KeptFile) -> str:
    return f"--- {file.path}\n{file.text}"


def _shortened(name: SeenPart, title: str, texts: Iterator[str], rule: str) -> Part:
    text = "\n\n".join(texts) or NOTHING
    cut = f"cut to {MOST:,} of {len(text):,} characters" if len(text) > MOST else ""
    rules = "; ".join(filter(None, (rule, cut)))
    return Part(name=name, title=title, text=text[:MOST], rule=rules)
