"""A pass rate that admits the judge's errors: the estimator, the draws, and when it is withheld."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from benchmarks.agreement.correction import Population, wrong
from rubric_ci.parts.lab.calibration.correction import correct, correction_of, note_of, of_suite
from rubric_ci.parts.lab.calibration.label_file import draw
from rubric_ci.parts.lab.calibration.label_session import questions_of
from rubric_ci.parts.lab.calibration.labels import Draw, Label
from rubric_ci.values.comparison import Stratum
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.report import JudgeInfo, RunReport, ShardInfo
from rubric_ci.values.rubric import Assertion, Check, Rubric
from tests.cases import build_case, span
from tests.sample_reports import a_report, a_rubric, graded

JUDGE = JudgeInfo(model="gpt", prompt_version="1")
SPEC = RubricSpec(
    name="rubric", span=span(), rubric=Rubric((Check(id="c", text="Asked", span=span()),))
)
NAMES = [f"case-{n}" for n in range(50)]
CASES = [build_case(id=name, file="e.yaml", evaluators=(SPEC,)) for name in NAMES]


def test_the_formula() -> None:
    found = correct(0.8, 100, Stratum(labelled=19, passes=17), Stratum(labelled=9, passes=2))
    a, b = 17.5 / 20, 2.5 / 10
    spread = (a - b) ** 2 * 0.8 * 0.2 / 100 + 0.64 * a * (1 - a) / 20 + 0.04 * b * (1 - b) / 10
    assert found.value == pytest.approx(0.8 * a + 0.2 * b)
    parts = ((a - b) ** 2 * 0.8 * 0.2 / 100, 0.64 * a * (1 - a) / 20, 0.04 * b * (1 - b) / 10)
    freedom = spread**2 / sum(v * v / f for v, f in zip(parts, (99, 19, 9), strict=True))
    assert int(freedom) == 33
    wide = 2 * 2.034515297 * spread**0.5  # t at 0.975
    assert found.high - found.low == pytest.approx(wide)


@pytest.mark.parametrize("truth", [0.6, 0.85])
@pytest.mark.parametrize("specificity", [0.5, 0.9])
def test_the_interval_contains_the_rate_of_people(truth: float, specificity: float) -> None:
    chance, inside, suites = Random(3), 0, 600
    for _ in range(suites):
        people = [chance.random() < truth for _ in range(200)]
        judged = [chance.random() < (0.95 if p else 1 - specificity) for p in people]
        groups = [[p for p, j in zip(people, judged, strict=True) if j is w] for w in (True, False)]
        drawn = [chance.sample(group, min(30, len(group))) for group in groups]
        strata = [Stratum(labelled=len(each), passes=sum(each)) for each in drawn]
        found = correct(sum(judged) / 200, 200, *strata)
        inside += found.low <= truth <= found.high
    assert inside / suites >= 0.93


def a_suite(*, every: int = 5, **changes: Any) -> RunReport:
    """Return a report of 50 cases of which the judge fails one in 5, or in `every`."""
    cases = [graded(name, "fail" if n % every == 0 else "pass") for n, name in enumerate(NAMES)]
    return a_report(*cases, judge=JUDGE, started_at="2026-10-02T02:00:00Z", **changes)


def labelled(draws: dict[tuple[str, str], Draw], *, wrong: Sequence[str] = ()) -> list[Label]:
    """Return labels that agree with the judge but for some cases."""
    return [
        Label(
            file=file,
            id=case,
            evaluator="rubric",
            answer="",
            marks={"c": (drawn.judged == "pass") is (case not in wrong)},
            draw=drawn,
        )
        for (file, case), drawn in draws.items()
    ]


SUITE = a_suite()
DRAWS = draw(SUITE, 20, 8, seed=1)
LABELS = labelled(DRAWS)
FIRST = LABELS[0]


def test_draws_are_random_within_the_verdicts_of_the_judge() -> None:
    assert draw(SUITE, 20, 8, seed=1) == DRAWS
    assert draw(SUITE, 20, 8, seed=2).keys() != DRAWS.keys()
    judged = {(case.file, case.id): getattr(case, "verdict", "") for case in SUITE.cases}
    assert all(judged[key] == each.judged for key, each in DRAWS.items())
    assert {(d.judged, d.drawn, d.of, d.seed, d.at, d.judge) for d in DRAWS.values()} == {
        ("pass", 20, 40, 1, "2026-10-02", "gpt, prompt 1, batched, votes 1"),
        ("fail", 8, 10, 1, "2026-10-02", "gpt, prompt 1, batched, votes 1"),
    }


def test_cases_with_several_evaluators_are_not_drawn() -> None:
    two = graded("two", "pass", evaluators=(a_rubric(), a_rubric(name="other")))
    script = graded("script", "pass", evaluators=(a_rubric(type="code_judge"),))
    assert draw(a_report(two, script, graded("one", "pass")), 9, 9, seed=0).keys() == {
        ("e.yaml", "one")
    }


NOT = "Pass rate judged 0.80, not corrected for the judge's errors: "
NOTES = {
    "no labels": ([], SUITE, None),
    "labels of the tune split do not count": (
        [replace(label, split="tune") for label in LABELS],
        SUITE,
        None,
    ),
    "the judge is right": (
        LABELS,
        SUITE,
        "Pass rate judged 0.80; 0.79 (0.67 to 0.91) corrected by 28 labels of 2026-10-02.",
    ),
    "the judge is lenient": (
        labelled(DRAWS, wrong=[case for _, case in list(DRAWS)[:5]]),
        SUITE,
        "Pass rate judged 0.80; 0.60 (0.42 to 0.78) corrected by 28 labels of 2026-10-02.",
    ),
    "chosen by hand": (
        [replace(label, draw=None) for label in LABELS],
        SUITE,
        f"{NOT}the labels were not drawn at random (`rubric-ci judge label --sample`).",
    ),
    "another judge": (
        LABELS,
        replace(SUITE, judge=replace(JUDGE, model="opus")),
        (
            f"{NOT}the labels are of another judge (gpt, prompt 1, batched, votes 1; now opus, "
            "prompt 1, batched, votes 1)."
        ),
    ),
    "an answer was skipped": (
        LABELS[1:],
        SUITE,
        f"{NOT}1 of 20 drawn answers have no complete label.",
    ),
    "a mark was skipped": (
        [replace(FIRST, marks={}), *LABELS[1:]],
        SUITE,
        f"{NOT}1 of 20 drawn answers have no complete label.",
    ),
    "the judge passes fewer": (
        LABELS,
        a_suite(every=2),
        (
            "Pass rate judged 0.50, not corrected for the judge's errors: the judged pass rate was "
            "0.80 when the labels were drawn, which differs by more than 2 standard errors: label "
            "answers of this report (`rubric-ci judge label --sample`)."
        ),
    ),
    "the judge passes some fewer": (
        LABELS,
        a_suite(every=3),
        "Pass rate judged 0.66; 0.66 (0.46 to 0.81) corrected by 28 labels of 2026-10-02.",
    ),
    "several evaluators": (
        LABELS,
        a_report(
            *SUITE.cases[:-1],
            graded("case-49", "pass", evaluators=(a_rubric(), a_rubric(name="b"))),
            judge=JUDGE,
        ),
        f"{NOT}the verdict of some cases depends on more than one rubric.",
    ),
}


@pytest.mark.parametrize(("labels", "report", "note"), NOTES.values(), ids=NOTES)
def test_the_note(labels: list[Label], report: RunReport, note: str | None) -> None:
    found = correction_of(report, labels, CASES)
    assert (found and note_of(found)) == note


@pytest.mark.parametrize(
    ("shift", "withheld", "shown_wrong"), [(0.0, (0.0, 0.08), 0.06), (0.2, (0.9, 1.0), 0.06)]
)
def test_it_is_withheld_after_the_pass_rate_moved(
    shift: float, withheld: tuple[float, float], shown_wrong: float
) -> None:
    """benchmarks/agreement has the shifts between these, which are seen less often."""
    good = Population(truth=0.8, sensitivity=0.95, specificity=0.9)
    share, wrong_ones, _ = wrong(good, shift, suites=200)
    assert withheld[0] <= share <= withheld[1]
    assert wrong_ones <= shown_wrong


def test_people_who_disagree_count_half() -> None:
    second = replace(FIRST, by="Bea", marks={"c": not FIRST.marks["c"]})
    both = correction_of(SUITE, [*LABELS, second], CASES)
    wrong = correction_of(SUITE, [second, *LABELS[1:]], CASES)
    assert both is not None
    assert wrong is not None
    assert 0.79 > (both.value or 0) > (wrong.value or 0)


def test_a_shard_carries_the_labels_and_its_merge_has_the_value() -> None:
    whole = correction_of(SUITE, LABELS, CASES)
    assert whole is not None
    info = ShardInfo(index=1, count=2, positions=tuple(range(25)))
    half = replace(SUITE, cases=SUITE.cases[:25], shard=info)
    part = correction_of(half, LABELS, CASES)
    assert part is not None
    assert (part.labels, part.value) == (28, None)
    assert of_suite(part, SUITE) == whole


def test_a_person_marks_what_a_judge_marks_and_assertions_count_as_they_are() -> None:
    brief = Assertion(id="brief", text="Is brief", key="max_words", value=1, span=span())
    for answer, value in (("one", 0.8), ("two words", 0.0)):
        labels = [replace(label, answer=answer) for label in LABELS]
        spec = replace(SPEC, rubric=Rubric((*SPEC.rubric, brief)))
        cases = [replace(case, evaluators=(spec,)) for case in CASES]
        found = correction_of(SUITE, labels, cases)
        assert found is not None
        assert found.value == pytest.approx(value, abs=0.05)


def test_assertions_are_not_labelled() -> None:
    brief = Assertion(id="brief", text="Is brief", key="max_words", value=1, span=span())
    spec = replace(SPEC, rubric=Rubric((brief, *SPEC.rubric)))
    case = build_case(id="case-1", file="e.yaml", evaluators=(spec,))
    assert [each.criterion.id for each in questions_of(SUITE, [case])] == ["c"]


@pytest.mark.parametrize("specificity", [0.5, 0.9])
def test_the_interval_contains_the_rate_after_a_move(specificity: float) -> None:
    """People pass 10 points fewer than when the labels were drawn."""
    population = Population(truth=0.8, sensitivity=0.97, specificity=specificity)
    _, _, covers = wrong(population, 0.1, 300)
    assert covers >= 0.9


def test_the_report_of_the_draw_has_no_wider_interval() -> None:
    strata = (Stratum(labelled=19, passes=17, of=80), Stratum(labelled=9, passes=2, of=20))
    alone = [replace(each, of=0) for each in strata]
    assert correct(0.8, 100, *strata) == correct(0.8, 100, *alone)
    moved, before = correct(0.78, 100, *strata), correct(0.78, 100, *alone)
    assert (moved.low, moved.value) < (before.low, before.value + 1e-12)
    assert moved.high >= before.high
