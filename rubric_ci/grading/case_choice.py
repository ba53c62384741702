"""Cases that a person names on the command line: `--case`, `--tag`, `-k`, `FILE::CASE`."""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from rubric_ci.errors import CannotFindEvals
from rubric_ci.text.numbers import listed
from rubric_ci.text.suggestions import suggest
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.scope import CasePlace

Matches: TypeAlias = Callable[[EvalCase], bool]

_WORD: Final = re.compile(r"\(|\)|[^\s()]+")


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


def named_cases(
    cases: Sequence[EvalCase],
    places: Sequence[CasePlace],
    keyword: str,
    *,
    name: Callable[[str], str],
    suites: Mapping[str, str],
) -> tuple[EvalCase, ...]:
    """Return the cases of -k and of places in PATHS; raises CannotFindEvals.

    `name` returns the name of a file as cases have it, `suites` has the eval file of each file of
    cases.
    """
    return with_keyword(at_places(cases, places, name, suites), keyword)


def at_places(
    cases: Sequence[EvalCase],
    places: Sequence[CasePlace],
    name: Callable[[str], str],
    suites: Mapping[str, str],
) -> tuple[EvalCase, ...]:
    """Return the cases at the places, and the cases of all other files.

    Raises CannotFindEvals for a place without a case.
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


def with_keyword(cases: Sequence[EvalCase], expression: str) -> tuple[EvalCase, ...]:
    """Return the cases whose file, id or tags match an expression; raises CannotFindEvals."""
    matches = read_keyword(expression)
    found = tuple(filter(matches, cases))
    if cases and not found:
        raise CannotFindEvals(f"no case matches -k {expression}", "`run --list` lists the cases")
    return found


def read_keyword(expression: str) -> Matches:
    """Return the test of an expression of words, `and`, `or`, `not`, `( )`; raises ValueError."""
    words = _WORD.findall(expression)
    matches = _either(words) if words else _every
    if words:
        raise ValueError(f"`{words[0]}` is not expected")
    return matches


def _every(_: EvalCase) -> bool:
    return True


def _either(words: list[str]) -> Matches:
    found = [_both(words)]
    while words[:1] == ["or"]:
        del words[0]
        found.append(_both(words))
    return lambda case: any(matches(case) for matches in found)


def _both(words: list[str]) -> Matches:
    found = [_one(words)]
    while words[:1] == ["and"]:
        del words[0]
        found.append(_one(words))
    return lambda case: all(matches(case) for matches in found)


def _one(words: list[str]) -> Matches:
    word = words.pop(0) if words else ""
    if word == "not":
        inner = _one(words)
        return lambda case: not inner(case)
    if word == "(":
        inner = _either(words)
        if words[:1] != [")"]:
            raise ValueError("a `)` is missing")
        del words[0]
        return inner
    if word in {"", ")", "and", "or"}:
        raise ValueError("a word is missing" if not word else f"`{word}` is not expected")
    text = word.casefold()
    return lambda case: text in f"{case.file}::{case.id} {' '.join(case.tags)}".casefold()
