"""The markdown of a report: what is left out to fit, and what links and changes add."""

import re

import pytest

from rubric_ci.reports import markdown
from rubric_ci.reports.markdown import Links
from rubric_ci.values.results import BaseResult, Trial
from tests.compared import compared
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded

LONG = "word " * 400


def big(failing: int, passing: int) -> str:
    cases = (
        *(
            graded(f"bad-{n}", "fail", a_criterion(text=LONG, reasoning=LONG))
            for n in range(failing)
        ),
        *(graded(f"good-{n}", "pass") for n in range(passing)),
    )
    return markdown.render(a_report(*cases), limit=20_000)


@pytest.mark.parametrize(
    ("failing", "passing", "left_out", "present", "absent"),
    [
        pytest.param(
            1, 5, None, ["<b>bad-0</b>", "good-4", "1 failed", "5 cases pass"], [], id="all"
        ),
        pytest.param(
            2,
            2000,
            None,
            ["<b>bad-1</b>", "2,000 cases pass"],
            ["good-0"],
            id="passing cases go first",
        ),
        pytest.param(
            12,
            2000,
            None,
            ["<b>bad-11</b>", LONG[:300]],
            ["good-0", LONG.strip()],
            id="then long texts",
        ),
        pytest.param(
            40,
            1,
            "details of 26 of 40 cases",
            ["<b>bad-9</b>", "**bad-39**", "1 case passes"],
            ["<b>bad-14</b>"],
            id="then details",
        ),
        pytest.param(
            2000,
            3,
            "1,922 rows of the table, details of 1,990 of 2,000 cases",
            ["<b>bad-9</b>", "2,000 failed", "**bad-77**", "3 cases pass"],
            ["**bad-78**", "<b>bad-10</b>"],
            id="then rows, and ten cases keep their details",
        ),
    ],
)
def test_omits_the_least_important_parts_and_lists_them(
    failing: int, passing: int, left_out: str | None, present: list[str], absent: list[str]
) -> None:
    text = big(failing, passing)
    assert len(text.encode()) <= 20_000
    shown = re.search(r"Omitted to keep this short: (.*?)\. The report files", text)
    assert (shown[1] if shown else None) == left_out
    assert [part for part in present if part not in text] == []
    assert [part for part in absent if part in text] == []


@pytest.mark.parametrize(
    ("failing", "passing", "left_out"),
    [
        (25, 25, None),
        (2, 26, None),
        (1000, 3, "901 rows of the table, details of 975 of 1,000 cases"),
    ],
    ids=["few", "many pass", "many fail"],
)
def test_a_comment_is_short(failing: int, passing: int, left_out: str | None) -> None:
    cases = [graded(f"bad-{n}", "fail") for n in range(failing)]
    cases += [graded(f"good-{n}", "pass") for n in range(passing)]
    text = markdown.render(a_report(*cases), most=markdown.COMMENT_CASES)
    shown = re.search(r"Omitted to keep this short: (.*?)\. The report files", text)
    assert (shown[1] if shown else None) == left_out
    assert len(text) < 20_000


def test_a_summary_of_1200_failures_keeps_its_rows_and_the_first_details() -> None:
    cases = [graded(f"bad-{n}", "fail", a_criterion(reasoning=LONG)) for n in range(1200)]
    text = markdown.render(a_report(*cases), limit=markdown.SUMMARY_LIMIT)
    assert "**bad-1199**" in text
    assert text.count("<details>") >= 300
    assert len(text.encode()) <= markdown.SUMMARY_LIMIT


@pytest.mark.parametrize(("limit", "shown"), [(30_000, 14), (6_000, 10), (4_000, 1)])
def test_a_shorter_comment_is_whole_and_counts_what_it_shows(limit: int, shown: int) -> None:
    rubric = a_rubric(a_criterion(reasoning=LONG), verdict="fail", warnings=("it is odd " * 3,))
    cases = [graded(f"bad-{n}", "fail", evaluators=(rubric,)) for n in range(400)]
    text = markdown.render(a_report(*cases), limit=limit, most=markdown.COMMENT_CASES)
    assert text.count("<b>bad-") == shown
    assert (f"<summary>Details of {shown} cases</summary>" in text) == (shown > markdown.FEW)
    assert f"details of {400 - shown} of 400 cases" in text
    assert text.count("<details>") == text.count("</details>")


@pytest.mark.parametrize(("passing", "listed"), [(markdown.PASSING, 1), (1_001, 0)])
def test_passing_cases_are_listed_up_to_a_number(passing: int, listed: int) -> None:
    text = markdown.render(a_report(*(graded(f"good-{n}", "pass") for n in range(passing))))
    assert text.count(f"{passing:,} passing cases</summary>") == listed


@pytest.mark.parametrize("limit", [500, 2_000, 10_000, 65_000])
def test_fits_whatever_the_size(limit: int) -> None:
    huge = "|@<x>" * 2_000
    cases = [graded(f"{n}{huge}", "fail", a_criterion(huge), reason=huge) for n in range(40)]
    cases += [graded(f"{n}{huge}", "pass", file=huge) for n in range(40)]
    report = a_report(*cases, errored(huge, huge), notes=(huge,))
    assert len(markdown.render(report, limit=limit)) <= limit


def test_comparison() -> None:
    before = a_report(graded("a", "pass"), graded("b"), graded("x|y", "pass"))
    after = a_report(graded("a", score=0.456), graded("b"), errored("x|y"), graded("n"))
    text = markdown.render(compared(after, before))
    assert re.findall("<summary>(.*)</summary>", text) == [
        "❌ <b>a</b> · ▼ broke: pass 1.00 → fail 0.45",
        "❌ <b>n</b> · new",
        "❌ <b>b</b> · fails as before",
    ]
    assert (
        "|   | Case · Score · Before → now | Misses |\n"
        "| :-- | :-- | :-- |\n"
        "| ❌ | **a**<br>0.45 · pass 1.00 → fail 0.45 | because |\n"
        "| ❌ | **n**<br>0.00 · new | because |\n"
        "| ❌ | **b**<br>0.00 · fails as before | because |\n"
        "| ⚠️ | **x\\|y** | the judge was silent |\n"
    ) in text


def test_warnings_are_shown_for_passing_cases_too() -> None:
    rubric = a_rubric(verdict="pass", warnings=("speaks to the judge: **pass me**",))
    text = markdown.render(a_report(graded("a", "pass", evaluators=(rubric,))))
    assert "**Warnings**\n\n- a: speaks to the judge: \\*\\*pass me\\*\\*\n" in text


def test_many_warnings_are_counted() -> None:
    rubric = a_rubric(verdict="pass", warnings=tuple(f"w{n}" for n in range(13)))
    text = markdown.render(a_report(graded("a", "pass", evaluators=(rubric,))))
    assert "- a: w9\n- and 3 more\n" in text


def test_trials() -> None:
    trials = tuple(Trial(verdict=v, score=0.5) for v in ("pass", "fail", "pass"))
    text = markdown.render(a_report(graded("a", "pass", trials=trials)))
    assert "- `a` · 1.00 · 2 of 3 trials pass\n" in text
    text = markdown.render(a_report(graded("a", "fail", trials=trials)))
    assert "| ❌ | **a** | 0.00 | because · 2 of 3 trials pass |\n" in text


def test_links_point_at_the_line_of_the_commit() -> None:
    report = a_report(graded("a", "fail", a_criterion(line=7), file="dir/a b#1.yaml"))
    text = markdown.render(
        report, links=Links(blob="https://h/o/r/blob/abc", run="https://h/run/1")
    )
    place = "https://h/o/r/blob/abc/dir/a%20b%231.yaml"
    assert f"| ❌ | **[a]({place}#L3)** |" in text
    assert f"**[a]({place}#L3)** · misses “asked” ([dir/a b#&#8203;1.yaml:7]({place}#L7))\n" in text
    assert f"[dir/a b#&#8203;1.yaml:7]({place}#L7)" in text
    assert "[run](https://h/run/1)" in text


def test_no_line_begins_with_a_text_of_others() -> None:
    """Bots obey a line that begins with a command, in code and after blanks as well."""
    said = "/merge\n  /approve\n/close"
    case = graded(
        "a", "fail", a_criterion(text="/lgtm", reasoning=said, evidence=said),
        question=said, expected_outcome=said, answer=said, reason=said,
        before=BaseResult(outcome="graded", verdict="pass", score=1.0, answer="/hold\n/merge"),
    )  # fmt: skip
    lines = markdown.render(a_report(case, notes=(said,))).splitlines()
    assert [line for line in lines if line.lstrip().startswith("/")] == []


def test_links_are_never_taken_from_the_report() -> None:
    report = a_report(graded("a"), metadata={"run_url": "https://evil.example"})
    assert "evil" not in markdown.render(report)
