"""promptfoo's assertions as criteria, limits and scripts that run its own code.

A test passes there if every assertion does: criteria are required. The code of a test runs in one
script per language, which gives 1 if all of it passes, and weighs so much that 0 fails the case.
With a `threshold` the mean of all assertions decides: a composite whose aggregator is the shim.
What a `transform` returns is known to the shims only, so that they check texts then, too.
"""

from collections.abc import Iterator
from dataclasses import field
from typing import Any, Final

from rubric_ci.parts.bring.dialects.promptfoo_assertion_types import KINDS as OF_CRITERIA
from rubric_ci.parts.bring.dialects.promptfoo_assertion_types import as_key, is_judged, made_of
from rubric_ci.parts.bring.dialects.promptfoo_code import (
    COMMANDS,
    KEYS,
    LANGUAGES,
    SHIMS,
    Setting,
    check_of,
    script_of,
    transforms_of,
)
from rubric_ci.parts.bring.translation import Placed, Translation, named_apart, placed
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import is_number
from rubric_ci.values.problems import Path

_LIMITS: Final = {"latency": "threshold", "cost": "budget"}
KINDS: Final = frozenset(
    (
        *(*OF_CRITERIA, *_LIMITS, *LANGUAGES),
        *("rouge-n", "perplexity", "is-refusal", "answer-relevance", "classifier", "guardrails"),
    )
)
"""The types of assertions that a cell of a table is known to name."""


@dataclass(slots=True)
class _Group:
    criteria: list[Placed] = field(default_factory=list)
    limits: list[Placed] = field(default_factory=list)
    sets: list[Placed] = field(default_factory=list)
    code: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def add_checks(found: Translation, written: list[Placed], ours: Path, setting: Setting) -> None:
    """Add the assertions of a test, and report what has no counterpart."""
    group = _grouped(found, written, setting)
    if group.criteria and not sum(each.get("weight", 1) for each, _ in group.criteria):
        for _, place in group.criteria:
            found.skip(place, "with the weight 0 it decides nothing, and is left out")
        group.criteria = []
    scripts = [script_of(found, name, group.code[name], setting) for name in group.code]
    if not (group.criteria or group.limits or group.sets or scripts):
        return
    together = group.sets or (group.limits and len(scripts) + len(group.limits) > 1)
    if setting.limit is not None or together:
        _put(found, [], [(_composite(found, group, setting), ())], ours)
        return
    others = sum(each.get("weight", 1) for each, _ in group.criteria) + len(group.limits)
    for script in scripts:
        script["weight"] = max(others, 1) * (3 if len(scripts) > 1 else 1)
    _put(found, group.criteria, [*group.limits, *((each, ()) for each in scripts)], ours)


def _grouped(found: Translation, written: list[Placed], setting: Setting) -> _Group:
    group = _Group()
    for assertion, place in _flattened(found, written, setting.limit):
        kind = str(assertion.get("type", "")) if isinstance(assertion, dict) else ""
        plain = kind.removeprefix("not-")
        if kind == "assert-set":
            inner = setting._replace(limit=assertion["threshold"])
            members = _grouped(found, placed(assertion.get("assert"), (*place, "assert")), inner)
            name = str(assertion.get("metric") or "set")
            group.sets.append(({**_composite(found, members, inner), "name": name}, place))
        elif kind in _LIMITS and "threshold" in assertion:
            found.refuse_keys(assertion, (*KEYS, "threshold"), place)
            weight = {"weight": assertion["weight"]} if "weight" in assertion else {}
            limit = {"name": kind, "type": kind, _LIMITS[kind]: assertion["threshold"], **weight}
            group.limits.append((limit, place))
        elif plain in LANGUAGES:
            if check := check_of(found, assertion, kind, place, setting):
                group.code.setdefault(plain, []).append(check)
        else:
            _add_criteria(found, group, assertion, kind, place, setting)
    return group


def _add_criteria(
    found: Translation, group: _Group, assertion: Any, kind: str, place: Path, setting: Setting
) -> None:
    """Add an assertion as criteria, or as a check of the shim where only that decides alike."""
    transforms = transforms_of(found, assertion, place, setting)
    made = made_of(found, assertion, kind, place, setting)
    if made.criteria and is_judged(kind):
        _note_judge(found, assertion, place, setting)
    if made.check and (transforms or made.only_check):
        name = str(assertion.get("metric") or kind)
        extra = {"transform": transforms} if transforms else {}
        group.code.setdefault("javascript", []).append({"name": name, **made.check, **extra})
    elif transforms and made.criteria:
        message = f"`{kind}` about the result of a `transform` has no counterpart"
        found.refuse((*place, "type"), message)
    else:
        group.criteria += [(each, place) for each in made.criteria]


def _note_judge(found: Translation, assertion: Any, place: Path, setting: Setting) -> None:
    """Keep the model that judges; "": the judge of the run."""
    provider, where = assertion.get("provider"), (*place, "provider")
    if provider is None:
        provider, where = setting.judge
    if isinstance(provider, dict) and "text" in provider and "id" not in provider:
        provider = provider["text"]
    if provider is not None:
        found.judges.setdefault(as_key(provider), where)


def _composite(found: Translation, group: _Group, setting: Setting) -> dict[str, Any]:
    """Return all assertions as one evaluator: 1 if their mean reaches the limit, or all pass."""
    scripts = [script_of(found, name, group.code[name], setting) for name in group.code]
    used = next(iter(group.code), "python")
    found.shims.add(SHIMS[used])
    limit = setting.limit
    optional = {} if limit is None else {"required": False}
    rubric = {
        "name": "checks",
        "type": "rubric",
        "weight": sum(each.get("weight", 1) for each, _ in group.criteria),
        "rubrics": [
            each if "score_ranges" in each else {**each, **optional} for each, _ in group.criteria
        ],
    }
    for each in scripts if limit is not None else ():
        each["config"]["mean"] = True
    others = [*(each for each, _ in (*group.limits, *group.sets)), *scripts]
    words = [COMMANDS[used], SHIMS[used], *(["--all"] if limit is None else ["--mean", str(limit)])]
    return {
        "name": "assertions",
        "type": "composite",
        "evaluators": named_apart([*([rubric] if group.criteria else []), *others]),
        "aggregator": {"type": "code_judge", "path": " ".join(words)},
    }


def _put(found: Translation, criteria: list[Placed], evaluators: list[Placed], ours: Path) -> None:
    if criteria:
        found.put_list((*ours, "rubrics"), criteria, ())
    if evaluators:
        apart = named_apart([each for each, _ in evaluators])
        places = [place for _, place in evaluators]
        found.put_list((*ours, "evaluators"), zip(apart, places, strict=True), ())


def _flattened(found: Translation, written: list[Placed], limit: float | None) -> Iterator[Placed]:
    """Yield the assertions, and of each set its members or, if its own threshold decides, itself.

    Where the mean of a test decides, the members have the weight of their set, and its threshold
    decides nothing.
    """
    for assertion, place in written:
        if not isinstance(assertion, dict) or assertion.get("type") != "assert-set":
            yield assertion, place
            continue
        found.refuse_keys(assertion, ("type", "assert", "metric", "threshold", "weight"), place)
        members = placed(assertion.get("assert"), (*place, "assert"))
        total = sum(_weight(each) for each, _ in members)
        if limit is not None and total:
            share = _weight(assertion) / total
            members = [
                ({**each, "weight": share * _weight(each)} if isinstance(each, dict) else each, at)
                for each, at in members
            ]
        if limit is None and is_number(assertion.get("threshold")):
            yield assertion, place
        else:
            yield from _flattened(found, members, limit)


def _weight(assertion: Any) -> float:
    weight = assertion.get("weight", 1) if isinstance(assertion, dict) else 1
    return weight if is_number(weight) else 1
