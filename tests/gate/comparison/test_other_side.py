"""What a run is compared with, in words."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.comparison import phrases
from rubric_ci.values.comparison import Comparison, ReferenceInfo, ReferenceMove, Source
from rubric_ci.values.report import Against, RunReport
from tests.sample_reports import a_report

BASE = Against(ref="main", commit="a" * 40, committed_at="2026-11-20T10:00:00+00:00")


def of(found: Source, commit: str = "", ref: str = "") -> RunReport:
    return a_report(comparison=Comparison(source=found, commit=commit, ref=ref))


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
    none = Against(ref="auto", commit="")
    assert phrases.commit(none, "2026-11-20T09:00:00Z") == "no base"
    assert phrases.source(a_report(against=none)) == "no base"
    assert phrases.source(a_report()) == ""
    undated = replace(BASE, committed_at="")
    assert phrases.commit(undated, "2026-11-22T10:00:00Z") == "`aaaaaaaaaa`"


def since(ref: str, origin: str = "", **facts: Any) -> RunReport:
    return a_report(against=replace(BASE, ref=ref, origin=origin), **facts)


PULL = since("auto", "the pull request's base branch", metadata={"base_ref": "main"})


@pytest.mark.parametrize(
    ("report", "shown"),
    [
        (since("main"), "main aaaaaaaaaa"),
        (since("a" * 8), "aaaaaaaaaa"),
        (since("auto", "the last common commit with `main`"), "main aaaaaaaaaa"),
        (
            since("auto", "the last common commit with `origin/HEAD`"),
            "the default branch aaaaaaaaaa",
        ),
        (since("origin/main"), "main aaaaaaaaaa"),
        (PULL, "main aaaaaaaaaa"),
        (since("auto"), "aaaaaaaaaa"),
        (of("report", ref="base.json"), "base.json"),
        (of("report", commit="b" * 40), "bbbbbbbbbb"),
        (of("report"), "the baseline"),
        (of("reference", commit="b" * 40, ref="nights"), "the baseline bbbbbbbbbb"),
        (a_report(), "nothing"),
    ],
)
def test_what_a_run_is_compared_with(report: RunReport, shown: str) -> None:
    assert phrases.than(report) == shown


def test_the_word_for_the_source() -> None:
    nouns: dict[Source, str] = {"commit": "base", "report": "baseline", "reference": "baseline"}
    for name, noun in nouns.items():
        assert phrases.noun(of(name)) == noun
    assert phrases.noun(a_report()) == ""


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
    "changed since": (
        replace(INFO, commit=f"{'1' * 40}-dirty"),
        "commit `1111111111` with local changes of 2026-01-02, 1 day old, 15 trials per case",
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
    comparison = Comparison(source="reference", reference=info, notes=("One.", "Two."))
    report = a_report(comparison=comparison)
    assert phrases.source(report) == shown
    assert list(phrases.lines(report)) == [
        "no case to compare",
        f"Baseline: {shown}",
        "One.",
        "Two.",
    ]
