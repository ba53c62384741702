"""The body of the issue about nights."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from rubric_ci.gate.comparison import reference
from rubric_ci.gate.comparison.reference import Decision, ReferenceLog
from rubric_ci.gate.report.decision import with_gate
from rubric_ci.parts.lab import issue
from rubric_ci.parts.lab.issue import Subject
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult
from rubric_ci.values.scope import Scope
from tests.compared import compared
from tests.contract.fake_github import GitHub, serving
from tests.nights import case, night
from tests.sample_reports import a_criterion, a_report, errored, graded

SITE = "https://github.example/acme/app"
FIRST = night(1, case("a", 15), case("b", 0, 15))
QUIET = replace(FIRST.gate, fail_on="never")
WORSE = (case("a", 0, 10), case("b", 0, 3))
GOOD = (case("a", 3), case("b", 0, 3))
OUTAGE = (errored("a"), errored("b"))


def subject(*heads: RunReport) -> Subject:
    """Return the subject of the last night; all are compared with the first one."""
    measured = FIRST.started_at
    decision = Decision(
        reason="first run",
        commit=FIRST.metadata["head_sha"],
        measured_at=measured,
        decided_at=measured,
        cases=2,
    )
    log = ReferenceLog(decisions=(decision,)).with_night(reference.night_of(FIRST))
    for head in heads:
        last = compared(head, FIRST, log=log)
        log = log.with_night(reference.night_of(last))
    return Subject(head=last, log=log)


def test_gate_and_reference_are_apart_with_dates_evidence_and_links() -> None:
    two = f"[2026-01-02]({SITE}/actions/runs/2) ([`2222222222`]({SITE}/commit/{'2' * 40}))"
    one = f"[2026-01-01]({SITE}/actions/runs/1) ([`1111111111`]({SITE}/commit/{'1' * 40}))"
    assert (
        issue.render(subject(night(2, *WORSE), night(3, *WORSE)), SITE)
        == f"""\
## rubric-ci · the gate fails; 1 case broke: a

- ❌ Gate fails: 2 of 2 cases fail (fail\\_on: fail); it fails since {one}
- 🔻 **Baseline:** 1 case broke: a, since {two}

| Broken | Since | Evidence |
| :-- | :-- | :-- |
| `a`<br><sub>e.yaml</sub> | {two} | ▼ broke: pass 1.00 → fail 0.00<br>\
Passed 15 of 15 before, 0 of 10 now<br>`greets`: It lacks \\| the word. |

| Fails the gate | Why |
| :-- | :-- |
| `a`<br><sub>e.yaml</sub> | because |
| `b`<br><sub>e.yaml</sub> | because |

<details><summary>Figures</summary>

- 0 pass (1 before)
- a broke. Passed 15 of 15 before, 0 of 10 now
- Fails as before: b
- Baseline: commit `1111111111` of 2026-01-01, 2 days old, 15 trials per case (first run)

</details>

[Run]({SITE}/actions/runs/3) · [Changes since the baseline]({SITE}/compare/{"1" * 40}...{"3" * 40})
"""
    )


def test_the_page_of_the_run_is_linked() -> None:
    head = night(2, case("a", 3), case("b", 3))
    head = replace(head, metadata={**head.metadata, "page": "report.html"})
    *_, last = issue.render(subject(head), SITE).splitlines()
    run = f"{SITE}/actions/runs/2"
    page = f"[Every answer, mark and quote]({run}#artifacts): artifact `report.html`"
    assert last == (
        f"[Run]({run}) · {page} · "
        f"[Changes since the baseline]({SITE}/compare/{'1' * 40}...{'2' * 40})"
    )


@pytest.mark.parametrize(
    ("head", "headline", "red", "complete"),
    [
        (night(2, case("a", 3), case("b", 3)), "the gate passes; nothing broke", False, True),
        (night(2, *GOOD), "the gate fails; nothing broke", True, True),
        (
            replace(night(2, *WORSE), gate=QUIET),
            "the gate passes; worse tonight: a; confirmed if it is worse tomorrow",
            False,
            True,
        ),
        (night(2, *OUTAGE), "no verdict; not compared: no verdict", False, False),
        (night(2, errored("a"), case("b", 0, 3)), "the gate fails; nothing broke", True, False),
    ],
    ids=["fixed", "failing from the start", "the first night", "an outage", "failing all the same"],
)
def test_why_an_issue_is_open(head: RunReport, headline: str, *, red: bool, complete: bool) -> None:
    about = subject(head)
    assert issue.render(about, SITE).startswith(f"## rubric-ci · {headline}\n")
    assert (about.red, about.complete) == (red, complete)


@pytest.mark.parametrize(
    ("nights", "suspected"),
    [
        pytest.param([WORSE], True, id="first"),
        pytest.param([WORSE, WORSE], False, id="second in a row"),
        pytest.param([WORSE, GOOD, WORSE], True, id="a good night between"),
        pytest.param([WORSE, OUTAGE, WORSE], False, id="an outage between"),
        pytest.param([GOOD], False, id="not worse"),
    ],
)
def test_the_second_night_in_a_row_confirms(
    nights: Sequence[Sequence[CaseResult]], *, suspected: bool
) -> None:
    about = subject(*(night(n, *cases) for n, cases in enumerate(nights, 2)))
    about = replace(about, head=replace(about.head, gate=QUIET))
    assert (about.suspected, about.red) == (suspected, about.worse)
    line = "⚠️ **Baseline:** Worse tonight: a; confirmed if it is worse tomorrow"
    assert (line in issue.render(about, SITE)) == suspected


def test_nights_without_a_verdict_do_not_restart_the_count() -> None:
    about = subject(night(2, *GOOD), night(3, *OUTAGE), night(4, *GOOD))
    assert "it fails since [2026-01-01]" in issue.render(about, SITE)
    about = subject(night(2, case("a", 3), case("b", 3)), night(3, *GOOD))
    assert "it fails since [2026-01-03]" in issue.render(about, SITE)


ALWAYS = "the gate fails every night since 2026-01-01"


@pytest.mark.parametrize(
    ("nights", "wrong"),
    [
        ([(case("a", 3), case("b", 3))], ""),
        ([GOOD], f"1 case fails; {ALWAYS}"),
        ([(case("a", 3), case("b", 3)), GOOD], "1 case fails"),
        ([WORSE], f"2 cases fail; {ALWAYS}"),
        ([WORSE] * 2, f"2 cases fail; {ALWAYS}; 1 case broke: a, every night since 2026-01-02"),
    ],
    ids=["nothing", "since the first night", "since this night", "suspected", "confirmed"],
)
def test_the_title_is_what_is_wrong(nights: Sequence[Sequence[CaseResult]], wrong: str) -> None:
    about = subject(*(night(n, *cases) for n, cases in enumerate(nights, 2)))
    assert issue.wrong(about) == wrong


def test_a_baseline_without_a_log() -> None:
    head = a_report(graded("a"))
    about = Subject(head=compared(head, a_report(graded("a", "pass"))))
    assert (
        issue.render(about, SITE)
        == """\
## rubric-ci · the gate fails; 1 case broke: a

- ❌ Gate fails: 1 of 1 case fails (fail\\_on: fail)
- 🔻 **Baseline:** 1 case broke: a

| Broken | Since | Evidence |
| :-- | :-- | :-- |
| `a`<br><sub>e.yaml</sub> | this run | ▼ broke: pass 1.00 → fail 0.00<br>\
Passed before, not now, in one answer each |

| Fails the gate | Why |
| :-- | :-- |
| `a`<br><sub>e.yaml</sub> | because |

<details><summary>Figures</summary>

- 0 pass (1 before)
- a broke. Passed before, not now, in one answer each

</details>
"""
    )


def broken(count: int, reason: str = "because", **names: str) -> Subject:
    """Return the subject of a run that broke so many cases."""
    every = [f"{n:02}" for n in range(count)] if count > 1 else [names.get("name", "a")]
    missed = [a_criterion(f"c{n}", reasoning=reason) for n in range(4)]
    head = a_report(*(graded(name, "fail", *missed, reason=reason) for name in every))
    return Subject(head=compared(head, a_report(*(graded(name, "pass") for name in every))))


def lines(about: Subject) -> list[str]:
    return issue.render(about, SITE).splitlines()


@pytest.mark.parametrize(("count", "more"), [(25, []), (26, ["and 1 more: see the run."] * 2)])
def test_a_table_has_25_rows(count: int, more: list[str]) -> None:
    """Both tables say how many are left out."""
    found = lines(broken(count))
    assert sum(line.startswith("| `") for line in found) == 50
    assert [line for line in found if line.startswith("and ")] == more


ONCE = "Passed before, not now, in one answer each"


def test_texts_are_cut_and_three_criteria_are_shown() -> None:
    rows = [line for line in lines(broken(1, "x" * 301, name="|" * 121)) if line.startswith("| `")]
    bars = r"\|" * 119
    name = f"| `{bars}…`<br><sub>e.yaml</sub> |"
    cut = f"{'x' * 299}…"
    reasons = "<br>".join(f"`c{n}`: {cut}" for n in range(3))
    assert rows == [
        f"{name} this run | ▼ broke: pass 1.00 → fail 0.00<br>{ONCE}<br>{reasons} |",
        f"{name} {cut} |",
    ]
    whole = lines(broken(1, "x" * 300, name="a" * 120))
    assert f"| `{'a' * 120}`<br><sub>e.yaml</sub> | {'x' * 300} |" in whole


def test_the_judge_moved() -> None:
    about = broken(1)
    assert about.head.comparison
    moved = replace(about.head.comparison, judge_moved="the judge changed")
    about = Subject(head=replace(about.head, comparison=moved))
    assert (about.moved, about.red) == (True, True)
    assert issue.wrong(about) == "1 case fails; the judge moved"
    alone = Subject(head=a_report(graded("a", "pass")))
    assert (alone.moved, alone.red, alone.complete) == (False, False, True)


def test_more_cases_are_broken_later() -> None:
    """The title names the first night since which the same cases are broken."""
    a, b = case("a", 0, 10), case("b", 0, 10)
    log_from = night(1, case("a", 15), case("b", 15))
    nights = [night(n, a, case("b", 10)) for n in (2, 3)] + [night(n, a, b) for n in (4, 5)]
    log = subject(FIRST).log
    assert log
    log = replace(log, nights=()).with_night(reference.night_of(log_from))
    titles = []
    for head in nights:
        last = compared(head, log_from, log=log)
        titles.append(issue.wrong(Subject(head=last, log=log)))
        log = log.with_night(reference.night_of(last))
    every = "the gate fails every night since 2026-01-02"
    assert titles == [
        "1 case fails",
        f"1 case fails; {every}; 1 case broke: a, every night since 2026-01-02",
        f"2 cases fail; {every}; 1 case broke: a, every night since 2026-01-02",
        f"2 cases fail; {every}; 2 cases broke: a, b, every night since 2026-01-04",
    ]


@pytest.mark.parametrize(
    ("then", "now", "shown"),
    [
        ("a", "b", f"[Changes since the baseline]({SITE}/compare/a...b)"),
        ("a", "a", ""),
        ("", "b", ""),
        ("a", "", ""),
    ],
)
def test_the_link_to_the_changes(then: str, now: str, shown: str) -> None:
    head = a_report(graded("a"), metadata={"head_sha": now} if now else {})
    base = a_report(graded("a"), metadata={"head_sha": then} if then else {})
    links = [line for line in lines(Subject(head=compared(head, base))) if "compare/" in line]
    assert links == [shown] * bool(shown)


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub()) as server:
        yield server


def environment(github: GitHub) -> dict[str, str]:
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": github.url,
        "GITHUB_EVENT_NAME": "schedule",
        "GITHUB_REPOSITORY": "acme/app",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_TOKEN": "actions",
    }


def test_the_issue_is_kept(github: GitHub) -> None:
    """It opens on the second night, is left alone without a verdict, and closes when green."""
    nights: dict[str, list[Sequence[CaseResult]]] = {
        "quiet": [GOOD],
        "suspected": [WORSE],
        "confirmed": [WORSE, WORSE],
        "no verdict": [OUTAGE],
        "green": [WORSE, GOOD],
    }
    url = "https://github.example/acme/app/issues/1"
    done = []
    for heads in nights.values():
        about = subject(*(night(n, *cases) for n, cases in enumerate(heads, 2)))
        about = replace(about, head=replace(about.head, gate=QUIET))
        done.append(issue.update_issue(about, "Nights", environment(github)))
    assert done == [
        "issue not needed",
        "issue not needed; worse tonight; it opens if it is worse tomorrow",
        f"issue #1 opened: {url}",
        "issue left as it is: some case has no verdict",
        f"issue #1 closed: {url}",
    ]
    title = "Nights: 1 case broke: a, every night since 2026-01-02"
    assert [(each.title, each.state) for each in github.issues.values()] == [(title, "closed")]


def test_a_run_without_a_verdict_that_is_red_opens_it(github: GitHub) -> None:
    about = subject(night(2, errored("a"), case("b", 0, 3)))
    line = issue.update_issue(about, "Nights", environment(github))
    assert line == "issue #1 opened: https://github.example/acme/app/issues/1"


def test_a_run_that_ended_early_is_not_complete() -> None:
    head = with_gate(a_report(graded("a", "pass"), scope=Scope().narrowed("interrupted")))
    assert not Subject(head=head).complete


def test_an_issue_that_cannot_be_kept(github: GitHub, capsys: pytest.CaptureFixture[str]) -> None:
    about = broken(1)
    assert issue.update_issue(about, "Nights", {}) == (
        "no issue: not a workflow run, so the repository is unknown"
    )
    around = environment(github) | {"GITHUB_ACTIONS": "true"}
    without = {k: v for k, v in around.items() if k != "GITHUB_TOKEN"}
    github.tokens.clear()
    for given, why in (
        (without, "GITHUB_TOKEN is not set, so nothing can be posted"),
        (around, "GitHub does not accept the token (401"),
    ):
        line = issue.update_issue(about, "Nights", given)
        assert line.startswith(f"not posted: {why}")
        assert f"::warning title=rubric-ci::{line}\n" == capsys.readouterr().out
