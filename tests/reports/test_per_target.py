"""Several targets in words: the figures of each, and the cases that differ."""

from dataclasses import replace

import pytest

from rubric_ci.gate.report.matrix import matrix
from rubric_ci.parts.formats import page
from rubric_ci.reports import markdown, per_target, terminal
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import RunReport
from rubric_ci.values.usage import Usage, UsedBy
from tests.sample_reports import a_report, graded

CASES = (
    graded("same [a]", "pass", target="a"),
    graded("same [b]", "pass", target="b"),
    graded("other [a]", "pass", target="a"),
    graded("other [b]", "fail", target="b"),
)
REPORT = a_report(*CASES)


def used(usage: Usage, answers: int = 4, seconds: float = 0.0) -> UsedBy:
    timed = answers if seconds else 0
    return UsedBy(
        role="target", name="a", answers=answers, usage=usage, timed=timed, seconds=seconds
    )


def figures(report: RunReport) -> list[str]:
    found = matrix(report.cases)
    assert found
    return [f"{each.head} · {each.figures}" for each in per_target.columns(found, report)]


PRICED = Usage(calls=4, input_tokens=400, output_tokens=40, cost_usd=0.02)


@pytest.mark.parametrize(
    ("every", "shown"),
    [
        ((), "mean score 1.00"),
        ((used(PRICED),), "mean score 1.00 · $0.0050, 100 + 10 tokens per answer"),
        (
            (used(PRICED, seconds=6), used(PRICED, seconds=2)),
            "mean score 1.00 · $0.0050, 100 + 10 tokens, 1.0 s per answer",
        ),
        (
            (used(replace(PRICED, unpriced_calls=1)),),
            "mean score 1.00 · cost unknown, 100 + 10 tokens per answer",
        ),
        ((used(Usage(cost_usd=0.4)),), "mean score 1.00 · $0.1000 per answer"),
        (
            (UsedBy(role="target", name="a", answers=0, usage=Usage(), timed=2, seconds=3.0),),
            "mean score 1.00 · 1.5 s per answer",
        ),
        ((replace(used(PRICED), role="judge"),), "mean score 1.00"),
    ],
)
def test_the_figures_of_a_target(every: tuple[UsedBy, ...], shown: str) -> None:
    assert figures(replace(REPORT, used_by=every)) == [
        f"a: 2 of 2 pass · {shown}",
        "b: 1 of 2 pass · mean score 0.50",
    ]


def test_cases_that_differ_are_first() -> None:
    found = matrix(REPORT.cases)
    assert found
    assert [per_target.name(row) for row in per_target.rows(found)] == ["≠ other", "same"]


def test_no_format_has_a_mean_over_the_targets() -> None:
    alone = markdown.render(a_report(CASES[0]))
    assert ["average score" in text for text in (markdown.render(REPORT), alone)] == [False, True]
    heads = {head for table in page.tables(REPORT) for head in table.heads}
    assert heads.isdisjoint({"mean score", "mean mark"})


def test_failures_that_the_gate_is_not_about_are_folded_and_last() -> None:
    gate = GateInfo(fail_on="fail", passing=0.8, borderline=0.6, targets=("a",), holds=True)
    report = replace(REPORT, gate=gate)
    head = "Gate passes: all 2 deciding cases pass (fail_on: fail)"
    text = markdown.render(report).replace("\\_", "_")
    assert f"## ✅ {head}\n" in text
    assert " · does not decide |\n| ✅ | 3 cases pass" in text
    shown = terminal.render(report, width=100, color=False)
    assert (head in shown, "✗ other [b]" in shown) == (True, False)
    assert "✗ other [b]" in terminal.render(report, width=100, color=False, detail="full")
