"""A case whose question was replaced is in no comparison with a report, as with a commit."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rubric_ci.gate.comparison.baseline_files import pool
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Graded
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke
from tests.sample_reports import a_report, graded

ASKED = ("What is 1+1?", "Name the capital of France.", "Say hello.")
SYSTEM = ("Be brief.", "Be kind.")
RUBRICS = ({"contains": "hello"}, {"contains": "Paris"})


def case(name: str, question: str, system: str, rubric: dict[str, str], form: str) -> Any:
    said = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    if form == "vars":
        said[1]["content"] = "{{ asked }}"
        return {"id": name, "vars": {"asked": question}, "input": said, "rubrics": [rubric]}
    if form == "turns":
        return {"id": name, "turns": [{"input": question}], "rubrics": [rubric]}
    return {"id": name, "input": said, "rubrics": [rubric]}


def run(checkout: Checkout, *options: str) -> dict[str, Any]:
    done = invoke(checkout.root, ENVIRONMENT, *options)
    assert done.returncode in {0, 1}, done.stderr
    found: dict[str, Any] = json.loads((checkout.root / ".rubric-ci/report.json").read_text())
    return found


def changes(report: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["id"]: (each["change"], each["change_reason"]) for each in report["cases"]}


@pytest.mark.parametrize("seed", range(12))
def test_it_is_not_comparable(seed: int, tmp_path: Path) -> None:
    draw = Random(seed)
    checkout = Checkout.create(tmp_path)
    target = {"name": "default", "provider": "mock", "response": "hello"}
    checkout.write({"rubric-ci.yaml": json.dumps({"targets": [target]})})
    then: list[Any] = []
    now: list[Any] = []
    other: set[str] = set()
    for number in range(draw.randint(2, 5)):
        name, form = f"c{number}", draw.choice(["input", "vars", "turns"])
        asked = (draw.choice(ASKED), draw.choice(ASKED))
        other |= {name} if asked[0] != asked[1] else set()
        for cases, question in zip((then, now), asked, strict=True):
            cases.append(case(name, question, draw.choice(SYSTEM), draw.choice(RUBRICS), form))
    checkout.commit({"a.eval.yaml": json.dumps({"evalcases": then})})
    run(checkout, "run")
    (tmp_path / ".rubric-ci/report.json").rename(tmp_path / "before.json")
    checkout.write({"a.eval.yaml": json.dumps({"evalcases": now})})
    with_commit = changes(run(checkout, "run", "--against", "HEAD"))
    with_report = changes(run(checkout, "run", "--baseline", "before.json"))
    words = "compare before.json .rubric-ci/report.json --format json"
    compared = invoke(tmp_path, ENVIRONMENT, *words.split())
    reason = ("not-comparable", "its question changed")
    for found in (with_commit, with_report, changes(json.loads(compared.stdout))):
        assert {name for name, each in found.items() if each == reason} == other
        assert {name for name, each in found.items() if each[0] == "not-comparable"} == other


def test_nights_of_another_question_are_not_pooled() -> None:
    def night(at: int, asked: str) -> RunReport:
        one = replace(graded("a", "pass"), question_id=asked)
        return replace(a_report(one), started_at=f"2026-11-0{at}T00:00:00Z")

    pooled = pool([night(1, "x"), night(2, "y"), night(3, "y"), night(4, "y")])
    (found,) = pooled.cases
    assert isinstance(found, Graded)
    assert len(found.trials) == 3
    same = pool([night(1, ""), night(2, "y"), night(3, "y")])
    assert [len(each.trials) for each in same.cases if isinstance(each, Graded)] == [3]
