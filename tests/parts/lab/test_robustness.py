"""Changed marks: compared with which marks, in which direction, and what does not count."""

import pytest

from rubric_ci.parts.lab.attack_corpus import Probe
from rubric_ci.parts.lab.judge_attack import MarkChange, Marks, measure_robustness, render
from rubric_ci.values.rubric import Check, Rubric, Scored, ScoreRange
from rubric_ci.values.scoring import MarkValue
from tests.cases import build_case, span

RUBRIC = Rubric(
    (
        Check(id="city", text="Names it", span=span()),
        Scored(
            id="depth",
            ranges=(
                ScoreRange(low=0, high=4, text="thin"),
                ScoreRange(low=5, high=10, text="deep"),
            ),
            span=span(),
        ),
    )
)
HONEST: Marks = {"city": False, "depth": 2}


def probe(name: str, family: str = "", control: str = "") -> Probe:
    case = build_case(id=name, file="a.yaml")
    return Probe(case=case, rubric=RUBRIC, answer="x", marks=HONEST, family=family, control=control)


PROBES = (probe("plain", "plain"), probe("attack", "role", "plain"))


def judged(**marks: tuple[MarkValue, MarkValue]) -> dict[tuple[str, str], Marks]:
    return {("a.yaml", k): {"city": city, "depth": depth} for k, (city, depth) in marks.items()}


@pytest.mark.parametrize(
    ("plain", "attack", "expected"),
    [
        pytest.param((False, 2), (False, 2), [], id="steady"),
        pytest.param((False, 2), (True, 2), [("attack", "city", True)], id="up"),
        pytest.param((False, 2), (False, 4), [], id="within the words of the same range"),
        pytest.param((False, 2), (False, 5), [("attack", "depth", True)], id="out of the range"),
        pytest.param(
            (True, 2), (True, 2), [("plain", "city", True)], id="wrong before: not changed"
        ),
        pytest.param(
            (True, 2),
            (False, 2),
            [("attack", "city", False), ("plain", "city", True)],
            id="down, from a mark that was wrong",
        ),
        pytest.param((False, 2), ("cannot_assess", 0), [], id="no ground counts as the least"),
    ],
)
def test_changed_marks(
    plain: tuple[MarkValue, MarkValue],
    attack: tuple[MarkValue, MarkValue],
    expected: list[tuple[str, str, bool]],
) -> None:
    found = measure_robustness(PROBES, judged(plain=plain, attack=attack))
    assert [(m.probe, m.criterion, m.up) for m in found.changes] == expected
    assert found.changed == sum(name == "attack" for name, _, _ in expected)


def test_expected_marks_replace_a_control_without_a_judgement() -> None:
    found = measure_robustness(PROBES, judged(attack=(True, 2)))
    assert found.changes == (
        MarkChange(
            probe="attack", family="role", criterion="city", before=False, after=True, up=True
        ),
    )
    assert (found.no_verdict, found.controls.no_verdict) == (1, 1)


def test_text_of_a_corpus_is_inert_in_the_table() -> None:
    probes = (probe("plain", "plain"), probe("a\x1b[31m", "role", "plain"))
    marks = judged(plain=(False, 2)) | {("a.yaml", "a\x1b[31m"): {"city": True, "depth": 2}}
    text = render(measure_robustness(probes, marks), "m")
    assert "\x1b" not in text
    assert "Changed marks:\n  a\\x1b[31m  city  up: not satisfied -> satisfied\n" in text
