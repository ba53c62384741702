"""Rules of marks: of examples and tests of a rubric, and of the conditions of criteria."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.evaluators.assertions.keys import keys_of
from rubric_ci.evaluators.kind import is_penalty
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.problems import WRONG_TYPE, Path, Problem, Rule, mappings, with_rubrics

CONDITION: Final = Rule(
    id="condition",
    meaning=(
        "`applies_if` is a sentence that the judge decides, or a mapping with one way to decide: "
        "an assertion about the answer, `{criterion, is}`, `{tag}`, or `{var, equals}`."
    ),
    hint="write one of them",
    bad=with_rubrics("- expected_outcome: Greets\n  applies_if: {tag: formal, contains: Dear}"),
    good=with_rubrics("- expected_outcome: Greets\n  applies_if: {tag: formal}"),
)


def _with_parent(name: str) -> str:
    warm = f"{{expected_outcome: Is warm, applies_if: {{criterion: {name}, is: true}}}}"
    return with_rubrics(f"- {{id: greets, expected_outcome: Greets}}\n- {warm}")


CONDITION_PARENT: Final = Rule(
    id="condition-parent",
    meaning=(
        "`applies_if: {criterion, is}` names a criterion of the same list that has no condition of "
        "its own, and a mark that it can have."
    ),
    bad=_with_parent("greet"),
    good=_with_parent("greets"),
)
_PARTNERS: Final = {"criterion": "is", "var": "equals"}
_WAYS: Final = ("criterion", "tag", "var")


def condition_problems(
    condition: dict[str, Any], path: Path, named: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield the problems of the condition of a criterion; `named` has its list by id."""
    own = [key for key in _WAYS if key in condition]
    taken = ("equals",) if "var" in condition else ()
    ways = [*own, *(key for key in keys_of(condition) if key not in taken)]
    if len(ways) != 1:
        ways_text = " and ".join(f"`{way}`" for way in ways)
        yield Problem(
            CONDITION, path, f"a condition has one way to decide, not {ways_text or 'none'}"
        )
        return
    (way,) = ways
    partner = _PARTNERS.get(way, "")
    if partner and partner not in condition:
        yield Problem(CONDITION, path, f"`{way}` has no `{partner}`", f"write `{partner}: …`")
    if own:
        from rubric_ci.evaluators.assertions.marking import OPTIONS  # few files have conditions
    for key in ("is", "equals", *(OPTIONS if own else ())):
        if key in condition and key not in {way, partner}:
            message = f"`{key}` has no effect with `{way}`"
            yield Problem(CONDITION, (*path, key), message, "remove it", at_key=True)
    if way == "equals" and isinstance(condition["equals"], bool):
        message = "`equals` compares a text, a number, a list or a mapping"
        yield Problem(WRONG_TYPE, (*path, "equals"), message, "write `contains`")
    if way == "criterion" and isinstance(condition["criterion"], str):
        yield from _parent(condition, path, named)


def _parent(condition: dict[str, Any], path: Path, named: Mapping[str, Any]) -> Iterator[Problem]:
    name = condition["criterion"]
    if name not in named:
        hint = did_you_mean(nearest(name, named))
        message = f"there is no criterion `{name}` in this list"
        yield Problem(CONDITION_PARENT, (*path, "criterion"), message, hint)
        return
    parent = named[name]
    if isinstance(parent, dict) and "applies_if" in parent:
        message = f"`{name}` has a condition itself"
        hint = "name a criterion that always applies"
        yield Problem(CONDITION_PARENT, (*path, "criterion"), message, hint)
    elif "is" in condition and (marks := wrong_mark(parent, condition["is"])):
        message = f"`{name}` is never marked so"
        yield Problem(CONDITION_PARENT, (*path, "is"), message, f"its marks are {marks}")


def wrong_mark(criterion: Any, mark: Any) -> str:
    """Return the marks of a criterion if this is none of them."""
    known = criterion if isinstance(criterion, dict) else {}
    scale = known.get("choices") or known.get("levels") or []
    if not isinstance(scale, list | dict):  # the schema reports it
        return ""
    unmarked = mark == "cannot_assess" and not (is_penalty(known) or keys_of(known))
    if unmarked or (mark == "not_applicable" and "applies_if" in known):
        return ""
    if choices := known.get("choices"):
        names = [c.get("choice") if isinstance(c, dict) else c for c in choices]
        return "" if mark in names else ", ".join(map(str, names))
    if levels := known.get("levels"):
        numbers = [str(n.get("level") if isinstance(n, dict) else n) for n in levels]
        return "" if type(mark) is int and str(mark) in numbers else ", ".join(numbers)
    if "score_ranges" in known:
        return "" if type(mark) is int and 0 <= mark <= 10 else "0 to 10"
    return "" if isinstance(mark, bool) else "true, false"


MOST_CHARACTERS: Final = 8_000
_OF_CASE: Final = len(("evalcases", 0, "rubrics"))

_WARM: Final = "criteria: [{id: warm, expected_outcome: Is warm}]"
_TESTS: Final = "tests: [{answer: Hi, marks: {warm: true}}]"
EXAMPLE_MARK: Final = Rule(
    id="example-mark",
    meaning=(
        "`marks` of an example or a test names criteria of its list, each with a mark that the "
        "criterion can have."
    ),
    hint="write a mark that the judge can give",
    bad=with_rubrics(f"examples: [{{answer: Hi, marks: {{warm: 7}}}}]\n{_WARM}"),
    good=with_rubrics(f"examples: [{{answer: Hi, marks: {{warm: true}}}}]\n{_WARM}"),
)
TEST_ANSWER: Final = Rule(
    id="test-answer",
    meaning="A test of a rubric file has the text of an answer, or the path of a file with it.",
    hint="write one of them",
)
TEST_PLACE: Final = Rule(
    id="test-place",
    meaning="`tests` are of a rubric file, or in `rubrics` of a case: they are answers to it.",
    hint="move them to `rubrics` of a case, or to a rubric file",
    bad=f"rubrics:\n  {_WARM}\n  {_TESTS}\nevalcases:\n  - {{id: greeting, input: Say hello}}\n",
    good=with_rubrics(f"{_WARM}\n{_TESTS}"),
)
EXAMPLE_SIZE: Final = Rule(
    id="example-size",
    meaning="The examples of a list have 8,000 characters at most: each request sends all of them.",
    hint="shorten them, or keep those that decide",
)


def example_problems(
    owner: dict[str, Any], named: Mapping[str, Any], path: Path
) -> Iterator[Problem]:
    """Yield the problems of the examples next to criteria, which `named` has by id."""
    size = 0
    for place, each in mappings(owner, "examples", path):
        size += sum(len(text) for text in each.values() if isinstance(text, str))
        yield from mark_problems(each.get("marks"), named, (*place, "marks"))
    if size > MOST_CHARACTERS:
        message = f"the examples have {size:,} characters, more than {MOST_CHARACTERS:,}"
        yield Problem(EXAMPLE_SIZE, (*path, "examples"), message, at_key=True)


def case_test_problems(
    owner: dict[str, Any], named: Mapping[str, Any], path: Path
) -> Iterator[Problem]:
    """Yield the problems of the tests next to the criteria of a case; elsewhere there are none."""
    if isinstance(owner.get("tests"), list) and len(path) != _OF_CASE:
        yield Problem(TEST_PLACE, (*path, "tests"), "`tests` has no case here", at_key=True)
    for place, each in mappings(owner, "tests", path):
        yield from mark_problems(each.get("marks"), named, (*place, "marks"), several=True)


def ids_of(criteria: list[Any]) -> list[str]:
    """Return the ids that criteria have in their list."""
    names = [each.get("id") if isinstance(each, dict) else None for each in criteria]
    return [
        name if isinstance(name, str) else f"rubric-{number}"
        for number, name in enumerate(names, start=1)
    ]


def mark_problems(
    marks: Any, named: Mapping[str, Any], path: Path, *, several: bool = False
) -> Iterator[Problem]:
    """Yield marks of unknown criteria, and marks that a criterion cannot have.

    `several`: a list has the marks of which any one is right.
    """
    for name, given in marks.items() if isinstance(marks, dict) else ():
        if name not in named:
            hint = did_you_mean(nearest(name, named)) or f"known: {', '.join(named)}"
            message = f"there is no criterion `{name}`"
            yield Problem(EXAMPLE_MARK, (*path, name), message, hint, at_key=True)
            continue
        for mark in given if several and isinstance(given, list) else [given]:
            if allowed := wrong_mark(named[name], mark):
                message = f"`{name}` is never marked so"
                yield Problem(EXAMPLE_MARK, (*path, name), message, f"its marks are {allowed}")
