"""AgentV's graders as criteria and evaluators.

A case's score is the weighted mean of its graders there, and a missed criterion fails its grader
only: criteria are not required here. Texts are one grader that weighs as many as they are, so that
texts, checks and rubrics are one list of criteria with the same mean. A required grader that is
more than one criterion is a composite with a minimum score.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from rubric_ci.evaluators.assertions.keys import KEYS
from rubric_ci.parts.bring.dialects.agentv_evaluators import (
    CALLS,
    CHECKS,
    EVALUATORS,
    OPTIONS,
    Parts,
    discovered,
    named,
    prompted,
)
from rubric_ci.parts.bring.dialects.agentv_rubrics import (
    RUBRICS,
    criteria_of,
    included,
    is_one_text,
    weight_of,
)
from rubric_ci.parts.bring.translation import VARIABLE, Placed, Translation, named_apart, placed
from rubric_ci.values.json_value import is_number
from rubric_ci.values.problems import Path

GRADERS: Final = ("assertions", "assert", "assertion")
"""The keys of a list of graders, of which a test or a suite has one."""

_LIMIT: Final = 0.8  # from which a grader, and a test, passes
_GATE: Final = ("required", "min_score")
_SETS: Final = {"assert-set": GRADERS, "composite": ("assertions", "assert", "evaluators")}

_Marks: TypeAlias = tuple[list[Placed], list[Placed]]
"""Criteria, and evaluators."""


def add_graders(
    found: Translation,
    suite: dict[str, Any],
    test: dict[str, Any],
    ours: Path,
    theirs: Path,
    seen: Sequence[str] = (),
) -> None:
    """Add the criteria as one evaluator, and one more for each measurement.

    `seen` is what judges see besides the answer.
    """
    criteria, evaluators = _collected(found, suite, test, theirs)
    all_see = {"sees": ["answer", *seen]} if seen else {}
    sees = all_see if _is_judged([each for each, _ in criteria]) else {}
    owner = (*ours, "rubrics")
    if evaluators:
        found.put((*ours, "execution"), {"evaluators": []}, theirs)
        place = (*ours, "execution", "evaluators")
        if criteria:
            weight = round(sum(each.get("weight", 1.0) for each, _ in criteria), 6)
            rubric = {"name": "rubric", "type": "rubric", "weight": weight, **sees}
            found.put((*place, 0), rubric, theirs)
            owner = (*place, 0, "rubrics")
        taken = ("rubric",) if criteria else ()
        apart = named_apart([each for each, _ in evaluators], taken)
        for number, (each, (_, where)) in enumerate(
            zip(apart, evaluators, strict=True), len(taken)
        ):
            found.put((*place, number), _seeing(each, all_see), where)
    elif criteria and sees:
        found.put(owner, dict(sees), theirs)
        owner = (*owner, "criteria")
    if criteria:
        found.put_list(owner, criteria, theirs)


def _is_judged(criteria: Sequence[Any]) -> bool:
    return any(isinstance(c, str) or not c.keys() & {*KEYS} for c in criteria)


def _seeing(evaluator: dict[str, Any], sees: dict[str, list[str]]) -> dict[str, Any]:
    """Return an evaluator with the parts that its judges see, in members too."""
    if "evaluators" in evaluator:
        return {**evaluator, "evaluators": [_seeing(e, sees) for e in evaluator["evaluators"]]}
    judged = evaluator["type"] == "rubric" and _is_judged(evaluator["rubrics"])
    return {**evaluator, **sees} if judged else evaluator


def _collected(
    found: Translation, suite: dict[str, Any], test: dict[str, Any], theirs: Path
) -> tuple[list[Placed], list[Placed]]:
    written = _listed(found, test, theirs)
    if execution_of(test).get("skip_defaults") is not True:
        default = suite.get("default_test")
        written += _listed(found, default, ("default_test",)) if isinstance(default, dict) else []
        written += _listed(found, suite, ())
    written += placed(test.get("rubrics"), (*theirs, "rubrics"))
    criteria, evaluators = _every(found, test, [(*each, 1.0) for each in written])
    if not written and isinstance(test.get("criteria"), str):
        criteria = [(test["criteria"], (*theirs, "criteria"))]
    return _identified(criteria), evaluators


def _identified(criteria: list[Placed]) -> list[Placed]:
    """Return the criteria without the ids that several graders give, or that numbers may be."""
    named = [each for each, _ in criteria if isinstance(each, dict) and "id" in each]
    ids = Counter(each["id"] for each in named)
    for each in named:
        if ids[each["id"]] > 1 or each["id"].startswith("rubric-"):
            del each["id"]
    return criteria


def turn_criteria(
    found: Translation, test: dict[str, Any], turn: dict[str, Any], place: Path
) -> list[Placed]:
    """Return the criteria of a turn, whose texts are one grader of weight 1."""
    written = _listed(found, turn, place)
    texts = sum(isinstance(each, str) for each, _ in written)
    shares = [(*each, 1 / texts if isinstance(each[0], str) else 1.0) for each in written]
    criteria, evaluators = _every(found, test, shares)
    for _, where in evaluators:
        found.refuse(where, "only criteria can mark a turn")
    return _identified(criteria)


def execution_of(test: dict[str, Any]) -> dict[str, Any]:
    execution = test.get("execution")
    return execution if isinstance(execution, dict) else {}


def _listed(
    found: Translation, owner: dict[str, Any], path: Path, keys: tuple[str, ...] = GRADERS
) -> list[Placed]:
    key = next((key for key in keys if isinstance(owner.get(key), list)), "")
    return [
        grader
        for each, where in placed(owner.get(key), (*path, key))
        for grader in included(found, each, where, GRADERS)
    ]


def _every(
    found: Translation, test: dict[str, Any], graders: Iterable[tuple[Any, Path, float]]
) -> _Marks:
    """Return criteria and evaluators of graders with their shares of the weight of the case."""
    every = [_marks(found, test, *grader) for grader in graders]
    return [c for own, _ in every for c in own], [e for _, own in every for e in own]


def _marks(
    found: Translation, test: dict[str, Any], grader: Any, place: Path, share: float
) -> _Marks:
    kind = str(grader.get("type", "")).replace("_", "-") if isinstance(grader, dict) else ""
    texts = {**grader, "prompt": ""} if isinstance(grader, dict) else grader
    if kind not in _SETS and (unknown := VARIABLE.search(json.dumps(texts))):
        found.refuse(place, f"`{{{{ {unknown[1]} }}}}` is not replaced: no variable of the test")
    if not isinstance(grader, dict):
        text = {"expected_outcome": grader, "required": False}
        return [(_weighed(text, share), place)], []
    least = _minimum(found, grader, place)
    of_criterion = kind in CHECKS or kind in CALLS or (kind in RUBRICS and is_one_text(grader))
    if least and not of_criterion:
        free = {key: each for key, each in grader.items() if key not in _GATE}
        return [], [(_composite(found, test, free, place, share, least), place)]
    if kind in _SETS:
        members = _members(found, grader, kind, place)
        return _every(found, test, [(each, at, share * part) for each, at, part in members])
    share *= weight_of(grader)
    grader = {**grader, "required": bool(grader.get("required"))}
    if parts := _parts(found, grader, kind, place):
        criteria, evaluators = ([(_weighed(e, share), place) for e in each] for each in parts)
        return criteria, evaluators
    placed = criteria_of(found, test, grader, kind, place)
    return [(_weighed(each, share), at) for each, at in placed], []


def _minimum(found: Translation, grader: dict[str, Any], place: Path) -> float:
    """Return the least score of a required grader; 0: it is not required."""
    required = grader.get("required")
    if not required:
        return 0.0
    least = grader.get("min_score", _LIMIT if required is True else required)
    if not is_number(least) or not 0 < least <= 1:
        found.refuse((*place, "required"), "the least score of a grader is above 0, and at most 1")
        return _LIMIT
    return float(least)


def _composite(
    found: Translation,
    test: dict[str, Any],
    grader: dict[str, Any],
    place: Path,
    share: float,
    least: float,
) -> dict[str, Any]:
    """Return a grader as a composite with a gate."""
    named_as = {"name": grader.get("type", "rubric"), **grader}
    own = named(named_as, "composite", required_min_score=least)
    criteria, evaluators = _marks(found, test, {**grader, "weight": 1.0}, place, 1.0)
    members = [each for each, _ in evaluators]
    if criteria:
        rubrics = [criterion for criterion, _ in _identified(criteria)]
        weight = round(sum(each.get("weight", 1.0) for each in rubrics), 6)
        rubric = {"name": _name(grader) or "rubric", "type": "rubric", "rubrics": rubrics}
        members.insert(0, _weighed(rubric, weight))
    return _weighed({**own, "evaluators": named_apart(members)}, share * weight_of(grader))


def _without_gates(found: Translation, members: list[Placed]) -> list[Placed]:
    """Return the members of a set, of which AgentV ignores `required`."""
    kept: list[Placed] = []
    for member, where in members:
        if isinstance(member, dict) and member.get("required"):
            found.skip((*where, "required"), "AgentV ignores `required` of a member of a set")
            kept.append(({k: v for k, v in member.items() if k not in _GATE}, where))
        else:
            kept.append((member, where))
    return kept


def _parts(found: Translation, grader: dict[str, Any], kind: str, place: Path) -> Parts | None:
    """Return the parts of a grader that is neither check nor list of criteria; None: it is one."""
    if kind in EVALUATORS:
        return EVALUATORS[kind](found, grader, place)
    if kind in RUBRICS:
        return prompted(found, grader, place) if "prompt" in grader else None
    return None if kind in CHECKS else discovered(found, grader, place)


def _weighed(part: dict[str, Any], share: float) -> dict[str, Any]:
    weight = round(part.get("weight", 1.0) * share, 6)
    return part if weight == part.get("weight", 1.0) else {**part, "weight": weight}


def _members(
    found: Translation, grader: dict[str, Any], kind: str, place: Path
) -> list[tuple[Any, Path, float]]:
    """Return the members of a set, each with its share of the set's own weight.

    A threshold decides there whether the set passes, which counts for `required` only.
    """
    keys = _SETS[kind]
    found.refuse_keys(grader, (*OPTIONS, *keys, "threshold", "aggregator"), place)
    aggregator = grader.get("aggregator", {"type": "weighted_average"})
    mean = isinstance(aggregator, dict) and aggregator.get("type") == "weighted_average"
    members = _without_gates(found, _listed(found, grader, place, keys))
    if not mean or not members:
        found.refuse(place, "only the mean of a set has a counterpart")
        return []
    if kind == "composite":  # its weights are by name; its members' weights are not used
        given = aggregator.get("weights")
        named = given if isinstance(given, dict) else {}
        weights = [weight_of({"weight": named.get(_name(each), 1.0)}) for each, _ in members]
    else:
        weights = [weight_of(each) for each, _ in members]
    total, own = sum(weights) or 1.0, weight_of(grader)
    return [
        ({**each, "weight": 1.0} if isinstance(each, dict) else each, where, own * weight / total)
        for (each, where), weight in zip(members, weights, strict=True)
    ]


def _name(member: Any) -> str:
    return str(member.get("name", "")) if isinstance(member, dict) else ""
