"""A comparison by itself."""

import json
import re
from dataclasses import replace

from rubric_ci.comparison import comparison_text
from rubric_ci.comparison.compare import compare
from rubric_ci.render import formats
from tests.sample_reports import a_report, errored, graded

BEFORE = a_report(
    graded("a|b", "pass"), graded("same", "pass"), graded("lost", "pass"), graded("gone", "pass")
)
AFTER = a_report(
    graded("a|b", "fail"), graded("same", "pass"), errored("lost"), graded("<new>", "pass")
)
FEW = (
    "With fewer than 6 independent cases or clusters ({} here), "
    "no change of the mean score is significant at 0.05."
)
WORSE = compare(AFTER, BEFORE)
SAME = compare(BEFORE, BEFORE)


def test_html_shows_the_change_of_each_case() -> None:
    page = formats.render("html", replace(AFTER, comparison=WORSE))
    marks = re.findall(
        r'<b>([^<]+)</b>((?:<span class="badge|<small).*?)?<span class="score">', page
    )
    assert marks == [
        (
            "a|b",
            '<span class="badge fail">regressed</span><small>pass 1.00 → fail 0.00</small>',
        ),
        ("lost", '<span class="badge errored">errored</span><small>was pass 1.00</small>'),
        ("same", ""),
        ("&lt;new&gt;", '<span class="badge waived">new</span>'),
    ]


def test_text() -> None:
    assert comparison_text.text(WORSE) == (
        "e.yaml: a|b: ▼ regressed: pass 1.00 → fail 0.00\n"
        "e.yaml: lost: errored, was pass 1.00\n"
        "e.yaml: gone: gone, was pass 1.00\n"
        "e.yaml: <new>: new\n"
        "1 regressed, 1 errored, 1 gone, 1 new, 1 same\n"
        "Mean score -0.500 (2 cases in both reports, 95 % interval -1.000 to +1.000, p = 1): "
        "not significant\n"
        "Removed: `gone`\n"
        f"{FEW.format(2)}\n"
        "worse than the baseline: 1 case regressed\n"
    )


def test_text_of_no_change() -> None:
    assert comparison_text.text(SAME) == (
        "4 same\n"
        "Mean score +0.000 (4 cases in both reports, 95 % interval +0.000 to +0.000, p = 1): "
        "not significant\n"
        f"{FEW.format(4)}\n"
        "no regression larger than 61 points\n"
    )


def test_markdown() -> None:
    assert comparison_text.markdown(WORSE) == (
        "## ❌ rubric-ci · worse than the baseline: 1 case regressed\n\n"
        "- 1 regressed, 1 errored, 1 gone, 1 new, 1 same\n"
        "- Mean score -0.500 (2 cases in both reports, 95 % interval -1.000 to +1.000, p = 1): "
        "not significant\n"
        "- Removed: `gone`\n"
        f"- {FEW.format(2)}\n\n"
        "| Case | File | Change |\n"
        "|:--|:--|:--|\n"
        "| `a\\|b` | `e.yaml` | ▼ regressed: pass 1.00 → fail 0.00 |\n"
        "| `lost` | `e.yaml` | errored, was pass 1.00 |\n"
        "| `gone` | `e.yaml` | gone, was pass 1.00 |\n"
        "| `<new>` | `e.yaml` | new |\n"
    )
    assert comparison_text.markdown(SAME).startswith(
        "## ✅ rubric-ci · no regression larger than 61 points\n\n- 4 same\n"
    )


def test_json() -> None:
    shown = json.loads(comparison_text.json(WORSE))
    assert (shown["version"], shown["regressed"], shown["paired"]) == (1, True, 2)
    unknown = {"without_waived": None, "answer": None}
    assert shown["changes"][0] == {
        "kind": "regressed",
        "file": "e.yaml",
        "id": "a|b",
        "before": {"verdict": "pass", "score": 1.0, **unknown},
        "after": {"verdict": "fail", "score": 0.0, **unknown},
        "flips": False,
        "p_value": None,
        "answer_before": "",
    }


def test_a_case_without_a_verdict_in_either_report() -> None:
    comparison = compare(a_report(errored("lost")), a_report(errored("lost")))
    assert comparison_text.text(comparison).splitlines()[0] == "e.yaml: lost: errored"
