"""Cases that a person names on the command line: `--case`, `--tag`, `FILE::CASE`, `FILE:LINE`."""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from rubric_ci.errors import CannotFindEvals
from rubric_ci.text.numbers import listed
from rubric_ci.text.suggestions import suggest
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.scope import CasePlace


def choose_cases(
    cases: Sequence[EvalCase], *, ids: Sequence[str], tags: Sequence[str]
) -> tuple[EvalCase, ...]:
    """Return the cases that match a glob of `ids` and have one of `tags`; empty matches all."""
    for pattern in ids:
        if not any(_is_called(case, pattern) for case in cases):
            known = [case.id for case in cases]
            raise CannotFindEvals(
                f"no case matches --case {pattern}", suggest(pattern, known, most=0)
            )
    for tag in tags:
        if not any(tag in case.tags for case in cases):
            known = sorted({known for case in cases for known in case.tags})
            raise CannotFindEvals(f"no case carries --tag {tag}", suggest(tag, known, most=0))
    return tuple(case for case in cases if is_asked_for(case, ids=ids, tags=tags))


def is_asked_for(case: EvalCase, *, ids: Sequence[str], tags: Sequence[str]) -> bool:
    """Return True if a case matches a glob of `ids` and has one of `tags`; empty matches all."""
    named = not ids or any(_is_called(case, pattern) for pattern in ids)
    return named and (not tags or any(tag in case.tags for tag in tags))


def _is_called(case: EvalCase, pattern: str) -> bool:
    return fnmatchcase(case.id, pattern) or fnmatchcase(case.own_id, pattern)


def at_places(
    cases: Sequence[EvalCase],
    places: Sequence[CasePlace],
    name: Callable[[str], str],
    suites: Mapping[str, str],
) -> tuple[EvalCase, ...]:
    """Return the cases at the places, and the cases of all other files.

    `name` returns the name of a file as cases have it, `suites` has the eval file of each file of
    cases. Raises CannotFindEvals for a place without a case.
    """
    files = {name(place.file) for place in places}
    of = {
        file: [case for case in cases if file in {case.file, suites.get(case.file)}]
        for file in files
    }
    chosen = {id(case) for place in places for case in _at(place, of[name(place.file)], name)}
    left_out = {id(case) for own in of.values() for case in own} - chosen
    return tuple(case for case in cases if id(case) not in left_out)


def _at(place: CasePlace, own: Sequence[EvalCase], name: Callable[[str], str]) -> list[EvalCase]:
    """Return the cases at a place in an eval file, or in a file of cases that it names."""
    if place.case:
        found = [case for case in own if fnmatchcase(case.id, place.case)]
        hint = suggest(place.case, [case.id for case in own], most=0)
    else:
        written = [case for case in own if case.file == name(place.file)]
        found = [case for case in written if case.span.line <= place.line][-1:]
        elsewhere = listed(list(dict.fromkeys(case.file for case in own)))
        first = f"the first case is in line {written[0].span.line}" if written else ""
        hint = first or f"its cases are in {elsewhere}"
    if not found and own:  # a file with problems has no cases, and is reported
        raise CannotFindEvals(f"{place}: there is no such case", hint)
    return found
