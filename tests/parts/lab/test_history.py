"""Records as lines of JSON and back, wrong lines, strips of verdicts, flips and judge changes."""

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import CannotReadHistory, CannotReadReport
from rubric_ci.parts.lab.history import Strip, dump, judge_changes, load, record_of, render, strips
from rubric_ci.values.report import JudgeInfo, Sentinel, ShardInfo
from rubric_ci.values.scope import NARROWINGS, Scope
from rubric_ci.values.usage import Usage
from tests.parts.lab.nights import a_case, a_night, records
from tests.sample_reports import a_criterion, a_report, errored, graded

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
TRIALS = st.lists(st.sampled_from("pbf"), max_size=4).filter(lambda trials: len(trials) != 1)
CASES = st.builds(lambda n, v, t: a_case(n, v, *t), NAMES, st.sampled_from("pbfes"), TRIALS)
REPORTS = st.builds(
    lambda cases, names: a_report(*cases, scope=Scope().narrowed(*names)),
    st.lists(CASES),
    st.sets(st.sampled_from(NARROWINGS)),
)


@given(REPORTS)
def test_a_record_survives_its_line(report: Any) -> None:
    record = record_of(report)
    line = dump(record)
    assert "\n" not in line
    assert line.isascii()
    assert load(line, "a line") == record


def changed(**changes: Any) -> str:
    return json.dumps({**json.loads(dump(record_of(a_night(4)))), **changes})


WRONG = {
    "not JSON": (
        "{",
        "not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))",
    ),
    "a list": ("[]", "must be an object"),
    "an unknown verdict": (
        changed(verdict="splendid"),
        (
            "verdict: must be 'pass', 'borderline', 'fail', 'error', 'nothing-changed' or "
            "'nothing-graded'"
        ),
    ),
    "too few letters": (changed(verdicts="p"), "verdicts must have 5 letters"),
    "an unknown letter": (
        changed(verdicts="ppppx"),
        "verdicts may have the letters p, b, f, w, e, s only",
    ),
    "a score above 1": (changed(score=1.5), "score and pass_rate must be in 0 to 1"),
    "a negative pass rate": (changed(pass_rate=-0.5), "score and pass_rate must be in 0 to 1"),
    "an infinite cost": (changed(cost_usd=1e999), "not JSON (Infinity is not a finite number)"),
}


@pytest.mark.parametrize(("line", "problem"), WRONG.values(), ids=WRONG)
def test_wrong_lines(line: str, problem: str) -> None:
    with pytest.raises(CannotReadHistory) as caught:
        load(line, "h.jsonl:3")
    assert caught.value.message == f"h.jsonl:3: not a record of a run: {problem}"


def test_a_newer_version_names_the_fix() -> None:
    with pytest.raises(CannotReadHistory) as caught:
        load(changed(version=2, verdict="splendid"), "h.jsonl:3")
    assert caught.value.message == "h.jsonl:3: version 2 is newer than this program's 1"
    assert caught.value.hint == "upgrade rubric-ci"


def test_a_name_that_is_not_unicode() -> None:
    with pytest.raises(CannotReadReport, match="a name of the report is not valid Unicode"):
        dump(record_of(a_report(graded("\ud800", evaluators=()))))


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of the process cannot be set")
def test_a_time_without_a_zone_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        record = record_of(a_report(graded("a"), started_at="2026-01-02T03:04:05"))
    time.tzset()
    assert record.started_at == "2026-01-02T03:04:05+00:00"


def test_the_facts_of_a_run() -> None:
    one, two = graded("a", "pass", evaluators=()), graded("a", evaluators=(), file="other.yaml")
    urls = {"run_url": "https://example.com/1", "head_sha": "abc"}
    report = a_report(one, two, started_at="2026-01-02T03:04:05.678", metadata=urls)
    record = record_of(report)
    assert record.started_at == "2026-01-02T03:04:05+00:00"
    assert (record.commit, record.link) == ("abc", "https://example.com/1")
    assert record_of(a_report(one)).link == ""
    assert (record.score, record.pass_rate) == (report.totals.score, 0.5)
    east = replace(report, started_at="2026-01-02T03:04:05+02:00")
    assert record_of(east).started_at == "2026-01-02T01:04:05+00:00"


def test_cases_without_a_verdict_are_in_no_rate() -> None:
    record = record_of(a_report(graded("a", "pass", evaluators=()), errored("b")))
    assert record.pass_rate == 1.0
    assert record_of(a_report(errored("b"))).pass_rate is None


@pytest.mark.parametrize(("unpriced", "cost"), [(0, 0.25), (1, None)])
def test_a_cost_with_an_unknown_price_is_unknown(unpriced: int, cost: float | None) -> None:
    usage = Usage(calls=2, cost_usd=0.25, unpriced_calls=unpriced)
    assert record_of(a_report(graded("a", usage=usage))).cost_usd == cost


def test_every_verdict_has_a_letter() -> None:
    night = [a_case(letter, letter) for letter in "pbfes"]
    excused = graded("w", "fail", without_waived="pass", evaluators=())
    assert record_of(a_report(*night, excused)).verdicts == "pbfesw"


def test_cases_whose_trials_differ_are_named() -> None:
    cases = [a_case("one", "p", *"pp"), a_case("two", "p", *"pf"), a_case("three", "p")]
    assert record_of(a_report(*cases)).mixed == (("e.yaml", "two"),)


def test_a_judge_that_moved_is_kept() -> None:
    assert not record_of(a_night(4)).judge_moved
    sentinel = Sentinel(items=(), p_value=0.001, moved=True)
    assert record_of(a_night(4, sentinel=sentinel)).judge_moved


def test_a_shard_is_not_a_run() -> None:
    with pytest.raises(CannotReadReport, match="the report is of shard 2 of 3, not of a run"):
        record_of(a_night(0, shard=ShardInfo(index=2, count=3)))


def test_a_report_without_a_time() -> None:
    with pytest.raises(CannotReadReport, match="started_at is 'yesterday'"):
        record_of(a_night(0, started_at="yesterday"))


def test_scores_of_tags_and_the_share_to_which_criteria_do_not_apply() -> None:
    safe = a_criterion("a", tags=("safety",), mark=True, normalised=1.0, gated=False)
    post = a_criterion("post", applies_if="By post", tags=("facts",), gated=False)
    idle = replace(post, mark="not_applicable")
    cases = [graded(n, "pass", safe, each) for n, each in (("x", post), ("y", idle), ("z", idle))]
    record = record_of(a_report(*cases))
    assert record.tags == {"facts": 0.0, "safety": 1.0}
    assert record.inapplicable == {"post": (2, 3)}
    assert load(dump(record), "here") == record
    later = replace(record, tags={"facts": 0.5}, inapplicable={"post": (0, 1)})
    assert render([record, later]).splitlines()[4:10] == [
        "tags of criteria, the oldest run on the left",
        "facts: 0.00 → 0.50",
        "safety: 1.00 → -",
        "",
        "criteria with a condition, answers to which they do not apply",
        "post: 2 of 4 (50 %)",
    ]


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"tags": {"a": 1.5}}, "the scores of tags must be in 0 to 1"),
        ({"inapplicable": {"a": (2, 1)}}, "inapplicable must have the part before the whole"),
    ],
)
def test_shares_that_cannot_be(facts: dict[str, Any], problem: str) -> None:
    record = replace(record_of(a_report(graded("a"))), **facts)
    with pytest.raises(CannotReadHistory, match=problem):
        load(dump(record), "here")


FLIPS = {
    "steady": ("ppp", 0),
    "there and back": ("pfp", 2),
    "a night without a verdict is not a flip": ("pep", 0),
    "a flip behind it is": ("pef", 1),
    "a waived fail is a fail": ("fwf", 0),
    "not graded": ("sss", 0),
    "new": ("--p", 0),
}


@pytest.mark.parametrize(("letters", "flips"), FLIPS.values(), ids=FLIPS)
def test_flips(letters: str, flips: int) -> None:
    nights = [
        record_of(a_report(*[a_case("one", each.replace("w", "f"))] if each != "-" else []))
        for each in letters
    ]
    for n, letter in enumerate(letters):
        if letter == "w":
            nights[n] = replace(nights[n], verdicts="w")
    (strip,) = strips(nights)
    assert strip == Strip(key=("e.yaml", "one"), verdicts=letters, mixed=0)
    assert strip.flips == flips


def test_runs_whose_trials_differ_are_counted() -> None:
    trials = ("pp", "pf", "fp")
    nights = [record_of(a_report(a_case("one", "p", *each))) for each in trials]
    assert [strip.mixed for strip in strips(nights)] == [2]


def test_what_needs_attention_comes_first() -> None:
    found = [strip.key[1] for strip in strips(list(records()))]
    assert found == ["broken", "tone", "refund", "greeting", "late", "draft"]


def test_judge_changes() -> None:
    nights = list(records())
    other = JudgeInfo(model="opus", prompt_version="2", mode="isolated", votes=3)
    nights[5] = replace(nights[5], judge=None)
    nights[11] = replace(nights[11], judge=other)
    assert [*judge_changes(nights)] == [
        (nights[8], "gpt → opus"),
        (nights[11], "prompt 1 → 2; batched → isolated; votes 1 → 3"),
    ]


def test_a_judge_that_moved_is_a_change_once() -> None:
    nights = [replace(night, judge_moved=n in {3, 4, 6}) for n, night in enumerate(records())]
    words = "gpt marks the remembered answers differently"
    assert [*judge_changes(nights[:8])] == [(nights[3], words), (nights[6], words)]


def test_a_fail_that_a_waiver_excuses_is_waived() -> None:
    case = graded("one", "fail", waived=("c",), without_waived="pass", evaluators=())
    (strip,) = strips([record_of(a_report(case))])
    assert strip.verdicts == "w"
