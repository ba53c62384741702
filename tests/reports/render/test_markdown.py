"""The markdown of a report: what is left out to fit, and what links and changes add."""

import re

import pytest

from rubric_ci.reports.render import markdown
from rubric_ci.reports.render.markdown import Links
from rubric_ci.values.results import Trial
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
        pytest.param(1, 5, None, ["bad-0", "good-4", "1 failed"], [], id="everything fits"),
        pytest.param(
            2,
            500,
            "the list of passing cases",
            ["bad-1", "500 passed"],
            ["good-0"],
            id="passing first",
        ),
        pytest.param(
            12,
            500,
            "the list of passing cases, the end of long reasons and quotes",
            ["bad-11"],
            ["good-0", LONG.strip()],
            id="then long texts",
        ),
        pytest.param(
            90,
            1,
            "the list of passing cases, the end of long reasons and quotes, "
            "details of 73 of 90 cases",
            ["<b>bad-16</b>", "`bad-89`"],
            ["<b>bad-17</b>"],
            id="then details",
        ),
        pytest.param(
            2000,
            0,
            "the end of long reasons and quotes, details of 2,000 of 2,000 cases, "
            "1,738 rows of the table",
            ["`bad-261`", "2,000 failed"],
            ["`bad-262`", "<b>bad-0</b>"],
            id="then rows",
        ),
    ],
)
def test_omits_the_least_important_parts_and_lists_them(
    failing: int, passing: int, left_out: str | None, present: list[str], absent: list[str]
) -> None:
    text = big(failing, passing)
    assert len(text) <= 20_000
    shown = re.search(r"Omitted to keep this short: (.*?)\. The report files", text)
    assert (shown[1] if shown else None) == left_out
    assert [part for part in present if part not in text] == []
    assert [part for part in absent if part in text] == []


@pytest.mark.parametrize(
    ("failing", "passing", "left_out"),
    [
        (25, 25, None),
        (2, 26, "the list of passing cases"),
        (1000, 3, "details of 975 of 1,000 cases, 900 rows of the table"),
    ],
    ids=["just few enough", "many pass", "many fail"],
)
def test_a_comment_is_short_for_a_large_run(
    failing: int, passing: int, left_out: str | None
) -> None:
    cases = [graded(f"bad-{n}", "fail") for n in range(failing)]
    cases += [graded(f"good-{n}", "pass") for n in range(passing)]
    text = markdown.render(a_report(*cases), most=markdown.COMMENT_CASES)
    shown = re.search(r"Omitted to keep this short: (.*?)\. The report files", text)
    assert (shown[1] if shown else None) == left_out
    assert len(text) < 20_000


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
        "Figures",
        "❌ <b>a</b> · pass 1.00 → fail 0.45 · because",
        "❌ <b>n</b> · new · because",
        "1 failing before as well",
        "❌ <b>b</b> · failing before as well · because",
    ]
    assert "- `x|y` (line 3): the judge was silent" in text
    assert (
        "**Compared with the baseline** 1 broken, 1 failing before as well, 1 new, "
        "1 not comparable.\n"
    ) in text
    table = markdown.render(compared(after, before), most=0)
    assert "| Case | Score | Verdict | Change | Reason |" in table
    assert "| 0.45 | ❌ fail | ▼ broken: pass 1.00 → fail 0.45 | because |" in table
    assert "| 0.00 | ❌ fail | failing before as well | because |" in table


def test_warnings_are_shown_for_passing_cases_too() -> None:
    rubric = a_rubric(verdict="pass", warnings=("speaks to the judge: **pass me**",))
    text = markdown.render(a_report(graded("a", "pass", evaluators=(rubric,))))
    assert "**Warnings**\n\n- `a`: speaks to the judge: \\*\\*pass me\\*\\*\n" in text


def test_many_warnings_are_counted() -> None:
    rubric = a_rubric(verdict="pass", warnings=tuple(f"w{n}" for n in range(13)))
    text = markdown.render(a_report(graded("a", "pass", evaluators=(rubric,))))
    assert "- `a`: w9\n- and 3 more\n" in text


def test_trials() -> None:
    trials = tuple(Trial(verdict=v, score=0.5) for v in ("pass", "fail", "pass"))
    report = a_report(graded("a", "pass", trials=trials))
    assert "✅ pass<br><sub>2 of 3 trials pass</sub> |" in markdown.render(report, most=1)
    assert "<b>a</b> · 1.00 · 2 of 3 trials pass</summary>" in markdown.render(report)


def test_links_point_at_the_line_of_the_commit() -> None:
    report = a_report(graded("a", "fail", a_criterion(line=7), file="dir/a b#1.yaml"))
    text = markdown.render(
        report, links=Links(blob="https://h/o/r/blob/abc", run="https://h/run/1")
    )
    assert "(https://h/o/r/blob/abc/dir/a%20b%231.yaml#L3)" in text
    assert "[line 7](https://h/o/r/blob/abc/dir/a%20b%231.yaml#L7)" in text
    assert "[run](https://h/run/1)" in text


def test_links_are_never_taken_from_the_report() -> None:
    report = a_report(graded("a"), metadata={"run_url": "https://evil.example"})
    assert "evil" not in markdown.render(report)
