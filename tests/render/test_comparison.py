"""A comparison as markdown, text, JSON and in the page."""

import json
import re
from dataclasses import replace

from rubric_ci.model.report import Against
from rubric_ci.model.results import Assessed, BaseResult
from rubric_ci.render import comparison, formats, markdown
from rubric_ci.render.comparison import is_cut, lower_marks, word_runs
from tests.compared import compared
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded

BEFORE = BaseResult(outcome="graded", verdict="pass", score=1.0, answer="You get a refund today")
BASE = Against(ref="main", commit="a" * 40, committed_at="2026-11-20T10:00:00+00:00")
SECTION = """\
### Compared with the base

`aaaaaaaaaa` of 2026-11-20: 1 broken, 1 failing before as well.

❌ **refund** · pass → fail · confirmed

Question: May I return it?

```diff
= You get
- a refund
+ nothing
= today
```

<details><summary>1 failing before as well</summary>

- **old** · known

</details>"""


def test_what_the_change_broke_comes_before_what_failed_before() -> None:
    broken = graded(
        "refund",
        verdict="fail",
        score=0.0,
        question="May I return it?",
        answer="You get nothing today",
        change="broken",
        change_reason="confirmed",
        before=BEFORE,
    )
    old = graded("old", verdict="fail", score=0.0, reason="known", change="failing-before")
    report = a_report(old, broken, against=BASE)
    assert comparison.section(report, most=5, texts=True) == SECTION
    page = markdown.render(report)
    assert page.index("### Compared with the base") < page.index("| Case |")


def test_without_a_comparison_there_is_no_section() -> None:
    assert comparison.section(a_report(), most=5, texts=True) == ""


def test_word_diff() -> None:
    assert comparison.word_diff("You get a refund today", "You get nothing today") == (
        "= You get\n- a refund\n+ nothing\n= today"
    )


def test_word_diff_of_long_answers_is_bounded() -> None:
    text = comparison.word_diff("a " * 500_000, "b " * 500_000)
    assert text.endswith("\n… only the first 200 words are compared")
    assert len(text) < 1_000


def test_no_line_of_a_word_diff_is_a_command_of_a_bot() -> None:
    assert comparison.word_diff("/merge it", "/merge this") == "= /merge\n- it\n+ this"


def test_the_reason_of_an_evaluator_without_criteria_is_shown() -> None:
    def script(score: float) -> Assessed:
        return Assessed(
            name="script", type="code_judge", weight=1.0, line=4, score=score,
            verdict="pass" if score else "fail", reasoning="exit status 1",
        )  # fmt: skip

    before = replace(BEFORE, evaluators=(script(1.0),))
    case = graded("a", evaluators=(script(0.0),), answer="b", change="broken", before=before)
    page = comparison.section(a_report(case, against=BASE), most=5, texts=True)
    assert page.endswith("- **script** 1.00 → 0.00: exit status 1")


THEN = a_report(
    graded("a|b", "pass"), graded("same", "pass"), graded("lost", "pass"), graded("gone", "pass")
)
NOW = a_report(
    graded("a|b", "fail"), graded("same", "pass"), errored("lost"), graded("<new>", "pass")
)
FEW = (
    "With fewer than 6 independent cases or clusters ({} here), "
    "no change of the mean score is significant at 0.05."
)
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
    assert comparison.text(WORSE) == (
        "e.yaml: a|b: ▼ broken: pass 1.00 → fail 0.00\n"
        "e.yaml: <new>: new\n"
        "e.yaml: lost: not comparable\n"
        "e.yaml: gone: removed\n"
        "1 broken, 1 unchanged, 1 new, 1 removed, 1 not comparable\n"
        "Mean score -0.500 (2 cases in both reports, 95 % interval -1.000 to +1.000, p = 1): "
        "not significant\n"
        "Removed: `gone`\n"
        f"{FEW.format(2)}\n"
        "worse than the baseline: 1 case broken\n"
    )


def test_text_of_no_change() -> None:
    assert comparison.text(SAME) == (
        "4 unchanged\n"
        "Mean score +0.000 (4 cases in both reports, 95 % interval +0.000 to +0.000, p = 1): "
        "not significant\n"
        f"{FEW.format(4)}\n"
        "no regression larger than 61 points\n"
    )


def test_markdown() -> None:
    assert comparison.markdown(WORSE) == (
        "## ❌ rubric-ci · worse than the baseline: 1 case broken\n\n"
        "- 1 broken, 1 unchanged, 1 new, 1 removed, 1 not comparable\n"
        "- Mean score -0.500 (2 cases in both reports, 95 % interval -1.000 to +1.000, p = 1): "
        "not significant\n"
        "- Removed: `gone`\n"
        f"- {FEW.format(2)}\n\n"
        "| Case | File | Change |\n"
        "|:--|:--|:--|\n"
        "| `a\\|b` | `e.yaml` | ▼ broken: pass 1.00 → fail 0.00 |\n"
        "| `<new>` | `e.yaml` | new |\n"
        "| `lost` | `e.yaml` | not comparable |\n"
        "| `gone` | `e.yaml` | removed |\n"
    )
    assert comparison.markdown(SAME).startswith(
        "## ✅ rubric-ci · no regression larger than 61 points\n\n- 4 unchanged\n"
    )


def test_json() -> None:
    shown = json.loads(comparison.json(WORSE))
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
    assert comparison.text(found).splitlines()[0] == "e.yaml: lost: not comparable"


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
