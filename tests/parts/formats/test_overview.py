"""The overview: verdict first, then three cards."""

import re
from pathlib import Path

from rubric_ci.gate.report import json_format
from tests.parts.formats import drawn
from tests.sample_reports import a_report, skipped

MIXED = Path(__file__).parents[2] / "golden/mixed.report.json"


def words(text: str) -> list[str]:
    without_titles = re.sub("<title>.*?</title>", "", text)
    return [word for word in re.split(r"<[^>]*>", without_titles) if word.strip()]


def test_overview() -> None:
    report = json_format.read(MIXED.read_text(encoding="utf-8"))
    assert words(drawn.part("overview.html", report)) == [
        "Gate fails: 1 of 4 graded cases fails (fail_on: fail) · 1 case errored",
        "angry-customer",
        (
            " · misses “Offers at least one concrete next step: a replacement, a repair or a "
            "person to talk to” (evals/support/refunds.eval.yaml:38)"
        ),
        (
            "The answer repeats the terms and then ends the conversation. Neither a "
            "replacement nor a repair nor a contact is offered, so the customer has nothing "
            "to do next."
        ),
        "“Our terms are clear: no refund after 30 days.”",
        "2 passed, 1 borderline, 1 failed, 1 errored, 1 skipped · average score 0.75",
        (
            "To do: fix what leaves 1 case without a verdict: the judge gave no usable reply "
            "in 3 attempts; the last one omitted "
        ),
        "c2",
        ".",
        "fail-on: fail · 6 of 43 cases: --changed-since",
        "target default · judge openai/gpt-6-luna",
        "6 cases",
        "2",
        " passed",
        "1",
        " borderline",
        "1",
        " failed",
        "1",
        " errored",
        "1",
        " skipped",
        "Mean score 0.75",
        "0",
        "0.5",
        "1",
        "median 0.83",
        "12 model calls, $0.0184",
        "16,360 + 2,140 tokens, 3 replies asked for again",
        "estimate: 6 model calls, $0.0034",
        "12.3 s",
        "judge openai/gpt-6-luna, prompt 1",
        "pass ≥ 0.8, borderline ≥ 0.6",
        "rubric-ci 0.1.0",
        "2026-11-21 02:00 UTC",
    ]


def test_without_a_graded_case_there_are_no_scores() -> None:
    assert "Mean score" not in drawn.part("overview.html", a_report(skipped("a")))
    assert "0 cases" in drawn.part("overview.html", a_report())
