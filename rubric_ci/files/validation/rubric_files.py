"""Rubric files: criteria that other files include, and the problems of their own."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from posixpath import basename
from typing import Any, Final, NamedTuple

from rubric_ci.evaluators.kind import criteria_at
from rubric_ci.files.validation.example_rules import (
    TEST_ANSWER,
    by_id,
    example_problems,
    mark_problems,
)
from rubric_ci.files.validation.rubric_rules import criteria_problems
from rubric_ci.files.validation.schema import problems as schema_problems
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.values.problems import Path, Problem, Rule, with_rubrics
from rubric_ci.values.references import Found, Lookup

ENDING: Final = ".rubric.yaml"
"""How a file ends that is a rubric file by its name."""
OFTEN: Final = 3  # cases with the same criterion
BARE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")

INCLUDE: Final = Rule(
    id="include",
    meaning=(
        "`- include: NAME` takes the criteria of a rubric file: `only` or `except` names some of "
        "them. A bare name is the nearest `rubrics/NAME.rubric.yaml` upwards. An included file "
        "includes no other."
    ),
    hint="docs/good-rubrics.md shows a rubric file",
    bad=with_rubrics("- Greets\n- include: gone"),
    good=with_rubrics("- Greets"),
)
RUBRIC_REPEATED: Final = Rule(
    id="rubric-repeated",
    severity="notice",
    switchable=True,
    meaning=(
        "The same criteria stand in three cases or more. In a rubric file they stand once, for "
        "`- include: NAME` or `shared_rubrics`, and an edit is one change to the grading."
    ),
    hint=(
        "move them to `rubrics/NAME.rubric.yaml` and write `- include: NAME`, or use "
        "`shared_rubrics`"
    ),
    bad="evalcases:\n"
    + "".join(f"- {{id: {name}, input: Hi, rubrics: [Greets, Is warm]}}\n" for name in "abc"),
    good="rubrics: [Greets, Is warm]\nevalcases:\n"
    + "".join(f"- {{id: {name}, input: Hi}}\n" for name in "abc"),
)
RUBRIC_UNUSED: Final = Rule(
    id="rubric-unused",
    severity="notice",
    switchable=True,
    meaning="No eval file of `evals` includes the rubric file, so it grades nothing.",
    hint="include it, or remove it",
)


class RubricFile(NamedTuple):
    """A rubric file with its problems, read once."""

    document: Document
    problems: tuple[Problem, ...]

    @property
    def faulty(self) -> bool:
        """Return True if no list can include it."""
        return bool(self.document.text_problems) or any(map(_is_error, self.problems))


def _is_error(problem: Problem) -> bool:
    return problem.rule.severity == "error"


@lru_cache(maxsize=1_000)
def open_rubric(path: str, text: str) -> RubricFile:
    """Return a rubric file and the problems of its data; those of its text are in the document."""
    document = Document(path, text)
    if not document.readable:
        return RubricFile(document, ())
    found = schema_problems("rubric", document)
    data = document.data
    if isinstance(data, dict):
        found += criteria_problems(data.get("criteria"), ("criteria",))
        found += example_problems(data, data.get("criteria"), ())
        found += _nested(data.get("criteria"), path)
    return RubricFile(document, tuple(found))


def _nested(criteria: Any, path: str) -> Iterator[Problem]:
    for index, each in enumerate(criteria if isinstance(criteria, list) else ()):
        if isinstance(each, dict) and "include" in each:
            name = each["include"]
            circle = isinstance(name, str) and basename(file_name(name)) == basename(path)
            message = f"an included file includes no other: {basename(path)} → {name}"
            hint = "it is a circle" if circle else "include both where the criteria are used"
            yield Problem(INCLUDE, ("criteria", index, "include"), message, hint)


def repeated_criteria(data: Any) -> Iterator[Problem]:
    """Yield a note at the first of the criteria that stand in three cases or more."""
    places = dict[str, list[tuple[Path, str, Any]]]()
    lists = set[int]()  # an alias is the same list
    cases = data.get("evalcases") if isinstance(data, dict) else None
    for number, case in enumerate(cases if isinstance(cases, list) else ()):
        rubrics = case.get("rubrics") if isinstance(case, dict) else None
        criteria, path = criteria_at(rubrics, ("evalcases", number, "rubrics"))
        if not isinstance(criteria, list) or id(criteria) in lists:
            continue
        lists.add(id(criteria))
        for index, each in enumerate(criteria):
            if title := _title(each):
                name = str(case.get("id") or number + 1)
                places.setdefault(title, []).append(((*path, index), name, each))
    often = [same for found in places.values() if len(found) >= OFTEN for same in _equal(found)]
    if often:
        often.sort(key=lambda same: same[0][0])
        from rubric_ci.text.numbers import listed, plural  # a good file needs neither

        first, names = often[0][0][0], [name for _, name in often[0]]
        more = f" and {plural(len(often) - 1, 'more criterion', 'more criteria')}"
        subject = f"this criterion{more if often[1:] else ''}"
        verb = "stand" if often[1:] else "stands"
        cases_of = f"{len(names):,} cases: {listed(names, OFTEN)}"
        yield Problem(RUBRIC_REPEATED, first, f"{subject} {verb} in {cases_of}")


def _title(criterion: Any) -> str:
    """Return a text that equal criteria have alike; empty: it is of a rubric file, or none."""
    if isinstance(criterion, str):
        return criterion
    if not isinstance(criterion, dict) or "include" in criterion:
        return ""
    return f"{criterion.get('id')} {criterion.get('expected_outcome')} {len(criterion)}"


def _equal(found: Sequence[tuple[Path, str, Any]]) -> Iterator[list[tuple[Path, str]]]:
    """Yield the places and cases of each criterion that stands in three cases or more."""
    same = dict[Any, list[tuple[Path, str]]]()
    for path, name, criterion in found:
        same.setdefault(_exact(criterion), []).append((path, name))
    yield from (each for each in same.values() if len({name for _, name in each}) >= OFTEN)


def _exact(criterion: Any) -> Any:
    """Return a value that equal criteria have alike, and no others."""
    if isinstance(criterion, str):
        return criterion
    try:
        return frozenset(criterion.items())
    except TypeError:  # of a list or a mapping: as JSON, a tenth of the check of a file
        import json

        return json.dumps(criterion, sort_keys=True, default=str)


def file_name(written: str) -> str:
    """Return the path that an include means: of a bare name `rubrics/NAME.rubric.yaml`."""
    return f"rubrics/{written}{ENDING}" if written and BARE.issuperset(written) else written


def problems_of_tests(tests: Any, criteria: Any, lookup: Lookup) -> Iterator[Problem]:
    """Yield the problems of the tests of a rubric file."""
    if not isinstance(criteria, list):
        return
    named = by_id(criteria)
    for index, each in enumerate(tests if isinstance(tests, list) else ()):
        if not isinstance(each, dict):
            continue
        path: Path = ("tests", index)
        yield from mark_problems(each.get("marks"), named, (*path, "marks"), several=True)
        if ("answer" in each) is ("answer_file" in each):
            message = "a test has either `answer` or `answer_file`"
            yield Problem(TEST_ANSWER, path, message)
        elif isinstance(file := each.get("answer_file"), str):
            found = lookup(file)
            if not isinstance(found, Found):
                from rubric_ci.files.validation.reference_rules import missing_file

                yield missing_file((*path, "answer_file"), file, found, lambda _: "")
