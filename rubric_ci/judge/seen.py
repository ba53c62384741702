"""What a judge sees besides the answer: tool calls, file changes and files, shortened by a rule.

All of it comes from the agent that is marked, so it is fenced as the answer is.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rubric_ci.errors import CannotMeasure
from rubric_ci.model.results import Answer
from rubric_ci.model.trace import CaseTrace, FileChange, SeenPart, Step, reported

MOST: Final = 40_000  # characters of one part
ISOLATED: Final = 20_000  # characters of all parts: above, criteria are asked one by one
_NOTHING: Final = "(nothing)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of what the judge sees, and how it was shortened."""

    name: SeenPart
    title: str
    text: str
    rule: str = ""

    @property
    def heading(self) -> str:
        """The title, with the rule."""
        return f"{self.title} ({self.rule})" if self.rule else self.title


def parts_of(answer: Answer, sees: Sequence[SeenPart]) -> tuple[Part, ...]:
    """Return the parts besides the answer; raises CannotMeasure for one that is not reported."""
    trace = reported(answer.messages, answer.work) or CaseTrace()
    return tuple(_part(name, answer, trace) for name in sees if name != "answer")


def _part(name: SeenPart, answer: Answer, trace: CaseTrace) -> Part:
    if name == "tool_calls":
        if not answer.messages:
            raise CannotMeasure("`sees: [tool_calls]`: the target reports none; set its `trace`")
        return _shortened(name, "Tool calls", _calls(trace.steps), trace.shortened)
    if answer.work is None:
        raise CannotMeasure(f"`sees: [{name}]`: the target has no `workspace`")
    notes = "; ".join(trace.notes)
    if name == "file_changes":
        return _shortened(name, "Changes of files", _changes(answer.work.changes), notes)
    files = (f"--- {file.path}\n{file.text}" for file in trace.files)
    return _shortened(name, "Files at the end", files, "")


def _calls(steps: Sequence[Step]) -> Iterator[str]:
    for number, step in enumerate(steps, start=1):
        arguments = json.dumps(step.arguments, ensure_ascii=False)
        failed = f"\nfailed: {step.error}" if step.error else ""
        result = f"\n{step.result}" if step.result else ""
        yield f"{number}. {step.tool} {arguments}{failed}{result}"


def _changes(changes: Sequence[FileChange]) -> Iterator[str]:
    for change in changes:
        yield f"{change.kind}: {change.path}\n{change.diff}".rstrip()


def _shortened(name: SeenPart, title: str, texts: Iterator[str], rule: str) -> Part:
    text = "\n\n".join(texts) or _NOTHING
    cut = f"cut to {MOST:,} of {len(text):,} characters" if len(text) > MOST else ""
    rules = "; ".join(filter(None, (rule, cut)))
    return Part(name=name, title=title, text=text[:MOST], rule=rules)
