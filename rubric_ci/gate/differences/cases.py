"""Directions of a case: its question, its reference, its trials, and whether it decides.

And of the entries of files: waivers, comments that turn rules off, tests, recordings.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.gate.differences.move import Move, Told, narrowed, text
from rubric_ci.text.numbers import plural
from rubric_ci.values.changes import Direction
from rubric_ci.values.evals import EvalCase, TrialRule
from rubric_ci.values.gate import is_chosen
from rubric_ci.values.media import Media
from rubric_ci.values.question import question
from rubric_ci.values.waivers import SAFETY
from rubric_ci.values.walk import ABSENT, canonical, facts


class Entry(NamedTuple):
    """A part of a file that is compared, and how a change names it."""

    file: str
    about: str
    line: int  # 0: the first one that is new
    value: Any


Entries: TypeAlias = Mapping[str, Mapping[str, Entry]]
"""The entries of one state, by the first step of their rows and by what makes two the same."""


def asked(move: Move) -> Iterator[Told]:
    # System messages and files are prompts, which a change may edit.
    was, case = _messages(move)
    if question(was) != question(case):
        yield _edited((was.question, case.question), (was.media, case.media))


def variables(move: Move) -> Iterator[Told]:
    was, case = _messages(move)
    if question(was) == question(case):  # else the question that they are part of is told
        before, after = (canonical(facts(each.vars)) for each in move.owners[0])
        yield "changed", before, after


def _messages(move: Move) -> tuple[EvalCase, EvalCase]:
    was, case = (
        replace(each, workspace=None, simulated_user=None, vars={}) for each in move.owners[0]
    )
    return was, case


def _edited(*sides: tuple[str | Sequence[Media], str | Sequence[Media]]) -> Told:
    """Return the first texts or media that differ; of others it is known that they were edited."""
    shown = ((_shown(before), _shown(after)) for before, after in sides)
    differing = (each for each in shown if each[0] != each[1])
    return "changed", *next(differing, ("as at the base", "edited"))


def _shown(value: str | Sequence[Media]) -> str:
    if isinstance(value, str):
        return value
    return ", ".join(f"{each.path} {each.digest[:12]}" for each in value)


def guideline(move: Move) -> Iterator[Told]:
    then, now = move.above(1)
    if then.path == now.path:
        before, after = ("guideline" if each else "input" for each in (move.before, move.after))
        yield "changed", before, after


def reference(move: Move) -> Iterator[Told]:
    was, case = move.owners[0]
    if _expected(was) != _expected(case):
        media = was.reference_media, case.reference_media
        yield _edited((was.reference_answer, case.reference_answer), media)


def _expected(case: EvalCase) -> list[tuple[object, ...]]:
    return [
        (m.role, m.name, m.text, m.tool_calls, *(each.digest for each in m.media))
        for m in case.expected_messages
    ]


def depends_on(move: Move) -> Iterator[Told]:
    """Yield other files that select a case; their order is none."""
    before, after = move.before or (), move.after or ()
    if set(before) != set(after):
        yield narrowed(before, after), text(before), text(after)


def trials(move: Move) -> Iterator[Told]:
    """Yield another number of trials, or of those that must pass.

    It is `stronger` if every answer that passes by the new rule passes by the old one. That is so
    if it takes no fewer passes and allows no more failures: then the old rule is met before the
    new one is. Without a rule, one trial must pass.
    """
    then, now = (each or _ONE for each in (move.before, move.after))
    more_failures = now.count - now.passes > then.count - then.passes
    weaker = now.passes < then.passes or more_failures or now == then
    yield "weaker" if weaker else "stronger", _rule(move.before), _rule(move.after)


def _rule(rule: TrialRule | None) -> str:
    return f"{rule.passes} of {rule.count} pass" if rule else ""


_ONE: Final = TrialRule(count=1, passes=1)


def tags(move: Move) -> Iterator[Told]:
    """Yield the tags that decide how a failure counts, and whether the case decides at all.

    A case of a group may fail as often as the rate of the group allows, and a passing one lifts
    that rate; only a rate of 1 excuses no failure.
    """
    was, case = move.owners[0]
    then, now = _decide(move)
    if then != now:
        before, after = _decision(was, decides=then), _decision(case, decides=now)
        yield "weaker" if then else "stronger", before, after
    yield from _groups(was, case, move.base.gate.rates if now >= then else {})


def moved(move: Move) -> Iterator[Told]:
    """Yield another file, by which the options of the run choose the case, or do not any more."""
    was, case = move.owners[0]
    then, now = _decide(move)
    if then != now and was.tags == case.tags:  # else its tags tell it
        words = ("not chosen", "chosen")
        before, after = (f"{c.file} ({words[d]})" for c, d in ((was, then), (case, now)))
        yield "weaker" if then else "stronger", before, after


def _decide(move: Move) -> tuple[bool, bool]:
    was, case = (
        is_chosen(each.tags, move.base.gate) and move.asked_for(each) for each in move.owners[0]
    )
    return was, case


def _decision(case: EvalCase, *, decides: bool) -> str:
    return f"{', '.join(case.tags) or 'no tag'} ({'decides' if decides else 'does not decide'})"


def _groups(was: EvalCase, case: EvalCase, groups: Mapping[str, float]) -> Iterator[Told]:
    for tag in sorted({*groups, SAFETY}):
        now, then = tag in case.tags, tag in was.tags
        if now != then:
            excuses = tag != SAFETY and groups[tag] < 1
            direction: Direction = "weaker" if then or excuses else "stronger"
            yield direction, (tag if then else ""), (tag if now else "")


def _values(move: Move, absent: Any) -> Iterator[Any]:
    return (absent if each is ABSENT else each.value for each in (move.before, move.after))


def waived(move: Move) -> Iterator[Told]:
    before, after = (f"waived until {day}" if day else "" for day in _values(move, ""))
    if before != after:
        yield "weaker" if after > before else "stronger", before, after


def ignored(move: Move) -> Iterator[Told]:
    then, now = _values(move, 0)
    before, after = (f"ignored in {plural(n, 'comment')}" if n else "" for n in (then, now))
    if before != after:
        yield "weaker" if now > then else "stronger", before, after


def lost(move: Move) -> Iterator[Told]:
    if move.after is ABSENT:
        yield "changed", move.before.value, ""


def edited_lines(move: Move) -> Iterator[Told]:
    """Yield the numbers of lines that are new and gone; their ends are compared as one."""
    then, now = map(lines_of, _values(move, ""))
    if then == now:
        return
    known = set(then)
    new, gone = len([line for line in now if line not in known]), len(known - set(now))
    counts = f"{plural(len(now), 'line')}: {new:,} new or edited, {gone:,} of the base gone"
    yield "changed", plural(len(then), "line"), counts


def line_of(move: Move) -> int:
    """Return the line of an entry; of a text, the first line that is new, else 1."""
    entry = move.before if move.after is ABSENT else move.after
    if entry.line:
        return int(entry.line)
    then, now = map(lines_of, _values(move, ""))
    known = set(then)
    return next((at for at, line in enumerate(now, 1) if line not in known), 1)


def lines_of(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]
