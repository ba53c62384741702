"""Rules of `applies_if`: one way to decide, and a criterion of the list with a mark it can have."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.evaluators.assertions.keys import keys_of
from rubric_ci.evaluators.kind import is_penalty
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.problems import WRONG_TYPE, Path, Problem, Rule, with_rubrics

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
CONDITION_PARENT: Final = Rule(
    id="condition-parent",
    meaning=(
        "`applies_if: {criterion, is}` names a criterion of the same list that has no condition of "
        "its own, and a mark that it can have."
    ),
    bad=with_rubrics(
        "- {id: greets, expected_outcome: Greets}\n"
        "- {expected_outcome: Is warm, applies_if: {criterion: greet, is: true}}"
    ),
    good=with_rubrics(
        "- {id: greets, expected_outcome: Greets}\n"
        "- {expected_outcome: Is warm, applies_if: {criterion: greets, is: true}}"
    ),
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
    if mark == "not_applicable" and "applies_if" in known:
        return ""
    if mark == "cannot_assess" and not (is_penalty(known) or keys_of(known)):
        return ""
    if choices := known.get("choices"):
        names = [c.get("choice") if isinstance(c, dict) else c for c in choices]
        return "" if mark in names else ", ".join(map(str, names))
    if levels := known.get("levels"):
        listed = isinstance(levels, list)
        numbers = [str(each.get("level")) for each in levels] if listed else [*levels]
        return "" if type(mark) is int and str(mark) in numbers else ", ".join(numbers)
    if "score_ranges" in known:
        return "" if type(mark) is int and 0 <= mark <= 10 else "0 to 10"
    return "" if isinstance(mark, bool) else "true, false"
