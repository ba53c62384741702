"""What a change broke, as markdown."""

from dataclasses import replace

from rubric_ci.model.report import Against
from rubric_ci.model.results import Assessed, BaseResult
from rubric_ci.render import base_text, markdown
from tests.sample_reports import a_report, graded

BEFORE = BaseResult(outcome="graded", verdict="pass", score=1.0, answer="You get a refund today")
BASE = Against(ref="main", commit="a" * 40, committed_at="2026-11-20T10:00:00+00:00")
SECTION = """\
### Compared with the base

`aaaaaaaaaa` of 2026-11-20: 1 broken by this change, 1 failing before as well.

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
    assert base_text.render(report, most=5, texts=True) == SECTION
    page = markdown.render(report)
    assert page.index("### Compared with the base") < page.index("| Case |")


def test_without_a_base_there_is_no_section() -> None:
    assert base_text.render(a_report(), most=5, texts=True) == ""


def test_word_diff() -> None:
    assert base_text.word_diff("You get a refund today", "You get nothing today") == (
        "= You get\n- a refund\n+ nothing\n= today"
    )


def test_word_diff_of_long_answers_is_bounded() -> None:
    text = base_text.word_diff("a " * 500_000, "b " * 500_000)
    assert text.endswith("\n… only the first 200 words are compared")
    assert len(text) < 1_000


def test_no_line_of_a_word_diff_is_a_command_of_a_bot() -> None:
    assert base_text.word_diff("/merge it", "/merge this") == "= /merge\n- it\n+ this"


def test_the_reason_of_an_evaluator_without_criteria_is_shown() -> None:
    def script(score: float) -> Assessed:
        return Assessed(
            name="script", type="code_judge", weight=1.0, line=4, score=score,
            verdict="pass" if score else "fail", reasoning="exit status 1",
        )  # fmt: skip

    before = replace(BEFORE, evaluators=(script(1.0),))
    case = graded("a", evaluators=(script(0.0),), answer="b", change="broken", before=before)
    page = base_text.render(a_report(case, against=BASE), most=5, texts=True)
    assert page.endswith("- **script** 1.00 → 0.00: exit status 1")
