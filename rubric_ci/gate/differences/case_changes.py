"""Changes to the grading in cases: each place where a case differs from the base's, once."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from itertools import zip_longest
from typing import Final

from rubric_ci.gate.differences.effect_of_each_key import Row, rows_of
from rubric_ci.gate.differences.move import Move
from rubric_ci.text.numbers import plural
from rubric_ci.values.changes import ADDED, Direction, GradingChange, GradingChangeKind
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.config import Config
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.walk import ABSENT, Difference, Path, differences

_UNKNOWN: Final = Row("*", "grades", "case", named=True)
_NO_CONFIG: Final = Config()


def case_changes(
    head: Sequence[EvalCase],
    base: Mapping[CaseKey, EvalCase],
    policy: Config,
    asked_for: Callable[[EvalCase], bool] = lambda _: True,
) -> Iterator[GradingChange]:
    """Yield the changes of cases; `base` has each case of the head that was there before.

    `policy` is the configuration of the base; `asked_for` is true for cases that the options of
    the run choose.
    """
    through_files: Counter[GradingChange] = Counter()
    for case in head:
        was = base.get(case.key)
        if was is None:
            yield of_case(case, "case", "stronger", case.id, "", ADDED)
            if case.opts_out:
                about = f"{case.id}: shared_rubrics"
                yield of_case(case, "case", "weaker", about, "", "false")
        elif case is not was:
            for change in changes_of(case, was, policy, asked_for):
                if change.file == case.file:
                    yield change
                else:
                    through_files[change] += 1
    for change, count in through_files.items():  # one edit of a rubric file, told once
        yield replace(change, about=f"{change.about}, {plural(count, 'case')}")


def removed_case(case: EvalCase, reason: str) -> GradingChange:
    """Return the change of a case of the base that is not graded any more."""
    return of_case(case, "case", "weaker", case.id, "graded", reason)


def changes_of(
    case: EvalCase,
    was: EvalCase,
    policy: Config,
    asked_for: Callable[[EvalCase], bool] = lambda _: True,
) -> Iterator[GradingChange]:
    found = moves("case", differences(was, case), base=policy, head=policy, asked_for=asked_for)
    for row, move in found:
        if row.kind is None:
            continue
        for part, span in _by_file(move):
            about, line = _about(case, row, part), span.line if span else _line(part)
            for direction, before, after in row.told(part):
                change = of_case(case, row.kind, direction, about, before, after, line)
                if span is not None:
                    briefs = part.path[-1] if part.path[-1:] in _BRIEFING else ""
                    name = briefs or about.removeprefix(f"{case.id}/")
                    change = replace(change, about=name, file=span.file)
                yield change


def moves(
    root: str,
    found: Iterable[Difference],
    *,
    base: Config = _NO_CONFIG,
    head: Config = _NO_CONFIG,
    asked_for: Callable[[EvalCase], bool] = lambda _: True,
) -> Iterator[tuple[Row, Move]]:
    """Yield the values that differ, each once, at the depth that their row is about."""
    seen: set[tuple[Path, int]] = set()
    for each in found:
        steps, rows = rows_of(root, each.path)
        for row in rows or (_UNKNOWN,):
            length = steps - ("|" in row.pattern)  # the value that has the fields
            path = each.path[:length]
            if (path, id(row)) in seen or (not row.across and _is_parted(each, steps)):
                continue
            seen.add((path, id(row)))
            whole = length == len(each.path)
            before, after = (each.before, each.after) if whole else each.owners[length]
            yield (
                row,
                Move(
                    before=before,
                    after=after,
                    base=base,
                    head=head,
                    path=path,
                    owners=each.owners[: max(length, 1)],
                    asked_for=asked_for,
                ),
            )


def _is_parted(found: Difference, length: int) -> bool:
    """Return True inside a value of another class, which is told as a whole."""
    pairs = found.owners[1 : max(length, 1)]
    return any(
        type(then) is not type(now)
        for then, now in pairs
        if is_dataclass(then) and is_dataclass(now)
    )


def _about(case: EvalCase, row: Row, move: Move) -> str:
    """Return the words for a place: `refund/period`, `refund/lint: timeout_seconds`."""
    owner, path = case.id, list(move.path)
    rest: list[str] = []
    while path:
        step = path.pop(0)
        if step == "evaluators" and path and not rest:
            owner = f"{owner}/{path.pop(0)}"
        elif step == "rubric" and path[:1] == ["criteria"] and len(path) > 1 and not rest:
            owner = f"{case.id}/{path[1]}"
            del path[:2]
        elif step == "turns" and len(path) > 1:
            rest = [f"{'.'.join(path[1:])} of turn {int(path[0]) + 1}"]
            break
        else:
            rest.append(step)
    if row.shown:
        rest = [row.shown]
    if rest[:1] == ["input_messages"]:
        rest = [move.above(1)[1].path]
    return f"{owner}: {'.'.join(rest)}" if row.named and rest else owner


def _line(move: Move) -> int:
    """Return the line of the innermost value with one; 0: the case's."""
    if move.after is ABSENT or not move.path:
        return 0
    values = (move.after, *(after for _, after in reversed(move.owners[1:])))
    return next((span.line for span in _spans(values)), 0)


_BRIEFING: Final = (("sees",), ("guidelines",), ("examples",))


def _by_file(move: Move) -> Iterator[tuple[Move, Span | None]]:
    """Yield a move with its place in a rubric file; what a judge sees and reads for each file."""
    then, now = move.above(1)
    if (
        move.path[-1:] not in _BRIEFING
        or not isinstance(then, RubricSpec)
        or not isinstance(now, RubricSpec)
    ):
        pairs = reversed((*move.owners, (move.before, move.after)))
        spans = _spans(value for before, after in pairs for value in (after, before))
        yield move, next((span for span in spans if span.file), None)
        return
    before, after = (_briefing(spec, move.path[-1]) for spec in (then, now))
    for file in dict.fromkeys((*before, *after)):
        sides = before.get(file, ()), after.get(file, ())
        if sides[0] != sides[1]:
            part = replace(move, before=sides[0], after=sides[1])
            yield part, Span(1, 1, 1, 1, file) if file else None


def _spans(values: Iterable[object]) -> Iterator[Span]:
    yield from filter(None, (getattr(value, "span", None) for value in values))


def _briefing(spec: RubricSpec, name: str) -> dict[str, tuple[object, ...]]:
    """Return what a judge sees, its guidelines or examples, by the rubric file that has them."""
    found: dict[str, tuple[object, ...]] = {}
    files = {criterion.id: criterion.span.file for criterion in spec.rubric}
    marked = ((next((files[c] for c in e.marks if c in files), ""), e) for e in spec.examples)
    named = {
        "sees": zip_longest(spec.seen_by, spec.sees, fillvalue=""),
        "guidelines": zip_longest(spec.guided_by, spec.guidelines, fillvalue=""),
        "examples": marked,
    }
    for file, each in named[name]:
        found[file] = (*found.get(file, ()), each)
    return found


def of_case(
    case: EvalCase,
    kind: GradingChangeKind,
    direction: Direction,
    about: str,
    before: str,
    after: str,
    line: int = 0,
) -> GradingChange:
    """Return a change at a line of a case; 0: at the case."""
    return GradingChange(
        kind=kind,
        direction=direction,
        about=about,
        file=case.file,
        line=line or case.span.line,
        before=before,
        after=after,
    )
