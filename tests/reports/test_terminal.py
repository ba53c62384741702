"""The terminal's table: widths, colours, and text that does not steer the terminal."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from rubric_ci.gate.report import json_format
from rubric_ci.reports import terminal
from rubric_ci.values.comparison import Comparison
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.results import BaseResult
from rubric_ci.values.usage import Usage
from tests.sample_reports import a_criterion, a_report, a_rubric, graded

REGRESSION = GateInfo(fail_on="regression", passing=0.8, borderline=0.6, holds=False)
GOLDEN = Path(__file__).parents[1] / "golden"
MIXED, HOSTILE = (
    json_format.read((GOLDEN / f"{name}.report.json").read_text(encoding="utf-8"))
    for name in ("mixed", "hostile")
)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_exceeds_the_width(width: int) -> None:
    for report in (MIXED, HOSTILE):
        lines = terminal.render(report, width=width, color=False).splitlines()
        assert [line for line in lines if cell_len(line) > width] == []


def test_colour_only_if_requested() -> None:
    plain = terminal.render(MIXED, width=100, color=False)
    coloured = terminal.render(MIXED, width=100, color=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31m" in coloured
    unstyled = re.sub(r"\x1b\[[\d;]*m", "", coloured)
    assert [line.rstrip() for line in unstyled.splitlines()] == plain.splitlines()


def test_text_cannot_steer_the_terminal() -> None:
    assert not re.search(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", terminal.render(HOSTILE, width=90, color=False)
    )


def test_text_is_not_markup() -> None:
    case = graded("[red]x[/red]", "fail", a_criterion(":tada:[/]"))
    text = terminal.render(a_report(case), width=90, color=True)
    assert "[red]x[/red]" in text
    assert ":tada:[/]" in terminal.render(a_report(case), width=90, color=False, detail="full")


def test_what_was_missed_stands_below_the_reasoning() -> None:
    steps = a_rubric(name="steps", reasoning="called: read", misses=("find with 1", "write"))
    case = graded("c", "fail", evaluators=(steps,))
    lines = (
        "  steps (rubric) · 0.00\n"
        "      called: read\n      missed: find with 1\n      missed: write\n"
    )
    assert lines in terminal.render(a_report(case), width=90, color=False)
    assert lines in terminal.cases([case], "", width=90, color=False) + "\n"


def test_the_only_failure_is_shown_once_with_its_place() -> None:
    case = graded("worn", "fail", a_criterion(line=30, file="rubrics/tone.rubric.yaml"))
    text = terminal.render(a_report(case), width=90, color=False)
    assert text == (
        "Gate fails: 1 of 1 case fails (fail_on: fail)\n"
        "worn · misses “asked” (rubrics/tone.rubric.yaml:30)\n"
        "    said\n"
        "    “quote”\n"
        "1 failed · average score 0.00\n"
        "╭───┬──────┬───────┬────────╮\n"
        "│   │ Case │ Score │ Misses │\n"
        "├───┼──────┼───────┼────────┤\n"
        "│ ✗ │ worn │ 0.00  │ asked  │\n"
        "╰───┴──────┴───────┴────────╯\n"
        "no model calls · 1.0 s\n"
    )


def test_a_present_fault_is_said_to_be_one() -> None:
    fault = a_criterion(text="Contains `Hello`", mark=True, fault=True, points=2.0)
    text = terminal.render(a_report(graded("a", "fail", fault)), width=90, color=False)
    assert "\na · fault: Contains `Hello` (e.yaml:5)\n" in text
    assert "│ ✗ │ a    │ 0.00  │ fault: Contains `Hello` │\n" in text


def test_a_row_names_as_many_misses_as_fit_in_two_lines_of_a_comment() -> None:
    texts = ("Greets.", "Names the period of 30 days", "x " * 40, "Thanks")
    missed = (a_criterion(f"c{n}", text=text) for n, text in enumerate(texts))
    text = terminal.render(a_report(graded("a", "fail", *missed)), width=90, color=False)
    assert "│ Greets; Names the period of 30 days · and 2 more │\n" in text


def test_the_check_that_loses_most_is_said_first() -> None:
    script = a_rubric(name="compiles", type="code_judge", weight=3.0, line=8)
    lost = a_rubric(a_criterion(gated=False))
    case = graded("a", "fail", evaluators=(lost, script), reason="largest loss: `compiles`")
    text = terminal.render(a_report(case), width=90, color=False)
    assert "\na · largest loss: `compiles` (e.yaml:8)\n" in text
    assert "│ ✗ │ a    │ 0.00  │ compiles (code_judge); asked │\n" in text


def test_a_failing_check_next_to_one_missed_criterion_is_shown() -> None:
    script = a_rubric(name="compiles", type="code_judge", reasoning="exit status 1")
    case = graded("worn", "fail", evaluators=(a_rubric(a_criterion()), script))
    text = terminal.render(a_report(case), width=90, color=False)
    assert "  compiles (code_judge) · 0.00\n      exit status 1\n" in text


def test_a_case_without_missed_criteria_is_shown_with_the_place_of_its_check() -> None:
    text = terminal.render(a_report(graded("worn", "fail")), width=90, color=False)
    assert "\nworn · because (e.yaml:4)\n" in text


def test_a_case_that_passes_and_is_worse_under_the_rubrics_of_the_base_is_shown_as_red() -> None:
    facts = {"change": "broken", "change_reason": "under the rubrics of the base"}
    case = graded("worn", "pass", **facts, before=BaseResult(outcome="graded", verdict="pass"))
    report = a_report(case, graded("fine", "pass"), comparison=Comparison(source="report"))
    text = terminal.render(replace(report, gate=REGRESSION), width=90, color=False)
    assert "\nworn · under the rubrics of the base (e.yaml:3)\n" in text
    assert "│ ✗ │ worn          │ 1.00  │ under the rubrics of the base │        │\n" in text
    assert "│ ✓ │ 1 case passes │" in text


def test_no_table_where_every_case_passes() -> None:
    text = terminal.render(a_report(graded("worn", "pass")), width=90, color=False)
    assert text == (
        "Gate passes: the only case passes (fail_on: fail)\n"
        "1 passed · average score 1.00\n"
        "no model calls · 1.0 s\n"
    )


def test_verbose_adds_question_expected_outcome_and_answer() -> None:
    text = terminal.render(MIXED, width=90, color=False, detail="full")
    assert (
        "✗ angry-customer · 0.35\n"
        "  evals/support/refunds.eval.yaml:33 · target default · ran because the prompt\n"
        "  `prompts/support.md` changed\n"
        "    Question:\n"
        "      [system]\n"
        "      You answer for the shop.\n"
        "\n"
        "      [user]\n"
        "      Your lamp broke after five weeks!\n"
        "      I want my money back NOW.\n"
        "    Expected outcome:\n"
        "      Stays calm, apologises\n"
        "      and offers a next step.\n"
        "    Answer:\n"
        "      I am sorry that you feel that way. Our terms are clear: no refund after 30 days.\n"
        "\n"
        "      Have a nice day!\n"
        "  ✗ Offers at least one concrete next step: a replacement, a repair or a person to talk\n"
    ) in text
    assert "I bought the lamp" in text
    assert "Question" not in terminal.render(MIXED, width=90, color=False)


@pytest.mark.parametrize("width", [40, 200])
def test_verbose_text_cannot_steer_the_terminal(width: int) -> None:
    text = terminal.render(HOSTILE, width=width, color=False, detail="full")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert [line for line in text.splitlines() if cell_len(line) > width] == []


def test_files_are_named_last() -> None:
    text = terminal.render(MIXED, width=90, color=False, files=(".rubric-ci/report.json",))
    assert text.rstrip().splitlines()[-1] == (
        "6 of 43 cases: --changed-since · 12 model calls, $0.0184 · 12.3 s · .rubric-ci/report.json"
    )
    pages = (".rubric-ci/report.json", ".rubric-ci/report.html")
    text = terminal.render(MIXED, width=90, color=False, files=pages)
    assert text.endswith(" 12.3 s · .rubric-ci/report.html\n")


def test_a_large_run_lists_what_needs_attention() -> None:
    cases = [graded(f"c{n}", "fail" if n < 70 else "pass", a_criterion()) for n in range(300)]
    text = terminal.render(a_report(*cases), width=90, color=False)
    assert "21 more rows in the report files" in text
    assert "│ ✓ │ 230 cases pass " in text
    assert "the details of 19 more cases are in the report files\n" in text
    assert "│ c48 " in text
    assert "│ c50 " not in text
    assert text.count("\n✗ c") == 50


def test_a_colour_ends_with_its_word() -> None:
    case = graded("one", "fail", a_criterion("tone", line=9), a_criterion("other"))
    text = terminal.render(a_report(case), width=90, color=True)
    assert (
        "  \x1b[1;31m✗ \x1b[0m\x1b[1masked\x1b[0m · not satisfied · required · tone · e.yaml:9\n"
    ) in text
    assert "\x1b[1;31m✗ \x1b[0m\x1b[1mone\x1b[0m · 0.00\n" in text


@pytest.mark.parametrize("width", [40, 60])
def test_a_narrow_terminal_breaks_no_short_word(width: int) -> None:
    reason = "the answer raises an error"
    case = graded("refund-in-time", "fail", reason=reason, usage=Usage(calls=1, cost_usd=0.01))
    text = terminal.render(a_report(case), width=width, color=False)
    assert max(map(len, text.splitlines())) <= width
    words = {word for line in text.splitlines() for word in line.split()}
    assert {"refund-in-time", "answer", "raises", "error"} <= words
    assert text.splitlines()[-1] == "1 model call, $0.0100 · 1.0 s"
