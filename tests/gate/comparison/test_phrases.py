"""The words about a comparison that all formats share."""

from dataclasses import replace
from typing import Any, Final, NamedTuple

import pytest

from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.report.decision import gate_state, with_gate
from rubric_ci.values.comparison import Comparison, Together
from rubric_ci.values.gate import FailOn
from rubric_ci.values.report import Against, RemovedCase, RunReport
from rubric_ci.values.results import Answers, AskedAgain, BaseResult, CaseResult, Change, Graded
from rubric_ci.values.scoring import Verdict
from tests.sample_reports import a_report, errored, graded

BASE = Against(ref="main", commit="a" * 40, committed_at="2026-11-20T10:00:00+00:00")
GONE = (RemovedCase(file="e.yaml", id="gone"),)


def before(verdict: Verdict) -> BaseResult:
    return BaseResult(outcome="graded", verdict=verdict, score=graded("a", verdict).score)


def asked(here: tuple[int, int, int], then: tuple[int, int, int], **facts: bool) -> AskedAgain:
    """Return counts of answers of both sides: asked, passed, held."""
    sides = [Answers(asked=a, passed=p, held=h) for a, p, h in (here, then)]
    return AskedAgain(here=sides[0], before=sides[1], **facts)


def of(
    name: str, change: Change, verdict: Verdict = "pass", was: Verdict = "pass", **facts: Any
) -> Graded:
    return graded(name, verdict, change=change, before=before(was), **facts)


BROKE = of("refund", "broken", "fail", asked_again=asked((6, 0, 0), (6, 6, 6)))
QUIET = (
    *(of(f"good{n}", "unchanged") for n in range(15)),
    of("vat", "not-confirmed", asked_again=asked((4, 3, 3), (3, 3, 3))),
    of("tone", "not-confirmed", asked_again=asked((6, 5, 5), (6, 6, 6))),
    of("late-parcel", "failing-before", "fail", "fail"),
    of("fax", "failing-before", "fail", "fail"),
    of("returns", "better", "pass", "fail"),
)


def test_what_a_user_with_20_cases_reads() -> None:
    report = a_report(*QUIET, against=BASE)
    assert phrases.headline(report) == "Nothing broke"
    assert phrases.compared_with(report) == "20 cases, compared with main aaaaaaaaaa"
    assert phrases.counts(report) == "18 pass (17 before)"
    assert list(phrases.kind_lines(report)) == [
        "Failed once, passed when asked again: vat 3 of 4, tone 5 of 6",
        "Fails as before: late-parcel, fax",
        "Better in one answer, not checked: returns",
    ]


def test_what_a_user_reads_of_a_break() -> None:
    report = a_report(BROKE, *QUIET[:3], against=BASE)
    assert phrases.headline(report) == "1 case broke: refund"
    assert phrases.counts(report) == "3 pass (4 before)"
    assert list(phrases.kind_lines(report)) == [
        "refund broke. Asked 6 times: passed 6 before, 0 now"
    ]


def again(here: tuple[int, int, int], then: tuple[int, int, int], **facts: bool) -> Graded:
    return replace(BROKE, asked_again=asked(here, then, **facts))


ALL = asked((6, 0, 0), (6, 6, 6), repeats=True)
LESS = asked((6, 0, 0), (6, 1, 6))
ASKED: Final[dict[str, tuple[Graded, str]]] = {
    "as often": (BROKE, "Asked 6 times: passed 6 before, 0 now"),
    "one dissents": (again((6, 1, 1), (6, 5, 5)), "Asked 6 times: passed 5 before, 1 now"),
    "always": (replace(BROKE, asked_again=ALL), "Always: passed before, fails now"),
    "always, and borderline": (
        of("a", "broken", "borderline", asked_again=ALL),
        "Always: passed before, is borderline now",
    ),
    "the judge differs about one answer": (
        again((6, 1, 1), (6, 6, 6), repeats=True),
        "Asked 6 times: passed 6 before, 1 now",
    ),
    "judged again": (
        again((6, 0, 0), (6, 6, 6), judged=True),
        "Judged 6 times: passed 6 before, 0 now",
    ),
    "not as often": (again((10, 0, 0), (1, 1, 1)), "Passed 1 of 1 before, 0 of 10 now"),
    "once": (again((1, 0, 0), (1, 1, 1)), "Passed before, not now, in one answer each"),
    "borderline before": (
        of("a", "broken", "fail", "borderline", asked_again=LESS),
        "Asked 6 times: borderline or better 6 before, 0 now",
    ),
    "not a suspect": (QUIET[0], ""),
}


@pytest.mark.parametrize(("case", "words"), ASKED.values(), ids=ASKED)
def test_what_asking_again_showed(case: Graded, words: str) -> None:
    assert phrases.asked_words(case) == words


def test_cases_that_are_not_confirmed() -> None:
    cases = [
        of("uneven", "not-confirmed", "fail", asked_again=asked((5, 2, 2), (6, 3, 3))),
        of("noted", "not-confirmed", "fail", asked_again=ALL, change_reason="a note"),
    ]
    assert list(phrases.kind_lines(a_report(*cases, against=BASE))) == [
        "Not confirmed: uneven 2 of 5 now, 3 of 6 before",
        "Not held against the change: noted (Always: passed before, fails now: a note)",
    ]


def test_many_cases_are_counted() -> None:
    cases = [replace(BROKE, id=f"bad{n}") for n in range(12)]
    report = a_report(*cases, QUIET[0], against=BASE, removed=GONE)
    names = f"{', '.join(f'bad{n}' for n in range(10))} and 2 more"
    assert phrases.headline(report) == f"12 cases broke: {names}"
    assert list(phrases.kind_lines(report)) == [f"Broke: {names}", "Removed: gone"]


def test_a_case_whose_id_several_files_have_is_named_with_its_file() -> None:
    cases = [
        of("one", "better"),
        graded("one", "pass", change="unchanged", file="f.yaml"),
        replace(of("two", "better"), file="f.yaml"),
    ]
    report = a_report(*cases, against=BASE)
    assert list(phrases.kind_lines(report)) == [
        "Better in one answer, not checked: e.yaml::one, two"
    ]
    assert next(names for _, names in phrases.listed(report))[0][0] == "e.yaml::one"


def test_nothing_to_compare() -> None:
    no_base = a_report(against=Against(ref="auto", commit=""))
    assert (phrases.headline(no_base), phrases.counts(no_base)) == (
        "Not compared: no base",
        "no case to compare",
    )
    assert phrases.headline(a_report()) == "Not compared"
    assert phrases.counts(a_report()) == "no case to compare"
    assert list(phrases.limits(a_report())) == []


def test_an_average_is_told_if_it_moves_and_as_many_pass() -> None:
    hardly = Comparison(source="commit", compared=2, mean=0.823, mean_before=0.84)
    assert phrases.counts(a_report(comparison=hardly)) == "0 pass (0 before)"
    lower = replace(hardly, mean=0.81)
    average = "Average score 0.81 (0.84 before)"
    assert phrases.counts(a_report(comparison=lower)) == f"0 pass (0 before) · {average}"
    fewer = replace(lower, passed_before=1)
    assert phrases.counts(a_report(comparison=fewer)) == "0 pass (1 before)"


def test_a_judge_that_moved_limits_a_comparison() -> None:
    comparison = Comparison(source="reference", judge_moved="The judge changed", notes=("Note.",))
    report = a_report(comparison=comparison)
    assert phrases.headline(report) == "Not comparable: the judge moved"
    assert list(phrases.limits(report)) == [
        "The judge changed. No case is called worse until the baseline is new",
        "Note.",
    ]


def test_the_kinds_that_are_listed() -> None:
    late = errored("size", "late", change="not-comparable", change_reason="no verdict: late")
    waived = of("late", "failing-before", "fail", "fail", without_waived="pass", waived=("c",))
    report = a_report(BROKE, *QUIET, late, waived, against=BASE, removed=GONE)
    assert list(phrases.listed(report)) == [
        (
            "2 not confirmed",
            [
                ("vat", "Passed 3 of 3 before, 3 of 4 now"),
                ("tone", "Asked 6 times: passed 6 before, 5 now"),
            ],
        ),
        (
            "3 fails as before",
            [("late-parcel", "because"), ("fax", "because"), ("late", "because")],
        ),
        ("1 better in one answer", [("returns", "because")]),
        ("1 removed", [("gone", "e.yaml")]),
        ("1 not comparable", [("size", "late")]),
    ]
    lines = list(phrases.kind_lines(report))
    assert lines[-1] == "Not comparable: size (no verdict: late)"


WAS = BaseResult(outcome="graded", verdict="pass", score=0.9, source="report")
FAILED = replace(WAS, verdict="fail")


class Shown(NamedTuple):
    case: CaseResult
    words: str
    movement: str = ""
    verdicts: str = ""


def shown(words: str, *facts: str, verdict: Verdict = "fail", **changes: Any) -> Shown:
    return Shown(graded("a", verdict, **changes), words, *facts)


ONE_CASE = {
    "not compared": shown(""),
    "unchanged": shown(
        *("unchanged", "pass 0.90 → pass 0.90", "pass → pass"),
        verdict="pass",
        score=0.9,
        change="unchanged",
        before=WAS,
    ),
    "another score": shown(
        *("fails as before: fail 0.90 → fail 0.10", "fail 0.90 → fail 0.10", "fail → fail"),
        score=0.1,
        change="failing-before",
        before=FAILED,
    ),
    "new with a score": shown(
        *("new", "pass 0.90 → fail 0.10", "pass → fail"), score=0.1, change="new", before=WAS
    ),
    "not comparable": shown(
        "not comparable", change="not-comparable", before=BaseResult(outcome="errored")
    ),
    "without a score": shown(
        *("▼ broke", "", "pass → fail"), change="broken", before=replace(WAS, score=None)
    ),
    "unchanged without a score": shown(
        *("unchanged", "", "pass → fail"), change="unchanged", before=replace(WAS, score=None)
    ),
    "waived": shown(
        *("waived: pass 0.90 → fail 0.10", "pass 0.90 → fail 0.10", "pass → fail"),
        score=0.1,
        change="unchanged",
        before=WAS,
        waived=("c",),
        without_waived="pass",
    ),
    "without a verdict": shown("▼ broke", change="broken", before=replace(WAS, verdict=None)),
    "without both": shown("≈ not confirmed", change="not-confirmed"),
    "errored": Shown(errored("a", change="broken", before=WAS), "▼ broke"),
}


@pytest.mark.parametrize(("case", "words", "movement", "verdicts"), ONE_CASE.values(), ids=ONE_CASE)
def test_a_case_in_words(case: CaseResult, words: str, movement: str, verdicts: str) -> None:
    assert phrases.in_words(case) == words
    assert phrases.movement(case) == movement
    assert phrases.verdicts(case) == verdicts


WORSE = Together(
    cases=200,
    clusters=200,
    fewer_pass=29,
    more_fail=29,
    p_value=1e-4,
    again=200,
    again_p_value=1e-4,
    worse=True,
)
FELL: Final = "29 more of 200 fail than before"
MOVED: Final = ["Moved most: refund"]
TOGETHER: Final[dict[str, tuple[Together, list[str]]]] = {
    "worse": (WORSE, [f"{FELL}; the old version, asked again today, still passes", *MOVED]),
    "not asked again": (replace(WORSE, again=0, again_p_value=None), [FELL, *MOVED]),
    "fewer pass": (
        replace(WORSE, more_fail=0, again=0),
        ["29 fewer of 200 pass than before", *MOVED],
    ),
    "by trials": (
        replace(WORSE, more_fail=0, fewer_pass=0, again=0),
        ["200 cases have worse verdicts than before", *MOVED],
    ),
    "the old version fails as well": (
        replace(WORSE, worse=False, before_moved=True),
        ["The old version fails today, too: model or judge moved. Not your change"],
    ),
    "by chance": (
        replace(WORSE, worse=False),
        [f"{FELL}, but not than the old version, asked again today"],
    ),
    "no new answer": (
        replace(WORSE, worse=False, again=0, problem="429"),
        [f"{FELL}; the old version gave no new answer: 429"],
    ),
    "not worse": (replace(WORSE, worse=False, again=0), []),
}


@pytest.mark.parametrize(("together", "lines"), TOGETHER.values(), ids=TOGETHER)
def test_all_cases_together(together: Together, lines: list[str]) -> None:
    case = of("refund", "not-confirmed", "fail", asked_again=asked((5, 2, 2), (6, 3, 3)))
    report = a_report(case, against=replace(BASE, together=together))
    assert list(phrases.together_lines(report)) == lines
    assert (phrases.headline(report) != "Nothing broke") is together.worse


@pytest.mark.parametrize(
    ("together", "fail_on", "state"),
    [
        (WORSE, "regression", "fail"),
        (WORSE, "fail", "pass"),
        (replace(WORSE, worse=False, problem="429"), "regression", "no-verdict"),
        (replace(WORSE, worse=False, problem="429"), "fail", "pass"),
        (replace(WORSE, worse=False), "regression", "pass"),
    ],
)
def test_the_gate_of_all_cases_together(together: Together, fail_on: FailOn, state: str) -> None:
    report: RunReport = a_report(QUIET[0], against=replace(BASE, together=together))
    report = with_gate(replace(report, gate=replace(report.gate, fail_on=fail_on)))
    assert gate_state(report) == state
