"""The words about a comparison that all formats share."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from rubric_ci.gate.comparison import phrases, verdicts
from rubric_ci.gate.report.decision import gate_state, with_gate
from rubric_ci.reports.render import summary, terminal
from rubric_ci.values.comparison import (
    Comparison,
    Drop,
    ReferenceInfo,
    ReferenceMove,
    SlowSlide,
    SuspectCounts,
)
from rubric_ci.values.gate import FailOn
from rubric_ci.values.report import Against, RemovedCase, RunReport
from rubric_ci.values.results import BaseResult, CaseResult, Change, Trial
from tests.compared import compared, whole
from tests.sample_reports import a_report, errored, graded, skipped

BASE = Against(ref="main", commit="a" * 40, committed_at="2026-11-20T10:00:00+00:00")
CASES = [
    *(graded(f"bad{number}", change="broken") for number in range(12)),
    graded("same", "pass", change="unchanged"),
]
REPORT = a_report(*CASES, against=BASE, removed=(RemovedCase(file="e.yaml", id="gone"),))
LINES = [
    f"12 broken: {', '.join(f'bad{number}' for number in range(10))} and 2 more",
    "1 unchanged",
    "1 removed: gone",
]


def test_a_line_per_class_names_the_first_cases() -> None:
    assert list(phrases.kind_lines(REPORT)) == LINES


def test_the_terminal_shows_a_line_per_class() -> None:
    text = terminal.render(REPORT, width=200, color=False)
    block = "\n  ".join(["Compared with the base: `aaaaaaaaaa` of 2026-11-20", *LINES])
    assert f"\n{block}\n" in text


def test_a_case_whose_id_several_files_have_is_named_with_its_file() -> None:
    cases = [
        graded("one", change="flaky"),
        graded("one", "pass", change="unchanged", file="f.yaml"),
        graded("two", change="flaky", file="f.yaml"),
    ]
    report = a_report(*cases, against=BASE, removed=(RemovedCase(file="f.yaml", id="gone"),))
    assert list(phrases.kind_lines(report)) == [
        "1 unchanged",
        "2 flaky: e.yaml::one, two",
        "1 removed: gone",
    ]
    assert next(names for _, names in phrases.listed(report))[0][0] == "e.yaml::one"
    text = terminal.render(report, width=100, color=False)
    first = re.findall(r"^│ (\S+)", text, re.MULTILINE)
    assert first == ["case", "e.yaml::one", "f.yaml::one", "two"]


def test_no_case_and_no_base() -> None:
    report = a_report(against=Against(ref="auto", commit=""))
    assert (phrases.source(report), phrases.counts(report)) == ("no base", "no case to compare")
    assert phrases.source(a_report()) == ""


@pytest.mark.parametrize(
    ("now", "shown"),
    [
        ("2026-11-22T10:00:00+00:00", "`abc1234567` of 2026-11-20, 2 days old"),
        ("2026-11-21T10:00:00Z", "`abc1234567` of 2026-11-20, 1 day old"),
        ("2026-11-20T09:00:00Z", "`abc1234567` of 2026-11-20, less than a day old"),
        ("2026-11-20T12:00:00Z", "`abc1234567` of 2026-11-20, less than a day old"),
        ("2026-11-20T01:00:00Z", "`abc1234567` of 2026-11-20"),
        ("not a time", "`abc1234567` of 2026-11-20"),
        ("2026-11-22T10:00:00", "`abc1234567` of 2026-11-20"),
    ],
)
def test_the_age_of_the_base(now: str, shown: str) -> None:
    base = Against(ref="auto", commit="abc1234567890", committed_at="2026-11-20T09:00:00+00:00")
    assert phrases.commit(base, now) == shown


def test_no_base() -> None:
    assert phrases.commit(Against(ref="auto", commit=""), "2026-11-20T09:00:00Z") == "no base"


def test_a_waived_case_is_named_as_waived() -> None:
    case = graded("known", waived=("c",), change="failing-before", without_waived="pass")
    report = a_report(case, against=BASE)
    title, cases = next(phrases.listed(report))
    assert (title, cases) == ("1 failing before as well", [("known", "waived: because")])


FLIPPING = tuple(Trial(verdict=verdict, score=0.5) for verdict in ("pass", "fail"))


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (graded("a", "pass"), graded("a", "fail"), "▼ broken: pass 1.00 → fail 0.00"),
        (graded("a", "fail"), graded("a", "borderline"), "▲ fixed: fail 0.00 → borderline 0.70"),
        (
            graded("a", "pass", score=0.9),
            graded("a", "pass", score=0.91),
            "unchanged: pass 0.90 → pass 0.91",
        ),
        (graded("b", "pass"), graded("a", "pass"), "new"),
        (graded("a", "pass"), errored("a"), "not comparable"),
        (errored("a"), errored("a"), "not comparable"),
        (graded("a", "pass"), skipped("a"), "not comparable"),
        (graded("a", "pass"), graded("a", "pass", trials=FLIPPING), "unchanged"),
        (
            graded("a", "pass", trials=FLIPPING),
            graded("a", "fail", trials=FLIPPING),
            "≈ flaky: pass 1.00 → fail 0.00",
        ),
    ],
    ids=[
        "broken",
        "fixed",
        "unchanged",
        "new",
        "errored",
        "errored twice",
        "skipped",
        "flips",
        "flaky",
    ],
)
def test_case(before: CaseResult, after: CaseResult, shown: str) -> None:
    (case,) = compared(a_report(after), a_report(before)).cases
    assert phrases.in_words(case) == shown


def test_the_whole() -> None:
    names = [f"c{n}" for n in range(12)]
    before = a_report(*(graded(name, "pass") for name in names), graded("left", "pass"))
    after = a_report(*(graded(name, "fail") for name in names))
    facts = "12 cases in both reports, p = 0.000488"
    assert list(phrases.lines(compared(after, before))) == [
        "12 broken, 1 removed",
        f"Mean score -1.000 ({facts}): significant",
        "Removed: `left`",
    ]


def test_a_mean_of_two_judges_is_not_comparable() -> None:
    after = a_report(graded("a", "fail"), graded("b", "fail"))
    before = a_report(graded("a", "pass"), graded("b", "pass"))
    found = compared(after, before)
    moved = replace(whole(found), judge_moved="The judge moved", significant=False)
    assert list(phrases.lines(replace(found, comparison=moved)))[1] == (
        "Mean score -1.000 (2 cases in both reports, p = 0.5): not comparable"
    )


def test_many_removed_are_counted() -> None:
    before = a_report(*(graded(f"c{n}", "pass") for n in range(12)))
    shown = list(phrases.lines(compared(a_report(), before)))
    assert shown[-1] == f"Removed: {', '.join(f'`c{n}`' for n in range(10))} and 2 more"


def test_nothing_to_compare() -> None:
    shown = list(phrases.lines(compared(a_report(), a_report())))
    assert shown == ["no case to compare"]


def of(*cases: CaseResult, **facts: Any) -> RunReport:
    """Return a report of these cases that is compared with a report, unless the facts differ."""
    removed = facts.pop("removed", ())
    compared_with = Comparison(**{"source": "report", **facts})
    return a_report(*cases, comparison=compared_with, removed=removed)


SLID_SINCE = (
    "The mean score is lower since about 2026-01-02 (evidence 9e+03 of 8,000, 30 nights), or the "
    "judge wandered: `rubric-ci baseline rejudge` shows which"
)

SLID = SlowSlide(
    evidence=9000.4, threshold=8000.0, nights=30, since="2026-01-02T03:04:05", detected=True
)
SUSPECTS = SuspectCounts(false_alarms=0.05, suspects=0, confirmed=0, undecided=0, further_trials=0)
ONE_WORSE = (("e.yaml", "a"),)
EQUAL: dict[str, Any] = {"mean_difference": 0.0, "clusters": 100, "paired": 100, "p_value": 1.0}

HEADLINES = {
    "not compared": (a_report(), "not compared"),
    "the judge moved": (
        of(judge_moved="The judge moved", suspected=True, source="reference"),
        "not comparable with the reference: the judge moved",
    ),
    "a case is suspected": (
        of(suspected=True, regressed=True, worse_cases=ONE_WORSE, source="reference"),
        (
            "suspected to be worse than the reference: 1 case worse in this night; "
            "a second one confirms it"
        ),
    ),
    "the mean is suspected": (
        of(suspected=True, source="reference"),
        (
            "suspected to be worse than the reference: a lower mean score in this night; "
            "a second one confirms it"
        ),
    ),
    "broken": (
        of(graded("a", change="broken"), graded("b", change="broken"), regressed=True, slide=SLID),
        "worse than the baseline: 2 cases broken",
    ),
    "slid": (
        of(regressed=True, slide=SLID, source="reference"),
        "worse than the reference: the mean score slid over many nights",
    ),
    "the mean fell": (
        of(regressed=True, slide=replace(SLID, detected=False)),
        "worse than the baseline: no single case is broken, but the mean score fell",
    ),
    "a commit": (of(source="commit", paired=3), "not worse than the base"),
    "no case has both scores": (of(clusters=9), "not worse than the baseline"),
    "five cases": (of(**{**EQUAL, "clusters": 5}), "not worse than the baseline"),
    "six cases": (
        of(**{**EQUAL, "clusters": 6}),
        "not worse than the baseline; with 6 cases only a large drop shows",
    ),
    "all are equal": (
        of(**EQUAL),
        "not worse than the baseline (drops of up to 4 points cannot be excluded)",
    ),
    "all fell by the same": (
        of(**{**EQUAL, "mean_difference": -0.2}),
        "not worse than the baseline (drops of up to 20 points cannot be excluded)",
    ),
    "the lower end": (
        of(**EQUAL, interval=(-0.11, 0.09)),
        "not worse than the baseline (drops of up to 11 points cannot be excluded)",
    ),
    "the whole scale": (of(**EQUAL, interval=(-1.0, 0.09)), "not worse than the baseline"),
}


@pytest.mark.parametrize(("report", "shown"), HEADLINES.values(), ids=HEADLINES)
def test_the_headline(report: RunReport, shown: str) -> None:
    assert phrases.headline(report) == shown


MEAN: dict[str, Any] = {"mean_difference": -0.5, "paired": 8, "clusters": 8, "p_value": 0.01234}
FIGURES = {
    "not compared": (a_report(), []),
    "a commit": (of(source="commit", paired=3), []),
    "a significant mean": (
        of(**MEAN, interval=(-0.75, -0.25), significant=True),
        [
            (
                "Mean score -0.500 (8 cases in both reports, 95 % interval -0.750 to -0.250, "
                "p = 0.0123): significant"
            )
        ],
    ),
    "a mean": (
        of(**MEAN),
        ["Mean score -0.500 (8 cases in both reports, p = 0.0123): not significant"],
    ),
    "clusters": (
        of(**{**MEAN, "clusters": 6, "p_value": None}),
        ["Mean score -0.500 (8 cases in both reports in 6 clusters): not significant"],
    ),
    "few clusters": (
        of(**{**MEAN, "clusters": 5, "paired": 5}),
        ["Mean score -0.500 (5 cases in both reports, p = 0.0123): too few cases for a test"],
    ),
    "another judge": (
        of(**{**MEAN, "clusters": 5, "paired": 5}, judge_moved="The judge moved"),
        ["Mean score -0.500 (5 cases in both reports, p = 0.0123): not comparable"],
    ),
    "no suspect": (of(suspects=SUSPECTS), []),
    "a cleared suspect": (
        of(suspects=replace(SUSPECTS, suspects=1)),
        ["1 suspect, 1 cleared"],
    ),
    "suspects of each kind": (
        of(
            suspects=replace(
                SUSPECTS,
                suspects=1003,
                confirmed=1,
                undecided=1,
                further_trials=7,
                p_values=(0.01, 0.01),
            )
        ),
        [
            (
                "1,003 suspects, 1,001 cleared by up to 7 more trials each, 1 confirmed "
                "(p = 0.01), 1 undecided (too few trials: `run --baseline` adds them)"
            )
        ],
    ),
    "confirmed": (
        of(
            suspects=replace(
                SUSPECTS, suspects=2, confirmed=2, further_trials=7, p_values=(0.00123, 0.012)
            )
        ),
        ["2 suspects, 2 confirmed (p = 0.0012 to 0.012)"],
    ),
    "a slide": (
        of(slide=SLID),
        [SLID_SINCE],
    ),
    "no slide": (
        of(slide=replace(SLID, evidence=12.345, nights=1, detected=False)),
        ["No slow slide over 1 night (evidence 12.3 of 8,000)"],
    ),
    "the first night": (of(slide=replace(SLID, nights=0, detected=False)), []),
    "all": (
        of(**MEAN, suspects=replace(SUSPECTS, suspects=1), slide=SLID),
        [
            "1 suspect, 1 cleared",
            "Mean score -0.500 (8 cases in both reports, p = 0.0123): not significant",
            SLID_SINCE,
        ],
    ),
}


@pytest.mark.parametrize(("report", "shown"), FIGURES.values(), ids=FIGURES)
def test_the_figures(report: RunReport, shown: list[str]) -> None:
    assert list(phrases.figures(report)) == shown


INFO = ReferenceInfo(commit="1" * 40, measured_at="2026-01-02T03:04:05", age_days=1, trials=15)
MOVE = ReferenceMove(
    commit="2" * 40, measured_at="2026-01-03T03:04:05", age_days=0, cases=1, reason="fixed"
)
MOVED = "1 case since commit `2222222222` of 2026-01-03, 0 days old (fixed)"
REFERENCES = {
    "not pinned": (INFO, "commit `1111111111` of 2026-01-02, 1 day old, 15 trials per case"),
    "pinned": (
        replace(INFO, reason="wanted", trials=1),
        "commit `1111111111` of 2026-01-02, 1 day old, 1 trial per case (wanted)",
    ),
    "unknown": (
        replace(INFO, commit="", age_days=None),
        "an unknown commit of 2026-01-02, 15 trials per case",
    ),
    "moved": (
        replace(INFO, moves=(MOVE, replace(MOVE, cases=2, commit="", age_days=None), MOVE)),
        (
            "commit `1111111111` of 2026-01-02, 1 day old, 15 trials per case; "
            f"{MOVED}; 2 cases since an unknown commit of 2026-01-03 (fixed); {MOVED}"
        ),
    ),
    "moved often": (
        replace(INFO, moves=(replace(MOVE, reason="earlier"), MOVE, MOVE, MOVE)),
        (
            "commit `1111111111` of 2026-01-02, 1 day old, 15 trials per case; "
            f"1 earlier move of some cases; {MOVED}; {MOVED}; {MOVED}"
        ),
    ),
}


@pytest.mark.parametrize(("info", "shown"), REFERENCES.values(), ids=REFERENCES)
def test_a_reference(info: ReferenceInfo, shown: str) -> None:
    assert phrases.reference(info) == shown
    report = of(source="reference", reference=info, notes=("One.", "Two."))
    assert phrases.source(report) == shown
    assert list(phrases.lines(report)) == [
        "no case to compare",
        f"Reference: {shown}",
        "One.",
        "Two.",
    ]


def test_the_source_of_a_comparison() -> None:
    for source, noun in (("commit", "base"), ("report", "baseline"), ("reference", "reference")):
        report = of(source=source)
        assert (phrases.noun(report), phrases.title(report)) == (noun, f"Compared with the {noun}")
        assert phrases.source(report) == ""
    assert phrases.noun(a_report()) == ""
    assert phrases.source(REPORT) == phrases.commit(BASE, REPORT.started_at) != ""
    undated = replace(BASE, committed_at="")
    assert phrases.commit(undated, "2026-11-22T10:00:00Z") == "`aaaaaaaaaa`"


def test_a_judge_that_moved_limits_a_comparison() -> None:
    assert list(phrases.limits(of(judge_moved="The judge changed", notes=("Note.",)))) == [
        (
            "The judge changed. No case is called broken until `rubric-ci baseline rejudge` has "
            "judged the stored answers of the reference again"
        ),
        "Note.",
    ]
    assert list(phrases.limits(of(notes=("Note.",)))) == ["Note."]
    assert list(phrases.limits(a_report())) == []


EACH: Final[Sequence[Change]] = (
    "not-comparable",
    "new",
    "flaky",
    "unchanged",
    "failing-before",
    "fixed",
    "broken",
)
GONE = tuple(RemovedCase(file=f"{name}.yaml", id=name) for name in ("gone", "left"))
MIXED = of(*(graded(change, change=change) for change in EACH), graded("b", change="new"))


def test_every_kind_is_counted_in_one_order() -> None:
    report = replace(MIXED, removed=GONE)
    assert phrases.counts(report) == (
        "1 broken, 1 fixed, 1 failing before as well, 1 unchanged, 1 flaky, 2 new, 2 removed, "
        "1 not comparable"
    )
    assert list(phrases.kind_lines(report)) == [
        "1 broken: broken",
        "1 fixed: fixed",
        "1 failing before as well: failing-before",
        "1 unchanged",
        "1 flaky: flaky",
        "2 new: new, b",
        "2 removed: gone, left",
        "1 not comparable: not-comparable",
    ]
    assert [case.id for case in phrases.broken(report)] == ["broken"]
    many = of(*[graded("a", change="new")] * 1234)
    assert phrases.counts(many) == "1,234 new"
    assert [line[:9] for line in phrases.kind_lines(many)] == ["1,234 new"]


def test_the_kinds_that_are_listed() -> None:
    told = graded("told", change="not-comparable", change_reason=f"no base:\n {'x' * 300}")
    report = replace(MIXED, cases=(*MIXED.cases, told, errored("lost", change="flaky")))
    assert list(phrases.listed(report)) == [
        ("1 failing before as well", [("failing-before", "because")]),
        ("2 flaky", [("flaky", "because"), ("lost", "the judge was silent")]),
        (
            "2 not comparable",
            [("not-comparable", "because"), ("told", f"no base: {'x' * 290}…")],
        ),
    ]
    title, removed = list(phrases.listed(replace(MIXED, removed=GONE)))[2]
    assert (title, removed) == ("2 removed", [("gone", "gone.yaml"), ("left", "left.yaml")])
    absent = of(replace(skipped("s"), change="not-comparable", change_reason="not graded"))
    assert list(phrases.listed(absent)) == [("1 not comparable", [("s", "not graded")])]
    ((title, _),) = phrases.listed(of(*[graded("a", change="flaky")] * 1234))
    assert title == "1,234 flaky"


WAS = BaseResult(outcome="graded", verdict="pass", score=0.9, source="report")
ONE_CASE = {
    "not compared": (graded("a"), "", "", ""),
    "unchanged": (
        graded("a", "pass", score=0.9, change="unchanged", before=WAS),
        "unchanged",
        "pass 0.90 → pass 0.90",
        "pass → pass",
    ),
    "another score": (
        graded("a", score=0.1, change="failing-before", before=replace(WAS, verdict="fail")),
        "failing before as well: fail 0.90 → fail 0.10",
        "fail 0.90 → fail 0.10",
        "fail → fail",
    ),
    "new with a score": (
        graded("a", score=0.1, change="new", before=WAS),
        "new",
        "pass 0.90 → fail 0.10",
        "pass → fail",
    ),
    "not comparable": (
        graded("a", change="not-comparable", before=BaseResult(outcome="errored")),
        "not comparable",
        "",
        "",
    ),
    "without a score": (
        graded("a", change="broken", before=replace(WAS, score=None)),
        "▼ broken",
        "",
        "pass → fail",
    ),
    "unchanged without a score": (
        graded("a", change="unchanged", before=replace(WAS, score=None)),
        "unchanged",
        "",
        "pass → fail",
    ),
    "without a verdict": (
        graded("a", change="broken", before=replace(WAS, verdict=None)),
        "▼ broken",
        "",
        "",
    ),
    "without both": (graded("a", change="flaky"), "≈ flaky", "", ""),
    "errored": (
        errored("a", change="broken", before=WAS),
        "▼ broken",
        "",
        "",
    ),
}


@pytest.mark.parametrize(("case", "words", "movement", "verdicts"), ONE_CASE.values(), ids=ONE_CASE)
def test_a_case_in_words(case: CaseResult, words: str, movement: str, verdicts: str) -> None:
    assert phrases.in_words(case) == words
    assert phrases.movement(case) == movement
    assert phrases.verdicts(case) == verdicts


DROP: Final = Drop(cases=200, fewer_pass=29, more_fail=29, level=0.01, p_value=2e-6, confirmed=True)
FEWER: Final = "29 fewer of 200 cases pass than at the base: more than chance"
WORLD: Final = (
    "The base fails as well today: its answers in the cache are better than the 40 answers of the "
    "base asked for again (a model or the judge moved since). No case is held against the change "
    "for it"
)
MAY_BE_CHANCE: Final = (
    "29 more of 200 cases fail than at the base, by its answers in the cache. With 40 answers of "
    "the base asked for again the difference may be chance (p = 0.07), so it is not held against "
    "the change"
)
MORE: Final = "29 more of 200 cases fail than at the base: more than chance"


FLIPPED = "5 cases flipped for the worse since the base and 0 for the better: more than chance"


def dropped(drop: Drop) -> RunReport:
    """Return a report of a run with its base and a drop of all cases."""
    fallen = BaseResult(outcome="graded", verdict="pass", score=1.0)
    cases = [
        graded("half", "borderline", change="unchanged", before=fallen),
        graded("most", "fail", change="unchanged", before=fallen),
        graded("same", "pass", change="unchanged", before=fallen),
    ]
    against = replace(BASE, drop=drop)
    return a_report(*cases, against=against, comparison=verdicts.of_commit(against, cases))


@pytest.mark.parametrize(
    ("drop", "headline", "lines"),
    [
        pytest.param(
            DROP,
            f"worse than the base: {MORE}",
            [f"{MORE} (p = 2e-06)", "Moved most: most, half"],
            id="answers of this run",
        ),
        pytest.param(
            replace(DROP, more_fail=0, again=100, again_p_value=0.001, again_level=0.05),
            f"worse than the base: {FEWER}",
            [
                FEWER + " (p = 2e-06, 100 answers of the base asked for again (p = 0.001))",
                "Moved most: most, half",
            ],
            id="asked again",
        ),
        pytest.param(
            replace(
                DROP,
                again=40,
                again_p_value=0.4,
                again_level=0.05,
                confirmed=False,
                base_moved=True,
            ),
            "not worse than the base",
            [
                WORLD,
            ],
            id="the world moved",
        ),
        pytest.param(
            replace(DROP, again=40, again_p_value=0.07, again_level=0.05, confirmed=False),
            "not worse than the base",
            [MAY_BE_CHANCE],
            id="perhaps chance",
        ),
        pytest.param(
            replace(DROP, confirmed=False, problem="429"),
            "not worse than the base",
            [f"{MORE}, if the base is as it was: it has no new answer: 429"],
            id="not decided",
        ),
        pytest.param(
            replace(DROP, flipped=(1, 2), p_value=0.875, confirmed=False),
            "not worse than the base",
            [
                (
                    "1 case flipped for the worse since the base and 2 for the better, by answers "
                    "that repeat: it may be chance (p = 0.88), so none of them is broken"
                )
            ],
            id="flipped by chance",
        ),
        pytest.param(
            replace(DROP, flipped=(5, 0), p_value=1 / 32),
            f"worse than the base: {FLIPPED}",
            [f"{FLIPPED} (p = 0.031)", "Moved most: most, half"],
            id="flipped",
        ),
    ],
)
def test_a_drop_of_all_cases(drop: Drop, headline: str, lines: list[str]) -> None:
    report = dropped(drop)
    assert phrases.headline(report) == headline
    assert list(phrases.limits(report)) == lines


@pytest.mark.parametrize(
    ("drop", "fail_on", "state"),
    [
        (DROP, "regression", "fail"),
        (DROP, "never", "pass"),
        (replace(DROP, confirmed=False), "regression", "pass"),
        (replace(DROP, confirmed=False, problem="429"), "regression", "no-verdict"),
        (replace(DROP, confirmed=False, problem="429"), "never", "pass"),
    ],
)
def test_the_gate_follows_a_drop(drop: Drop, fail_on: FailOn, state: str) -> None:
    report = dropped(drop)
    report = with_gate(replace(report, gate=replace(report.gate, fail_on=fail_on)))
    assert gate_state(report) == state
    if state == "fail":
        assert summary.heading(report).startswith(f"Gate fails: {MORE}")
    if state == "no-verdict":
        assert "the base could not be asked again" in summary.heading(report)
