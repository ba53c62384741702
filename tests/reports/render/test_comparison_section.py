"""A comparison as markdown, text, JSON and in the page."""

import json
import re
from dataclasses import replace

import pytest

from rubric_ci.reports.render import comparison_section, formats
from rubric_ci.reports.render.comparison_section import CUT, is_cut, lower_marks, word_runs
from rubric_ci.values.report import Against
from rubric_ci.values.results import BaseResult
from tests.compared import compared
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded

BEFORE = BaseResult(outcome="graded", verdict="pass", score=1.0, answer="You get a refund today")
BASE = Against(ref="main", commit="a" * 40, committed_at="2026-11-20T10:00:00+00:00")
SECTION = (
    "**Compared with the base** `aaaaaaaaaa` of 2026-11-20: 1 broken, 1 failing before as well."
)


def test_the_section_names_the_base_and_counts_the_kinds() -> None:
    broken = graded("refund", change="broken", before=BEFORE)
    old = graded("old", reason="known", change="failing-before")
    assert [*comparison_section.section(a_report(old, broken, against=BASE))] == [SECTION]
    assert [*comparison_section.section(a_report())] == []


def test_figures_and_removed_cases_are_folded() -> None:
    assert [*comparison_section.section(WORSE)][1:] == [
        (
            "<details><summary>Figures</summary>\n\n"
            "- Mean score -0.500 (2 cases in both reports, 95 % interval -1.000 to +1.000, "
            f"p = 1): {FEW}\n\n</details>"
        ),
        "<details><summary>1 removed</summary>\n\n- **gone** · e.yaml\n\n</details>",
    ]


def answers(before: str, after: str) -> str:
    then = replace(BEFORE, answer=before)
    return comparison_section.answer_diff(graded("a", answer=after, before=then), 400)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (
            "You get a refund today",
            "You get nothing today",
            "You get ~~a refund~~ **nothing** today",
        ),
        ("a *b* c", "a `d` c", r"a ~~\*b\*~~ **\`d\`** c"),
        ("the same", "the same", ""),
        ("", "new", ""),
        ("x " + "w " * 30 + "y", "z " + "w " * 30 + "y", f"~~x~~ **z** {'w ' * 8}… {'w ' * 7}y"),
        ("a " * 500_000, "b " * 500_000, f"~~{('a ' * 200)[:-1]}~~ **{('b ' * 200)[:-1]}** {CUT}"),
    ],
    ids=["words", "signs", "the same", "none before", "a long run", "long answers"],
)
def test_word_diff_in_one_line(before: str, after: str, shown: str) -> None:
    assert answers(before, after) == shown


THEN = a_report(
    graded("a|b", "pass"), graded("same", "pass"), graded("lost", "pass"), graded("gone", "pass")
)
NOW = a_report(
    graded("a|b", "fail"), graded("same", "pass"), errored("lost"), graded("<new>", "pass")
)
FEW = "too few cases for a test"
WORSE = compared(NOW, THEN)
SAME = compared(THEN, THEN)


def test_html_shows_the_change_of_each_case() -> None:
    page = formats.render("html", WORSE)
    marks = re.findall(
        r'<b>([^<]+)</b>((?:<span class="badge|<small).*?)?<span class="score">', page
    )
    assert marks == [
        (
            "a|b",
            '<span class="badge fail">broken</span><small>pass 1.00 → fail 0.00</small>',
        ),
        ("lost", '<span class="badge errored">not comparable</span>'),
        ("same", ""),
        ("&lt;new&gt;", '<span class="badge waived">new</span>'),
    ]


def test_text() -> None:
    assert comparison_section.text(WORSE) == (
        "e.yaml: a|b: ▼ broken: pass 1.00 → fail 0.00\n"
        "e.yaml: <new>: new\n"
        "e.yaml: lost: not comparable\n"
        "e.yaml: gone: removed\n"
        "1 broken, 1 unchanged, 1 new, 1 removed, 1 not comparable\n"
        "Mean score -0.500 (2 cases in both reports, 95 % interval -1.000 to +1.000, p = 1): "
        f"{FEW}\n"
        "Removed: `gone`\n"
        "worse than the baseline: 1 case broken\n"
    )


def test_text_of_no_change() -> None:
    assert comparison_section.text(SAME) == (
        "4 unchanged\n"
        "Mean score +0.000 (4 cases in both reports, p = 1): "
        f"{FEW}\n"
        "not worse than the baseline\n"
    )


def test_markdown() -> None:
    assert comparison_section.markdown(WORSE) == (
        "## ❌ rubric-ci · worse than the baseline: 1 case broken\n\n"
        "- 1 broken, 1 unchanged, 1 new, 1 removed, 1 not comparable\n"
        "- Mean score -0.500 (2 cases in both reports, 95 % interval -1.000 to +1.000, p = 1): "
        f"{FEW}\n"
        "- Removed: `gone`\n\n"
        "| Case | File | Change |\n"
        "|:--|:--|:--|\n"
        "| `a\\|b` | `e.yaml` | ▼ broken: pass 1.00 → fail 0.00 |\n"
        "| `<new>` | `e.yaml` | new |\n"
        "| `lost` | `e.yaml` | not comparable |\n"
        "| `gone` | `e.yaml` | removed |\n"
    )
    assert comparison_section.markdown(SAME).startswith(
        "## ✅ rubric-ci · not worse than the baseline\n\n- 4 unchanged\n"
    )


def test_json() -> None:
    shown = json.loads(comparison_section.json(WORSE))
    assert (shown["version"], shown["comparison"]["regressed"], len(shown["cases"])) == (1, True, 4)
    case = shown["cases"][0]
    assert case.pop("before")["verdict"] == "pass"
    assert case == {
        "file": "e.yaml",
        "line": 3,
        "id": "a|b",
        "outcome": "graded",
        "verdict": "fail",
        "score": 0.0,
        "change": "broken",
        "change_reason": "",
    }
    assert shown["removed"] == [{"file": "e.yaml", "id": "gone"}]


def test_a_case_without_a_verdict_in_either_report() -> None:
    found = compared(a_report(errored("lost")), a_report(errored("lost")))
    assert comparison_section.text(found).splitlines()[0] == "e.yaml: lost: not comparable"


def test_words_that_differ() -> None:
    assert list(word_runs("You get a refund today", "You get nothing today")) == [
        ("same", "You get"),
        ("removed", "a refund"),
        ("added", "nothing"),
        ("same", "today"),
    ]


def test_only_the_first_words_are_compared() -> None:
    assert [is_cut("a " * n, "b") for n in (200, 201)] == [False, True]
    assert [kind for kind, _ in word_runs("a " * 201, "a " * 200)] == ["same"]


def test_only_marks_that_fell_are_named() -> None:
    met = a_criterion("c", normalised=1.0, mark=True, gated=False)
    other = replace(met, id="d")
    then = BaseResult(outcome="graded", evaluators=(a_rubric(met, other),))
    case = graded("a", "fail", a_criterion("c"), other, before=then)
    assert list(lower_marks(case)) == [("c", "1.00 → 0.00", "said")]
    assert list(lower_marks(graded("a", "fail", a_criterion("c")))) == []
