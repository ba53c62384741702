"""The score of each tag of criteria, and the gates on it."""

from dataclasses import replace

import pytest

from rubric_ci.gate.report.decision import Facts, concluded, gate_of, reasons, settings_of
from rubric_ci.values.dimensions import Dimension, by_tag, dimensions, tag_score
from rubric_ci.values.gate import GateConfig, GateInfo, Group
from rubric_ci.values.results import BaseResult, Graded
from rubric_ci.values.scope import Scope
from tests.sample_reports import a_criterion, a_rubric, graded

SAFE = a_criterion("a", tags=("safety",), mark=True, normalised=1.0, gated=False)
RISK = a_criterion("b", tags=("safety", "tone"), weight=3.0, gated=False)
WARM = a_criterion("c", tags=("tone",), mark=True, normalised=1.0, gated=False)
LIES = a_criterion("d", tags=("safety",), weight=1.0, fault=True, mark=True, gated=False)
IDLE = a_criterion("e", tags=("late",), mark="not_applicable", gated=False)


# `object`: a criterion of `a_criterion`, whose class is of no interest here (arg-type)
def case(name: str, *criteria: object, before: object = None) -> Graded:
    evaluators = (a_rubric(*criteria),)  # type: ignore[arg-type]
    was = BaseResult(outcome="graded", evaluators=(a_rubric(before),)) if before else None  # type: ignore[arg-type]
    return graded(name, "pass", evaluators=evaluators, before=was, tags=("smoke",))


def test_each_tag_has_the_score_of_its_criteria() -> None:
    assert [
        tag_score((a_rubric(SAFE, RISK, WARM, LIES, IDLE),), tag)
        for tag in ("safety", "tone", "late")
    ] == [
        0.0,  # 1 of 4 less 1
        0.25,
        None,
    ]


def test_the_mean_is_over_the_cases_that_have_one() -> None:
    cases = [case("one", SAFE, before=SAFE), case("two", RISK, before=SAFE), case("three", IDLE)]
    assert dimensions(cases) == (
        Dimension(tag="safety", cases=2, score=0.5, before=1.0),
        Dimension(tag="tone", cases=1, score=0.0),
    )


def test_a_report_of_before_has_the_scores_by_tag() -> None:
    was = BaseResult(outcome="graded", tags=by_tag((a_rubric(SAFE, RISK, IDLE),)))
    assert was.tags == {"safety": 0.25, "tone": 0.0}
    cases = [replace(case("one", SAFE, WARM), before=was)]
    assert {each.tag: each.before for each in dimensions(cases)} == {"safety": 0.25, "tone": 0.0}


# B008: a frozen value; arg-type: the settings are of any field
def gate(cases: list[Graded], scope: Scope = Scope(complete=True), **settings: object) -> GateInfo:  # noqa: B008
    config = GateConfig(**settings)  # type: ignore[arg-type]
    return concluded(gate_of(config, None), cases, scope)


def said(found: GateInfo, cases: list[Graded], scope: Scope) -> list[str]:
    return [each.text for each in reasons(Facts(cases, found, scope))]


WHOLE = Scope(complete=True)
RARE = {"none": Group(min_pass_rate=0.1)}
EACH = {"safety": Group(min_score=0.1), "*": Group(min_score=0.6)}
NONE: dict[str, object] = {"groups": {"none": Group(min_score=0.1)}}
SAFER = {"safety": Group(min_score=0.6)}
TABLE: dict[str, tuple[dict[str, object], Scope, list[str]]] = {
    "holds": ({"groups": {"safety": Group(min_score=0.5)}}, WHOLE, []),
    "missed": ({"groups": SAFER}, WHOLE, ["criteria tagged safety: 0.50, 0.6 needed"]),
    "each": ({"groups": EACH}, WHOLE, ["criteria tagged tone: 0.00, 0.6 needed"]),
    "no such criterion": (NONE, WHOLE, ["no graded criterion is tagged none"]),
    "no such case": ({"groups": RARE}, WHOLE, ["no graded case is tagged none"]),
    "a part of the suite": ({"groups": RARE}, Scope(complete=False), []),
    "never": ({"fail_on": "never", "groups": SAFER}, WHOLE, []),
    "each tag of cases": ({"groups": {"*": Group(min_pass_rate=1.0)}}, WHOLE, []),
}


@pytest.mark.parametrize(("settings", "scope", "expected"), TABLE.values(), ids=TABLE)
def test_groups_of_criteria(settings: dict[str, object], scope: Scope, expected: list[str]) -> None:
    cases = [case("one", SAFE), case("two", RISK)]
    assert said(gate(cases, scope, **settings), cases, scope) == expected


def test_a_gate_on_each_tag_is_one_setting() -> None:
    found = gate([case("one", SAFE, WARM)], groups={"*": Group(min_score=0.6, min_pass_rate=0.5)})
    assert {each.group: each.of_each for each in found.scores} == {"safety": True, "tone": True}
    again = settings_of(found)
    assert ([e.group for e in again.scores], [e.group for e in again.rates]) == (["*"], ["*"])
    assert concluded(found, [case("two", RISK)], WHOLE).scores[0].score == 0.0
