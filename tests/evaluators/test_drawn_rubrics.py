"""A thousand drawn rubrics with every key, against an oracle that reads the data as written."""

import asyncio
import json
import re
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.files.project.loader import load
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.references import NotFound
from rubric_ci.values.results import Answer, Assessed, Unassessed
from rubric_ci.values.targets import Endpoint

ANSWER = "alpha beta gamma"
WORDS = ("alpha", "delta")
TAGS, VARIABLES = ["formal"], {"language": "de"}
Data = dict[str, Any]
NA = "not_applicable"


def drawn(random: Random, number: int, parents: list[Data]) -> Data:
    """Return a criterion; its text says which one it is."""
    made: Data = {"id": f"c{number}", "expected_outcome": f"Has the property {number}"}
    fault = random.random() < 0.3
    kind = random.choice(["check", "assertion", "choices", *([] if fault else ["score", "levels"])])
    weight = random.choice([0, 0.5, 1, 2, 3.5])
    if fault:
        key = random.choice(["penalty", "weight"])
        made[key] = (weight or 1) * (1 if key == "penalty" else -1)
    elif random.random() < 0.8:
        made["weight"] = weight
    if kind in {"check", "assertion"} and random.random() < 0.5:
        made["required"] = random.random() < 0.4
    if kind == "assertion":
        made["contains"] = random.choice(WORDS)
    if kind == "score":
        made["score_ranges"] = {"0": "low", "5": "high"}
        made |= {"required_min_score": 6} if random.random() < 0.4 else {}
    if kind == "levels":
        made["levels"] = {"1": "cold", "2": "mild", "5": "warm"}
        made |= {"required_min_level": 2} if random.random() < 0.4 else {}
    if kind == "choices":
        made["choices"] = {"a": 0, "b": random.choice([0.25, 0.5]), "c": 1}
        if fault:
            made |= {"required": True} if random.random() < 0.4 else {}
        elif random.random() < 0.4:
            made["required_choices"] = random.choice([["c"], ["b", "c"]])
    if condition := condition_of(random, parents):
        made["applies_if"] = condition
    return made


def condition_of(random: Random, parents: list[Data]) -> Any:
    checks = [each for each in parents if "applies_if" not in each and kind_of(each) == "check"]
    ways: list[Any] = [
        *[None] * 6,
        "It is a letter",
        {"contains": random.choice(WORDS)},
        {"tag": random.choice(["formal", "casual"])},
        {"var": "language", "equals": random.choice(["de", "en"])},
    ]
    if checks:
        parent = random.choice(checks)
        ways += [{"criterion": parent["id"], "is": random.random() < 0.5}] * 2
    return random.choice(ways)


def kind_of(criterion: Data) -> str:
    keys = {
        "contains": "assertion",
        "score_ranges": "score",
        "levels": "levels",
        "choices": "choices",
    }
    return next((kind for key, kind in keys.items() if key in criterion), "check")


def is_fault(criterion: Data) -> bool:
    return "penalty" in criterion or criterion.get("weight", 1) < 0


def mark_of(random: Random, criterion: Data) -> Any:
    """Return a mark of the judge."""
    others = [] if is_fault(criterion) else ["cannot_assess"]
    if isinstance(criterion.get("applies_if"), str):
        others.append(NA)
    if others and random.random() < 0.3:
        return random.choice(others)
    scales = {"check": [True, False], "score": range(11), "levels": [1, 2, 5], "choices": "abc"}
    return random.choice(list(scales[kind_of(criterion)]))


def marks_of(criteria: list[Data], given: Data) -> dict[str, Any]:
    """Return the marks of the criteria that apply to the case."""
    marks: dict[str, Any] = {}
    for each in criteria:
        own = each["contains"] in ANSWER if "contains" in each else given.get(each["id"])
        needs = each.get("applies_if")
        of_case = isinstance(needs, dict) and (
            ("tag" in needs and needs["tag"] not in TAGS)
            or ("var" in needs and VARIABLES[needs["var"]] != needs["equals"])
        )
        if not of_case:
            said = isinstance(needs, dict) and needs.get("contains", "") not in ANSWER
            marks[each["id"]] = NA if said else own
    for each in criteria:
        needs = each.get("applies_if")
        if not isinstance(needs, dict) or "criterion" not in needs or each["id"] not in marks:
            continue
        if marks[needs["criterion"]] != needs["is"]:
            marks[each["id"]] = NA
    return marks


def oracle(criteria: list[Data], given: Data) -> tuple[dict[str, Any], Fraction | None, list[str]]:
    """Return the marks, the score and the missed gates; no score where nothing applies."""
    marks = marks_of(criteria, given)
    weights = penalties = met = Fraction(0)
    gates = []
    for each in criteria:
        mark = marks.get(each["id"], NA)
        if mark == NA:
            continue
        value = value_of(each, mark)
        if is_fault(each):
            size = Fraction(each.get("penalty", -each.get("weight", 0)))
            penalties, met = penalties + size, met - size * value
            missed = each.get("required", False) and value > 0
        else:
            size = Fraction(each.get("weight", 1))
            weights, met = weights + size, met + size * value
            missed = misses(each, mark)
        gates += [each["id"]] if missed else []
    if weights:
        return marks, max(Fraction(0), met / weights), gates
    return marks, 1 + met / penalties if penalties else None, gates


def value_of(criterion: Data, mark: Any) -> Fraction:
    if mark == "cannot_assess":
        return Fraction(0)
    values = {
        "score": lambda: Fraction(mark, 10),
        "levels": lambda: Fraction(mark - 1, 4),
        "choices": lambda: Fraction(criterion["choices"][mark]),
    }
    return values.get(kind_of(criterion), lambda: Fraction(mark is True))()


def misses(criterion: Data, mark: Any) -> bool:
    unknown = mark == "cannot_assess"
    match kind_of(criterion):
        case "score":
            least = criterion.get("required_min_score")
            return least is not None and (unknown or mark < least)
        case "levels":
            least = criterion.get("required_min_level")
            return least is not None and (unknown or mark < least)
        case "choices":
            wanted = criterion.get("required_choices", [])
            return bool(wanted) and mark not in wanted
        case _:
            return criterion.get("required", True) and mark is not True


def judge(given: Data) -> Any:
    async def ask(call: ModelCall) -> ModelReply:
        texts = str(call.messages[-1].content)
        asked = r'^(c\d+): "(\w+)" is .*\n    Has the property (\d+)$'
        found = re.findall(asked, texts, re.MULTILINE)
        marks = {
            alias: {"evidence": "", "reasoning": "So.", name: given[f"c{number}"]}
            for alias, name, number in found
        }
        return ModelReply(text=json.dumps(marks))

    return ask


def test_a_thousand_drawn_rubrics() -> None:
    random, graded = Random(62), 0
    for _ in range(1_000):
        criteria: list[Data] = []
        for number in range(random.randint(1, 7)):
            criteria.append(drawn(random, number, criteria))
        if not any(each.get("penalty", each.get("weight", 1)) for each in criteria):
            continue
        given = {e["id"]: mark_of(random, e) for e in criteria if kind_of(e) != "assertion"}
        case = {"id": "a", "input": "q", "tags": TAGS, "vars": VARIABLES, "rubrics": criteria}
        loaded = load("a.yaml", json.dumps({"evalcases": [case]}), lambda _: NotFound("no"))
        errors = [str(d) for d in loaded.diagnostics if d.severity.value == "error"]
        assert loaded.eval_file is not None, errors
        marks, score, gates = oracle(criteria, given)
        (made,) = loaded.eval_file.cases
        assert made.inapplicable is not bool(marks)
        if not marks:
            continue
        (spec,) = made.evaluators
        assert isinstance(spec, RubricSpec)
        context = RunContext(
            call_model=judge(given),
            root=Path(),
            environment={},
            judge=JudgeConfig(endpoint=Endpoint(model="openai/m")),
        )
        found = asyncio.run(evaluate(made, Answer(text=ANSWER), spec, context))
        if score is None:
            assert isinstance(found, Unassessed)
            continue
        assert isinstance(found, Assessed), (found, criteria)
        graded += 1
        assert {each.id: each.mark for each in found.criteria} == marks
        assert abs(found.score - float(score)) < 1e-6
        assert list(found.gated_by) == gates
        reached = "pass" if found.score >= 0.8 else "borderline"
        assert found.verdict == ("fail" if gates or found.score < 0.6 else reached)
    assert graded > 850
