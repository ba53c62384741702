"""Rules of criteria that a schema cannot express: ids, weights, gates, ranges and levels."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.evaluators.assertions.keys import keys_of
from rubric_ci.evaluators.kind import criteria_at, is_penalty
from rubric_ci.files.validation.ambiguity_rules import wording_problems
from rubric_ci.files.validation.example_and_condition_rules import (
    case_test_problems,
    condition_problems,
    example_problems,
    ids_of,
)
from rubric_ci.files.yaml_text.scalars import is_short_decimal
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.problems import WEIGHT_TOTAL, WRONG_TYPE, Path, Problem, Rule, with_rubrics

MAX_RANGES: Final = 11

_TWO_IDS: Final = (
    "- {{id: greets, expected_outcome: Says hello}}\n- {{id: {}, expected_outcome: Is warm}}"
)


def _with_ranges(cold: str, warm: str) -> str:
    ranges = ((cold, "cold"), (warm, "warm"))
    listed = (f"    - {{score_range: {each}, expected_outcome: {text}}}" for each, text in ranges)
    return with_rubrics("\n".join(("- score_ranges:", *listed)))


def _with_levels(cold: int, warm: int) -> str:
    levels = f"    - {{level: {cold}, criteria: cold}}\n    - {{level: {warm}, criteria: warm}}"
    return with_rubrics(f"- levels:\n{levels}")


CRITERION_ID_DUPLICATE: Final = Rule(
    id="criterion-id-duplicate",
    meaning=(
        "The judge marks criteria by id, so ids are unique in a list. A criterion without an id "
        "gets `rubric-<n>` from its position."
    ),
    hint="give every criterion of a list its own id",
    bad=with_rubrics(_TWO_IDS.format("greets")),
    good=with_rubrics(_TWO_IDS.format("warm")),
)
GATE_KIND: Final = Rule(
    id="gate-kind",
    severity="warning",
    switchable=True,
    meaning=(
        "Each kind of criterion has its own gate: `required` for checklists, `required_min_score` "
        "with `score_ranges`, `required_min_level` with `levels`, `required_choices` with "
        "`choices`. Any other gate has no effect."
    ),
    bad=with_rubrics("- required: true\n  score_ranges: {0: cold, 6: warm}"),
    good=with_rubrics("- required_min_score: 6\n  score_ranges: {0: cold, 6: warm}"),
)
GATE_OUT_OF_REACH: Final = Rule(
    id="gate-out-of-reach",
    switchable=True,
    meaning="No level reaches `required_min_level`, so every answer would fail.",
    hint="lower it to a declared level",
    bad=with_rubrics("- required_min_level: 3\n  levels: {1: cold, 2: warm}"),
    good=with_rubrics("- required_min_level: 2\n  levels: {1: cold, 2: warm}"),
)
PENALTY_KIND: Final = Rule(
    id="penalty-kind",
    meaning=(
        "A penalty names a fault, which an answer has or does not have: it takes no scores, no "
        "levels and no gate on them. An assertion in a penalty must hold where the fault is "
        "present, so one that a good answer meets needs `not: true`."
    ),
    hint="name the fault in a checklist criterion, or how severe it is in `choices`",
    bad=with_rubrics("- Greets\n- {max_words: 80, penalty: 2}"),
    good=with_rubrics("- Greets\n- {max_words: 80, not: true, penalty: 2}"),
)
CHOICE_NAME: Final = Rule(
    id="choice-name",
    meaning=(
        "Each choice is declared once. `cannot_assess` and `not_applicable` are marks of their "
        "own, which no choice can be named."
    ),
    hint="give every choice its own name",
    bad=with_rubrics("- choices:\n    - {choice: a, score: 0}\n    - {choice: a, score: 1}"),
    good=with_rubrics("- choices:\n    - {choice: a, score: 0}\n    - {choice: b, score: 1}"),
)
REQUIRED_CHOICE: Final = Rule(
    id="required-choice",
    meaning="`required_choices` names declared choices: no answer can be marked as another one.",
    hint="write the name of a choice",
    bad=with_rubrics("- required_choices: [refunds]\n  choices: {refund: 1, refuse: 0}"),
    good=with_rubrics("- required_choices: [refund]\n  choices: {refund: 1, refuse: 0}"),
)
SCORE_RANGE_TYPE: Final[Rule] = Rule(
    id="score-range-type",
    meaning="A range is a list of two integers, because judges give integer scores.",
    hint="write [low, high] with two integers from 0 to 10",
    bad=with_rubrics("- score_ranges:\n    - {score_range: [0, 10.0], expected_outcome: a}"),
    good=with_rubrics("- score_ranges:\n    - {score_range: [0, 10], expected_outcome: a}"),
)
SCORE_RANGE_BOUNDS: Final[Rule] = Rule(
    id="score-range-bounds",
    meaning="Scores are 0 to 10, and the low bound of a range is not above its high bound.",
    hint="keep 0 <= low <= high <= 10",
    bad=with_rubrics("- score_ranges:\n    - {score_range: [10, 0], expected_outcome: a}"),
    good=with_rubrics("- score_ranges:\n    - {score_range: [0, 10], expected_outcome: a}"),
)
SCORE_RANGE_OVERLAP: Final = Rule(
    id="score-range-overlap",
    meaning="A score that belongs to two ranges is ambiguous.",
    hint="ranges must not share a value",
    bad=_with_ranges("[0, 6]", "[6, 10]"),
    good=_with_ranges("[0, 5]", "[6, 10]"),
)
SCORE_RANGE_COVERAGE: Final = Rule(
    id="score-range-coverage",
    meaning=(
        "Every score from 0 to 10 must belong to a range. In a map, the first range starts at 0."
    ),
    hint="together the ranges must cover 0 to 10",
    bad=_with_ranges("[0, 5]", "[7, 10]"),
    good=_with_ranges("[0, 5]", "[6, 10]"),
)
LEVELS_TYPE: Final = Rule(
    id="levels-type",
    meaning="Levels are integers, as a list of `{level, criteria}` or as the keys of a map.",
    hint="write levels as integers",
    bad=with_rubrics("- levels: {low: cold, high: warm}"),
    good=with_rubrics("- levels: {1: cold, 2: warm}"),
)
LEVELS_DUPLICATE: Final = Rule(
    id="levels-duplicate",
    meaning="A level is declared once.",
    hint="declare every level once",
    bad=_with_levels(1, 1),
    good=_with_levels(1, 2),
)


def criteria_problems(rubrics: Any, path: Path, *, total: bool = True) -> Iterator[Problem]:
    """Yield the problems of criteria; `total`: of their weights together as well."""
    criteria, place = criteria_at(rubrics, path)
    if not isinstance(criteria, list):
        return
    names = ids_of(criteria)
    named = dict(zip(names, criteria, strict=True))
    if isinstance(rubrics, dict):
        yield from example_problems(rubrics, named, path)
        yield from case_test_problems(rubrics, named, path) if path else ()  # not of a rubric file
    if len(named) < len(names):
        yield from _same_ids(criteria, names, place)
    if total and criteria and all(isinstance(c, dict) and c.get("weight") == 0 for c in criteria):
        message = "every criterion has weight 0, so nothing is graded"
        yield Problem(WEIGHT_TOTAL, place, message)
    yield from wording_problems(criteria, place)
    for index, criterion in enumerate(criteria):
        if isinstance(criterion, dict) and not _WITH_RULES.isdisjoint(criterion):
            yield from _criterion(criterion, (*place, index), named)


def _same_ids(criteria: list[Any], names: list[str], path: Path) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        first = seen.setdefault(name, index)
        if first != index:
            given = isinstance(criteria[index], dict) and criteria[index].get("id")
            where: Path = (*path, index, "id") if given else (*path, index)
            message = f"the id `{name}` is taken by an earlier criterion"
            yield Problem(CRITERION_ID_DUPLICATE, where, message, first=(*path, first))


def _criterion(
    criterion: dict[str, Any], path: Path, named: Mapping[str, Any]
) -> Iterator[Problem]:
    if isinstance(condition := criterion.get("applies_if"), dict):
        yield from condition_problems(condition, (*path, "applies_if"), named)
    ranges, levels = "score_ranges" in criterion, "levels" in criterion
    if ranges and not _is_partition(criterion["score_ranges"]):
        yield from _ranges(criterion["score_ranges"], (*path, "score_ranges"))
    elif levels and not ranges:
        yield from _levels(criterion, path)
    if "choices" in criterion:
        yield from _choices(criterion, path)
    if is_penalty(criterion):
        yield from _penalty(criterion, path)
    elif not (_GATE_NAMES.isdisjoint(criterion) or (ranges and levels)):
        kind = next((key for key in _GATES if key in criterion), "checklist")
        kind = "assertion" if keys_of(criterion) else kind
        yield from _gates(criterion, kind, path)


_NO_FAULT: Final = (
    *("score_ranges", "levels", "required_min_score", "required_min_level", "required_choices"),
)
_MET_BY_GOOD: Final = (
    *("is_json", "contains_json", "json_schema", "max_words", "min_words"),
    *("never_called", "no_other_calls", "max_calls", "unchanged"),
)
"""Keys of assertions that are a fault only where they do not hold."""


def _penalty(criterion: dict[str, Any], path: Path) -> Iterator[Problem]:
    for name in (name for name in _NO_FAULT if name in criterion):
        yield Problem(PENALTY_KIND, (*path, name), f"a penalty has no `{name}`", at_key=True)
    for key in keys_of(criterion)[:1]:
        if key in _MET_BY_GOOD and criterion.get("not") is not True:
            message = f"a penalty names a fault, and a good answer meets `{key}`"
            yield Problem(PENALTY_KIND, (*path, key), message, "add `not: true`", at_key=True)


_GATES = {
    "checklist": ("required", "a checklist criterion"),
    "assertion": ("required", "an assertion"),
    "score_ranges": ("required_min_score", "a criterion with `score_ranges`"),
    "levels": ("required_min_level", "a criterion with `levels`"),
    "choices": ("required_choices", "a criterion with `choices`"),
}
_GATE_NAMES = dict.fromkeys(gate for gate, _ in _GATES.values()).keys()
_WITH_RULES: Final = frozenset(
    (*_GATE_NAMES, "applies_if", "score_ranges", "levels", "choices", "penalty", "weight")
)
"""Keys without which no rule of `_criterion` applies."""


def _gates(criterion: dict[str, Any], kind: str, path: Path) -> Iterator[Problem]:
    own, owner = _GATES[kind]
    for gate in _GATE_NAMES:
        if gate in criterion and gate != own:
            message = f"`{gate}` has no effect on {owner}"
            yield Problem(GATE_KIND, (*path, gate), message, f"use `{own}`", at_key=True)
        value = criterion.get(gate)
        if isinstance(value, float) and value.is_integer():  # the schema reports other floats
            message = f"`{gate}` must be an integer, not {value}"
            yield Problem(WRONG_TYPE, (*path, gate), message)


def _ranges(ranges: Any, path: Path) -> Iterator[Problem]:
    if isinstance(ranges, dict):
        yield from _range_map(ranges, path)
    elif isinstance(ranges, list):
        floats = list(_float_bounds(ranges, path))
        yield from floats
        bounds = [_bounds(entry) for entry in ranges]
        yield from _reversed(bounds, path)
        known = [pair for pair in bounds if pair and pair[0] <= pair[1]]
        if not floats and 0 < len(known) == len(ranges) <= MAX_RANGES:
            yield from _overlaps(bounds, path)
            yield from _gaps(known, path)


def _is_partition(ranges: Any) -> bool:
    """Return True if the ranges cover 0 to 10 once: the quick check for valid ranges."""
    if not isinstance(ranges, list):
        return False
    pairs = [_bounds(entry) for entry in ranges]
    covered = [n for pair in pairs if pair for n in range(pair[0], pair[1] + 1)]
    return len(covered) == 11 and None not in pairs and len(set(covered)) == 11


def _range_map(ranges: dict[str, Any], path: Path) -> Iterator[Problem]:
    if ranges and all(map(is_short_decimal, ranges)):
        first = min(int(key) for key in ranges)
        if 0 < first <= 10:
            yield Problem(SCORE_RANGE_COVERAGE, path, f"no range covers {_list(range(first))}")


def _float_bounds(ranges: list[Any], path: Path) -> Iterator[Problem]:
    for index, entry in enumerate(ranges):
        pair = entry.get("score_range") if isinstance(entry, dict) else None
        for place, bound in enumerate(pair if isinstance(pair, list) else ()):
            if isinstance(bound, float) and bound.is_integer():  # others fail the schema
                where: Path = (*path, index, "score_range", place)
                message = f"a bound of `score_range` must be an integer, not {bound}"
                yield Problem(SCORE_RANGE_TYPE, where, message)


def _bounds(entry: Any) -> tuple[int, int] | None:
    pair = entry.get("score_range") if isinstance(entry, dict) else None
    if not isinstance(pair, list) or len(pair) != 2:
        return None
    whole = all(type(bound) is int and 0 <= bound <= 10 for bound in pair)
    return (pair[0], pair[1]) if whole else None


def _reversed(bounds: list[tuple[int, int] | None], path: Path) -> Iterator[Problem]:
    for index, pair in enumerate(bounds):
        if pair and pair[0] > pair[1]:
            message = f"the low bound {pair[0]} is above the high bound {pair[1]}"
            hint = f"write [{pair[1]}, {pair[0]}]"
            yield Problem(SCORE_RANGE_BOUNDS, (*path, index, "score_range"), message, hint)


def _overlaps(bounds: list[tuple[int, int] | None], path: Path) -> Iterator[Problem]:
    for index, pair in enumerate(bounds):
        for earlier in bounds[:index]:
            if pair and earlier and pair[0] <= earlier[1] and earlier[0] <= pair[1]:
                message = f"{list(pair)} overlaps {list(earlier)}"
                yield Problem(SCORE_RANGE_OVERLAP, (*path, index, "score_range"), message)


def _gaps(bounds: list[tuple[int, int]], path: Path) -> Iterator[Problem]:
    missing = [n for n in range(11) if not any(low <= n <= high for low, high in bounds)]
    if missing:
        yield Problem(SCORE_RANGE_COVERAGE, path, f"no range covers {_list(missing)}")


def _levels(criterion: dict[str, Any], path: Path) -> Iterator[Problem]:
    levels, where = criterion["levels"], (*path, "levels")
    if isinstance(levels, list):
        yield from _same_levels(levels, where)
        numbers = [entry.get("level") if isinstance(entry, dict) else None for entry in levels]
    else:
        keys = levels if isinstance(levels, dict) else ()
        numbers = [int(key) if is_short_decimal(key.removeprefix("-")) else None for key in keys]
    least = criterion.get("required_min_level")
    whole = [number for number in numbers if type(number) is int]
    if type(least) is int and len(whole) == len(numbers) > 0 and least > max(whole):
        message = f"no level reaches {least}; the highest is {max(whole)}"
        yield Problem(GATE_OUT_OF_REACH, (*path, "required_min_level"), message)


def _same_levels(levels: list[Any], path: Path) -> Iterator[Problem]:
    seen = set()
    for index, entry in enumerate(levels):
        number = entry.get("level") if isinstance(entry, dict) else None
        where: Path = (*path, index, "level")
        if isinstance(number, float) and number.is_integer():
            yield Problem(LEVELS_TYPE, where, f"`level` must be an integer, not {number}")
        elif type(number) is int:
            if number in seen:
                message = f"the level {number} is declared twice"
                yield Problem(LEVELS_DUPLICATE, where, message)
            seen.add(number)


_MARKS_OF_THEIR_OWN: Final = ("cannot_assess", "not_applicable")


def _choices(criterion: dict[str, Any], path: Path) -> Iterator[Problem]:
    written, names = criterion["choices"], list[str]()
    for step, name in _names(written):
        where: Path = (*path, "choices", *step)
        if name in _MARKS_OF_THEIR_OWN:
            message = f"`{name}` is a mark of its own"
            yield Problem(CHOICE_NAME, where, message, at_key=isinstance(written, dict))
        elif name in names:
            yield Problem(CHOICE_NAME, where, f"the choice `{name}` is declared twice")
        names.append(name)
    required = criterion.get("required_choices")
    for index, name in enumerate(required if isinstance(required, list) else ()):
        if isinstance(name, str) and name.strip() and name not in names:
            hint = did_you_mean(nearest(name, names))
            where = (*path, "required_choices", index)
            yield Problem(REQUIRED_CHOICE, where, f"there is no choice `{name}`", hint)


def _names(choices: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(choices, dict):
        yield from (((name,), name) for name in choices)
    for index, each in enumerate(choices if isinstance(choices, list) else ()):
        name = each.get("choice") if isinstance(each, dict) else None
        if isinstance(name, str):
            yield (index, "choice"), name


def _list(numbers: Any) -> str:
    """Return numbers as a phrase: "3", "3 and 4", "1, 2 and 9"."""
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
