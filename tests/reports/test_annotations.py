"""Annotations: which line gets which level, and GitHub's caps."""

import re
from typing import Literal

import pytest

from rubric_ci.reports import annotations
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.results import CaseResult, Unassessed
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded, skipped

CAP = "GitHub shows 10 per level; the summary and the report files list all."


def seen(text: str) -> list[tuple[str, str, str]]:
    return re.findall(r"^::(\w+) file=.*?,line=(\d+),title=(.*?)::", text, re.MULTILINE)


def test_the_message_has_the_criterion_and_the_reason() -> None:
    case = graded("one", "fail", a_criterion("tone", line=9, votes=(True, False, False)))
    assert annotations.render(a_report(case)) == (
        "::error file=e.yaml,line=9,title=one%3A fail 0.00::tone: not satisfied, required, "
        "votes differ: satisfied, not satisfied, not satisfied%0Aasked%0Asaid%0AQuote: quote\n"
    )


def test_levels_and_lines() -> None:
    gate, soft = a_criterion("gate", line=11), a_criterion("soft", line=10, gated=False, gate="")
    script = Unassessed(name="s", type="code_judge", weight=1.0, line=40, reason="died")
    report = a_report(
        skipped("later"),
        graded("fine", "pass", soft),
        graded("near", "borderline", soft),
        errored("broken", line=30),
        graded("bad", "fail", soft, gate),
        graded("low", "fail", soft),
        graded("script", "fail", evaluators=(a_rubric(verdict="pass"), script)),
        graded("odd", "fail", evaluators=(), line=50),
    )
    assert seen(annotations.render(report)) == [
        ("error", "11", "bad%3A fail 0.00"),
        ("error", "10", "low%3A fail 0.00"),
        ("error", "40", "script%3A fail 0.00"),
        ("error", "50", "odd%3A fail"),
        ("error", "30", "broken%3A no verdict"),
        ("warning", "10", "bad%3A fail 0.00"),
        ("warning", "10", "near%3A borderline 0.70"),
        ("notice", "3", "later%3A skipped"),
    ]


def test_cases_that_lie_in_the_change_come_first() -> None:
    soft = a_criterion("soft", line=10, gated=False, gate="")
    report = a_report(
        *(graded(f"old-{n}", "fail", why="`prompts/a.md` changed") for n in range(12)),
        graded("edited", "fail", why="the case was edited: rubrics"),
        errored("new", why="the case is new"),
        graded("near", "borderline", soft, why="the case was edited: input_messages"),
    )
    assert [title for _, _, title in seen(annotations.render(report))][:3] == [
        "edited%3A fail 0.00",
        "new%3A no verdict",
        "old-0%3A fail 0.00",
    ]


@pytest.mark.parametrize(
    ("fail_on", "fail", "borderline"),
    [
        ("fail", "error", "warning"),
        ("borderline", "error", "error"),
        ("never", "warning", "warning"),
    ],
)
def test_only_what_fails_the_gate_is_an_error(
    fail_on: Literal["fail", "borderline", "never"], fail: str, borderline: str
) -> None:
    gate = GateInfo(fail_on=fail_on, passing=0.8, borderline=0.6, holds=False)
    cases = graded("a", "fail", a_criterion()), graded("b", "borderline", a_criterion(gated=False))
    levels = [level for level, _, _ in seen(annotations.render(a_report(*cases, gate=gate)))]
    assert levels == [fail, borderline]


def test_ten_of_a_level_are_shown_as_they_are() -> None:
    cases = [graded(f"c{n}", "fail", a_criterion()) for n in range(10)]
    text = annotations.render(a_report(*cases))
    assert text.count("::error ") == 10
    assert CAP not in text


def test_the_last_annotation_of_a_level_counts_the_rest() -> None:
    cases: list[CaseResult] = [
        *(skipped(f"s{n}") for n in range(12)),
        *(errored(f"e{n}") for n in range(3)),
        *(graded(f"c{n}", "fail", a_criterion()) for n in range(25)),
    ]
    lines = annotations.render(a_report(*cases)).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error"] * 10 + ["::notice"] * 10
    assert lines[8].startswith("::error file=e.yaml,line=5,title=c8%3A fail 0.00::")
    assert lines[9] == f"::error file=e.yaml,line=5,title=rubric-ci%3A 19 more errors::{CAP}"
    assert lines[19] == f"::notice file=e.yaml,line=3,title=rubric-ci%3A 3 more notices::{CAP}"
