"""Cost, tokens and judges of cases and runs, in words."""

from dataclasses import replace

import pytest

from rubric_ci.reports import usage_text
from rubric_ci.values.report import CostEstimate, JudgeInfo
from rubric_ci.values.results import Assessed, Graded, Skipped
from rubric_ci.values.usage import Usage
from tests.sample_reports import a_report

CASE = Graded(
    file="a.yaml", line=1, id="a", verdict="pass", score=1.0, reason="all of it", evaluators=()
)
MARKED = Assessed(name="tone", type="llm_judge", weight=1, line=1, score=1.0, verdict="pass")


@pytest.mark.parametrize(
    ("used", "price", "words"),
    [
        (Usage(), "", []),
        (Usage(cache_hits=2), "cached", ["no model calls", "2 from cache"]),
        (Usage(calls=1, cost_usd=0.5), "$0.5000", ["1 model call, $0.5000"]),
        (Usage(calls=1), "$0.00", ["1 model call, $0.00"]),
        (
            Usage(calls=2, cost_usd=0.5, unpriced_calls=1),
            "$0.5000 + unknown",
            ["2 model calls, $0.5000 without 1 of unknown cost"],
        ),
        (Usage(calls=2, unpriced_calls=2), "unknown", ["2 model calls, cost unknown"]),
    ],
    ids=["nothing", "cached", "priced", "free", "partly unknown", "unknown"],
)
def test_what_a_case_took(used: Usage, price: str, words: list[str]) -> None:
    case = replace(CASE, usage=used)
    assert (usage_text.price(case), usage_text.usage_of(case)) == (price, words)


def test_a_skipped_case_took_nothing() -> None:
    case = Skipped(file="a.yaml", line=1, id="a", reason="no rubrics")
    assert (usage_text.price(case), usage_text.usage_of(case)) == ("", [])


@pytest.mark.parametrize(
    ("usual", "fact"),
    [
        ("openai/a", "judge openai/a, prompt 1; other judges: openai/b"),
        ("openai/b", "judge openai/b, prompt 1; other judges: openai/a"),
        (None, "judge openai/a, openai/b"),
    ],
    ids=["one", "the other", "none is configured"],
)
def test_every_judge_is_named(usual: str | None, fact: str) -> None:
    marked = tuple(replace(MARKED, judge=judge) for judge in ("openai/b", "openai/a", ""))
    judge = JudgeInfo(model=usual, prompt_version="1") if usual else None
    report = replace(a_report(replace(CASE, evaluators=marked)), judge=judge)
    assert fact in usage_text.summary(report)
    others = usage_text.other_judges(report.cases[0], report)
    assert others == [f"tone judged by {m.judge}" for m in marked if m.judge not in {usual, ""}]


@pytest.mark.parametrize(
    ("cost", "fact"),
    [
        (0.0024, "estimate: 6 model calls, $0.0024"),
        (None, "estimate: 6 model calls, price unknown"),
    ],
)
def test_the_estimate_is_in_the_summary(cost: float | None, fact: str) -> None:
    expected = CostEstimate(requests=6, input_tokens=10, output_tokens=5, cost_usd=cost)
    assert fact in usage_text.summary(replace(a_report(CASE), forecast=expected))
