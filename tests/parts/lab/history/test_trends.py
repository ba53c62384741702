"""Strips of verdicts, flips and judge changes."""

from dataclasses import replace

import pytest

from rubric_ci.parts.lab.history.record import record_of
from rubric_ci.parts.lab.history.trends import (
    JudgeChange,
    Strip,
    judge_changes,
    strips,
)
from rubric_ci.values.report import JudgeInfo
from tests.parts.lab.history.nights import a_case, records
from tests.sample_reports import a_report, graded

FLIPS = {
    "steady": ("ppp", 0),
    "there and back": ("pfp", 2),
    "a night without a verdict is not a flip": ("pep", 0),
    "a flip behind it is": ("pef", 1),
    "a waived fail is a fail": ("fwf", 0),
    "not graded": ("sss", 0),
    "new": ("--p", 0),
}


@pytest.mark.parametrize(("letters", "flips"), FLIPS.values(), ids=FLIPS)
def test_flips(letters: str, flips: int) -> None:
    nights = [
        record_of(a_report(*[a_case("one", each.replace("w", "f"))] if each != "-" else []))
        for each in letters
    ]
    for n, letter in enumerate(letters):
        if letter == "w":
            nights[n] = replace(nights[n], verdicts="w")
    (strip,) = strips(nights)
    assert strip == Strip(key=("e.yaml", "one"), verdicts=letters, flips=flips, mixed=0)


def test_runs_whose_trials_differ_are_counted() -> None:
    trials = ("pp", "pf", "fp")
    nights = [record_of(a_report(a_case("one", "p", *each))) for each in trials]
    assert [strip.mixed for strip in strips(nights)] == [2]


def test_what_needs_attention_comes_first() -> None:
    found = [strip.key[1] for strip in strips(list(records()))]
    assert found == ["broken", "tone", "refund", "greeting", "late", "draft"]


def test_judge_changes() -> None:
    nights = list(records())
    other = JudgeInfo(model="opus", prompt_version="2", mode="isolated", votes=3)
    nights[5] = replace(nights[5], judge=None)
    nights[11] = replace(nights[11], judge=other)
    assert judge_changes(nights) == (
        JudgeChange(run=8, text="gpt → opus"),
        JudgeChange(run=11, text="prompt 1 → 2; batched → isolated; votes 1 → 3"),
    )


def test_a_judge_that_moved_is_a_change_once() -> None:
    nights = [replace(night, judge_moved=n in {3, 4, 6}) for n, night in enumerate(records())]
    words = "gpt marks the remembered answers differently"
    assert judge_changes(nights[:8]) == (
        JudgeChange(run=3, text=words),
        JudgeChange(run=6, text=words),
    )


def test_a_fail_that_a_waiver_excuses_is_waived() -> None:
    case = graded("one", "fail", waived=("c",), without_waived="pass", evaluators=())
    (strip,) = strips([record_of(a_report(case))])
    assert strip.verdicts == "w"
