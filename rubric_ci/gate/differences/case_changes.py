"""Changes to the grading in cases: each place where a case differs from the base's, once."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from itertools import zip_longest
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.gate.differences.effect_of_each_key import Row, rows_of
from rubric_ci.gate.differences.move import Move
from rubric_ci.text.numbers import plural
from rubric_ci.values.changes import ADDED, Direction, GradingChange, GradingChangeKind
from rubric_ci.values.config import Config
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.walk import ABSENT, Difference, Path, differences

Key: TypeAlias = tuple[str, str]
"""File and id."""

_UNKNOWN = Row(pattern="*", effect="grades", kind="case", named=True)


class Place(NamedTuple):
    """A value of a case or a configuration that differs, with its row."""

    row: Row
    path: Path
    before: Any
    after: Any
    owners: tuple[tuple[Any, Any], ...]


def case_changes(
    head: Sequence[EvalCase],
    base: Mapping[Key, EvalCase],
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


def removed_cases(cases: Sequence[EvalCase], reason: str) -> Iterator[GradingChange]:
    """Yield the cases of the base that are not graded any more."""
    for case in cases:
        yield of_case(case, "case", "weaker", case.id, "graded", reason)


def changes_of(
    case: EvalCase,
    was: EvalCase,
    policy: Config,
    asked_for: Callable[[EvalCase], bool] = lambda _: True,
) -> Iterator[GradingChange]:
    """Yield how a case differs from the one that was there before."""
    found = places("case", differences(was, case))
    for place, span in (part for each in found for part in _by_file(each)):
        row = place.row
        if row.kind is None:
            continue
        move = Move(
            before=place.before,
            after=place.after,
            base=policy,
            head=policy,
            path=place.path,
            owners=place.owners or ((was, case),),
            asked_for=asked_for,
        )
        for direction, before, after in row.told(move):
            about, line = _about(case, place), _line(place)
            change = of_case(case, row.kind, direction, about, before, after, line)
            if span is not None:
                briefs = place.path[-1] if place.path[-1:] in _BRIEFING else ""
                name = briefs or about.removeprefix(f"{case.id}/")
                change = replace(change, about=name, file=span.file, line=span.line)
            yield change


def places(root: str, found: Iterator[Difference]) -> Iterator[Place]:
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
            sides = (each.before, each.after) if whole else each.owners[length]
            yield Place(row, path, *sides, each.owners[:length])


def _is_parted(found: Difference, length: int) -> bool:
    """Return True inside a value of another class, which is told as a whole."""
    pairs = found.owners[1 : max(length, 1)]
    return any(
        type(then) is not type(now)
        for then, now in pairs
        if is_dataclass(then) and is_dataclass(now)
    )


def _about(case: EvalCase, place: Place) -> str:
    """Return the words for a place: `refund/period`, `refund/lint: timeout_seconds`."""
    owner, path = case.id, list(place.path)
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
    if place.row.shown:
        rest = [place.row.shown]
    if rest[:1] == ["input_messages"]:
        rest = [place.owners[-1][1].path]
    return f"{owner}: {'.'.join(rest)}" if place.row.named and rest else owner


def _line(place: Place) -> int:
    """Return the line of the innermost value with one; 0: the case's."""
    if place.after is ABSENT or not place.path:
        return 0
    values = (place.after, *(after for _, after in reversed(place.owners[1:])))
    spans = (getattr(value, "span", None) for value in values)
    return next((span.line for span in spans if span), 0)


_BRIEFING: Final = (("sees",), ("guidelines",), ("examples",))


def _by_file(place: Place) -> Iterator[tuple[Place, Span | None]]:
    """Yield a place with its own in a rubric file; what a judge sees and reads for each file."""
    then, now = place.owners[-1] if place.owners else (None, None)
    if (
        place.path[-1:] not in _BRIEFING
        or not isinstance(then, RubricSpec)
        or not isinstance(now, RubricSpec)
    ):
        yield place, _in_rubric_file(place)
        return
    before, after = (_briefing(spec, place.path[-1]) for spec in (then, now))
    for file in dict.fromkeys((*before, *after)):
        sides = before.get(file, ()), after.get(file, ())
        if sides[0] != sides[1]:
            part = place._replace(before=sides[0], after=sides[1])
            yield part, Span(1, 1, 1, 1, file) if file else None


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


def _in_rubric_file(place: Place) -> Span | None:
    """Return the place of a criterion that is in a rubric file; None: it is in the eval file."""
    pairs = (*place.owners, (place.before, place.after))
    values = (value for before, after in reversed(pairs) for value in (after, before))
    spans = (getattr(value, "span", None) for value in values)
    return next((span for span in spans if span and span.file), None)


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
