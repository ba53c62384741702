"""AgentV's graders as criteria and evaluators.

A case's score is the weighted mean of its graders there, and a missed criterion fails its grader
only: criteria are not required here. Texts are one grader that weighs as many as they are, so that
texts, checks and rubrics are one list of criteria with the same mean.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from rubric_ci.files.assertions.keys import KEYS
from rubric_ci.files.dialects.agentv_calls import OPTIONS, Parts
from rubric_ci.files.dialects.agentv_evaluators import (
    CHECKS,
    EVALUATORS,
    check_of,
    discovered,
    evaluator_of,
    prompted,
)
from rubric_ci.files.dialects.translation import VARIABLE, Translation, renamed
from rubric_ci.files.yaml_text.problems import Path

GRADERS: Final = ("assertions", "assert", "assertion")
"""The keys of a list of graders, of which a test or a suite has one."""

_RUBRICS: Final = frozenset(("llm-rubric", "rubrics", "llm-grader", "llm-judge"))
_SETS: Final = {"assert-set": GRADERS, "composite": ("assertions", "assert", "evaluators")}

_Placed = tuple[Any, Path]


def add_graders(
    found: Translation,
    suite: dict[str, Any],
    test: dict[str, Any],
    ours: Path,
    theirs: Path,
    seen: Sequence[str] = (),
) -> None:
    """Add the criteria as one evaluator, and each measurement as one of its own.

    `seen` is what judges see besides the answer.
    """
    criteria, evaluators = _collected(found, suite, test, theirs)
    judged = any(isinstance(c, str) or not c.keys() & {*KEYS} for c, _ in criteria)
    sees = {"sees": ["answer", *seen]} if seen and judged else {}
    owner = (*ours, "rubrics")
    if evaluators:
        found.put((*ours, "execution"), {"evaluators": []}, theirs)
        place = (*ours, "execution", "evaluators")
        if criteria:
            weight = round(sum(each.get("weight", 1.0) for each, _ in criteria), 6)
            rubric = {"name": "rubric", "type": "rubric", "weight": weight, **sees, "rubrics": []}
            found.put((*place, 0), rubric, theirs)
            owner = (*place, 0, "rubrics")
        for number, (each, where) in enumerate(_unique(evaluators), 1 if criteria else 0):
            found.put((*place, number), each, where)
    elif criteria and sees:
        found.put(owner, {**sees, "criteria": []}, theirs)
        owner = (*owner, "criteria")
    elif criteria:
        found.put(owner, [], theirs)
    for number, (criterion, place) in enumerate(criteria):
        found.put((*owner, number), criterion, place)


def _collected(
    found: Translation, suite: dict[str, Any], test: dict[str, Any], theirs: Path
) -> tuple[list[_Placed], list[_Placed]]:
    """Return the criteria and the evaluators of a test, with those of its suite."""
    written = _listed(test, theirs)
    if not _skips_defaults(test):
        default = suite.get("default_test")
        written += _listed(default, ("default_test",)) if isinstance(default, dict) else []
        written += _listed(suite, ())
    if isinstance(test.get("rubrics"), list):
        path = (*theirs, "rubrics")
        written += [(each, (*path, at)) for at, each in enumerate(test["rubrics"])]
    criteria: list[_Placed] = []
    evaluators: list[_Placed] = []
    for grader, place in written:
        _collect(found, test, grader, place, 1.0, criteria, evaluators)
    if not written and isinstance(test.get("criteria"), str):
        criteria = [(test["criteria"], (*theirs, "criteria"))]
    return _identified(criteria), evaluators


def _identified(criteria: list[_Placed]) -> list[_Placed]:
    """Return the criteria without the ids that several graders give, or that numbers may be."""
    named = [each for each, _ in criteria if isinstance(each, dict) and "id" in each]
    ids = Counter(each["id"] for each in named)
    for each in named:
        if ids[each["id"]] > 1 or each["id"].startswith("rubric-"):
            del each["id"]
    return criteria


def turn_criteria(
    found: Translation, test: dict[str, Any], turn: dict[str, Any], place: Path
) -> list[_Placed]:
    """Return the criteria of a turn, whose texts are one grader of weight 1."""
    criteria: list[_Placed] = []
    evaluators: list[_Placed] = []
    written = _listed(turn, place)
    texts = sum(isinstance(each, str) for each, _ in written)
    for grader, where in written:
        share = 1 / texts if isinstance(grader, str) else 1.0
        _collect(found, test, grader, where, share, criteria, evaluators)
    for _, where in evaluators:
        found.refuse(where, "only criteria can mark a turn")
    return _identified(criteria)


def _skips_defaults(test: dict[str, Any]) -> bool:
    execution = test.get("execution")
    return isinstance(execution, dict) and execution.get("skip_defaults") is True


def _listed(owner: dict[str, Any], path: Path, keys: tuple[str, ...] = GRADERS) -> list[_Placed]:
    """Return the graders of a test, a suite or a set with their paths."""
    key = next((key for key in keys if isinstance(owner.get(key), list)), "")
    return [(each, (*path, key, index)) for index, each in enumerate(owner.get(key) or [])]


def _unique(evaluators: list[_Placed]) -> list[_Placed]:
    """Return the evaluators with names that differ."""
    taken: Counter[str] = Counter({"rubric": 1})
    for each, _ in evaluators:
        taken[each["name"]] += 1
        if taken[each["name"]] > 1:
            each["name"] += f"-{taken[each['name']]}"
    return evaluators


def _collect(
    found: Translation,
    test: dict[str, Any],
    grader: Any,
    place: Path,
    share: float,
    criteria: list[_Placed],
    evaluators: list[_Placed],
) -> None:
    """Add what a grader becomes, with its share of the weight of the case."""
    texts = {**grader, "prompt": ""} if isinstance(grader, dict) else grader
    if unknown := VARIABLE.search(json.dumps(texts)):
        found.refuse(place, f"`{{{{ {unknown[1]} }}}}` is not replaced: no variable of the test")
    if not isinstance(grader, dict):
        text = {"expected_outcome": grader, "required": False}
        criteria.append((_weighed(text, share), place))
        return
    kind = str(grader.get("type", "")).replace("_", "-")
    if kind in _SETS:
        for member, where, part in _members(found, grader, kind, place):
            _collect(found, test, member, where, share * part, criteria, evaluators)
        return
    share *= _weight(grader)
    if parts := _parts(found, grader, kind, place):
        criteria += [(_weighed(each, share), place) for each in parts.criteria]
        evaluators += [(_weighed(each, share), place) for each in parts.evaluators]
        return
    criteria += [(_weighed(e, share), at) for e, at in _criteria(found, test, grader, kind, place)]


def _parts(found: Translation, grader: dict[str, Any], kind: str, place: Path) -> Parts | None:
    """Return the parts of a grader that is neither check nor list of criteria; None: it is one."""
    if kind in EVALUATORS:
        return evaluator_of(found, grader, kind, place)
    if kind in _RUBRICS:
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
    members = _listed(grader, place, keys)
    if not mean or not members or grader.get("required") not in (None, False):
        found.refuse(place, "only the weighted mean of a set without a gate has a counterpart")
        return []
    if kind == "composite":  # its weights are by name, those of the members are not used
        given = aggregator.get("weights")
        named = given if isinstance(given, dict) else {}
        weights = [_weight({"weight": named.get(_name(each), 1.0)}) for each, _ in members]
    else:
        weights = [_weight(each) for each, _ in members]
    total, own = sum(weights) or 1.0, _weight(grader)
    return [
        ({**each, "weight": 1.0} if isinstance(each, dict) else each, where, own * weight / total)
        for (each, where), weight in zip(members, weights, strict=True)
    ]


def _name(member: Any) -> str:
    return str(member.get("name", "")) if isinstance(member, dict) else ""


def _weight(grader: Any) -> float:
    weight = grader.get("weight", 1.0) if isinstance(grader, dict) else 1.0
    known = isinstance(weight, int | float) and not isinstance(weight, bool)
    return float(weight) if known else 1.0


def _criteria(
    found: Translation, test: dict[str, Any], grader: dict[str, Any], kind: str, place: Path
) -> list[_Placed]:
    """Return the criteria of a check or of a rubric, with weights as if the grader had 1."""
    if kind in CHECKS:
        return [(check_of(found, grader, kind, place), place)]
    if kind in _RUBRICS or (not kind and "criteria" in grader):
        return _rubric(found, test, grader, place)
    if not kind and ("outcome" in grader or "expected_outcome" in grader):
        own = {key: value for key, value in grader.items() if key != "weight"}
        return [(_criterion(found, own, 1.0, place), place)]
    inverted = "; AgentV inverts by `negate: true`" if kind.removeprefix("not-") in CHECKS else ""
    message = f"the grader `{kind}` has no counterpart{inverted}"
    found.refuse((*place, "type") if kind else place, message)
    return []


def _rubric(
    found: Translation, test: dict[str, Any], grader: dict[str, Any], place: Path
) -> list[_Placed]:
    """Return the criteria of a rubric, which share the weight of their grader."""
    key = next((key for key in ("criteria", "value", "rubrics") if grader.get(key)), "")
    written = grader.get(key)
    if not key:
        return _without_criteria(found, test, grader, place)
    found.refuse_keys(grader, (*OPTIONS, "criteria", "value", "rubrics"), place)
    items = written if isinstance(written, list) else [written]
    if isinstance(written, str) and written.startswith("file://"):
        found.refuse((*place, key), "criteria in another file have no counterpart")
        return []
    if grader.get("required") not in (None, False) and len(items) > 1:
        found.refuse((*place, "required"), "a required grader of several criteria has no gate here")
    share = 1 / (sum(map(_weight, items)) or 1.0)
    placed: list[_Placed] = []
    for index, item in enumerate(items):
        where = (*place, key, index) if isinstance(written, list) else (*place, key)
        criterion = _criterion(found, item, share, where)
        if grader.get("required") is True and len(items) == 1:
            criterion["required"] = True
        placed.append((criterion, where))
    return placed


def _without_criteria(
    found: Translation, test: dict[str, Any], grader: dict[str, Any], place: Path
) -> list[_Placed]:
    """Return the criterion of the test; `llm-rubric` has none, and AgentV skips it."""
    if grader["type"] in {"llm-grader", "llm_grader", "llm-judge", "llm_judge"}:
        if isinstance(test.get("criteria"), str):
            return [({"expected_outcome": test["criteria"], "required": False}, place)]
    elif grader["type"] in {"llm-rubric", "llm_rubric"}:
        found.skip(place, "`llm-rubric` without `value` and `prompt` grades nothing")
        return []
    found.refuse(place, "a grader without criteria of its own has no counterpart")
    return []


_CONTRADICTION: Final = "Makes no claim that contradicts this, or does not mention it: "


def _criterion(found: Translation, item: Any, share: float, place: Path) -> dict[str, Any]:
    """Return a criterion with its share of the grader's weight."""
    if not isinstance(item, dict):
        return {"expected_outcome": item, "weight": round(share, 6), "required": False}
    known = ("id", "outcome", "expected_outcome", "description", "weight", "required", "min_score")
    found.refuse_keys(item, (*known, "score_ranges", "operator"), place)
    text = next((item[key] for key in ("outcome", "expected_outcome") if key in item), None)
    match item.get("operator", "correctness"):
        case "correctness":
            pass
        case "contradiction" if isinstance(text, str):
            text = f"{_CONTRADICTION}{text}"
        case other:
            found.refuse((*place, "operator"), f"`operator: {other}` has no counterpart")
    named = {"id": item["id"]} if item.get("id") and isinstance(item["id"], str) else {}
    texts = {} if text is None else {"expected_outcome": text}
    criterion = {**named, "weight": round(_weight(item) * share, 6), **texts}
    if "score_ranges" not in item:
        return {**criterion, "required": False}
    ranges = renamed(item["score_ranges"], "outcome", "expected_outcome")
    return {**criterion, "score_ranges": ranges}
