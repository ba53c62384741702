"""Several people: their agreement among themselves is the ceiling for a judge."""

from random import Random

from rubric_ci.parts.lab.calibration import Calibration, JudgedLabel, calibrate, to_json
from rubric_ci.parts.lab.judge_calibrate import render
from rubric_ci.parts.lab.labels import Label, LabelledAnswer
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.report import JudgeInfo
from rubric_ci.values.rubric import Check, Rubric
from tests.cases import build_case, span

JUDGE = JudgeInfo(model="gpt", prompt_version="1")
SPEC = RubricSpec(
    name="rubric", span=span(), rubric=Rubric((Check(id="c", text="Asked", span=span()),))
)
CASE = build_case(id="one", evaluators=(SPEC,))


def calibrated(people: dict[str, str]) -> Calibration:
    """Calibrate on a row of y and n per person; the judge always says y."""
    judged = []
    for name, marks in people.items():
        for n, mark in enumerate(marks):
            label = Label(
                file=CASE.file,
                id="one",
                evaluator="rubric",
                answer=f"answer {n}",
                marks={"c": mark == "y"},
                by=name,
            )
            labelled = LabelledAnswer(label=label, case=CASE, spec=SPEC)
            judged.append(JudgedLabel(labelled=labelled, marks={"c": True}, votes={}, reasons={}))
    chance = Random(0)
    return calibrate(judged, JUDGE, lambda shape: chance.gammavariate(shape, 1.0))


def test_one_person_has_no_ceiling() -> None:
    found = calibrated({"Ada": "ynynyn"})
    assert found.people is None
    assert "People" not in render(found)
    assert to_json(found)["people"] is None


def test_the_agreement_of_two_people() -> None:
    found = calibrated({"Ada": "yyyynnnn", "Bea": "yyynnnny"})
    assert found.people is not None
    assert (found.people.n, found.people.kappa) == (8, 0.5)
    assert "People agree among themselves with kappa 0.50 (" in render(found)
    assert to_json(found)["people"]["n"] == 8


def test_every_two_of_three_people_are_compared() -> None:
    found = calibrated({"Ada": "yn", "Bea": "yn", "Cyd": "yn"})
    assert found.people is not None
    assert (found.people.n, found.people.accuracy) == (6, 1.0)
