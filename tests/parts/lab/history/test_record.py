"""Records as lines of JSON: a round trip for every record, an error for every wrong line."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import CannotReadHistory, CannotReadReport
from rubric_ci.parts.lab.history.from_report import (
    mean_interval,
    rate_interval,
    record_of,
)
from rubric_ci.parts.lab.history.record import (
    case_records,
    digest,
    dump,
    dump_cases,
    load,
    parse_cases,
)
from rubric_ci.values.comparison import Sentinel
from rubric_ci.values.report import ShardInfo
from rubric_ci.values.results import Trial
from rubric_ci.values.scope import NARROWINGS, Scope
from rubric_ci.values.scoring import Verdict
from tests.parts.lab.history.nights import a_case, a_night
from tests.sample_reports import a_report, graded

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


@given(REPORTS)
def test_a_record_has_every_case_with_its_trials(report: Any) -> None:
    kept = list(case_records(record_of(report)))
    assert [each.key for each in kept] == [(case.file, case.id) for case in report.cases]
    for case, each in zip(report.cases, kept, strict=True):
        if case.outcome == "graded":
            expected = case.trials or (Trial(verdict=case.verdict, score=case.score),)
            assert (each.verdict, each.score, each.trials) == (case.verdict, case.score, expected)
        else:
            assert (each.verdict, each.score, each.trials) == (case.outcome, None, ())


def test_further_trials_and_clusters_are_kept() -> None:
    trial = Trial(verdict="pass", score=1.0)
    case = graded("a", "pass", trials=(trial,) * 3, further_trials=2, cluster="talk", evaluators=())
    (kept,) = case_records(record_of(a_report(case)))
    assert (kept.further_trials, kept.cluster) == (2, "talk")


def test_cases_of_a_cluster_are_one_observation() -> None:
    verdicts: tuple[Verdict, ...] = ("pass", "pass", "fail", "pass", "fail", "fail")
    talks = ("one", "one", "two", "two", "", "")
    cases = [
        graded(f"c{n}", verdict, score=float(verdict == "pass"), cluster=talk, evaluators=())
        for n, (verdict, talk) in enumerate(zip(verdicts, talks, strict=True))
    ]
    record = record_of(a_report(*cases))
    clusters = [[1.0, 1.0], [0.0, 1.0], [0.0], [0.0]]
    assert (record.score, record.pass_rate) == (mean_interval(clusters), rate_interval(clusters))
    assert [each.cluster for each in case_records(record)] == list(talks)


def test_a_judge_that_moved_is_kept() -> None:
    quiet = record_of(a_night(4))
    moved = record_of(a_night(4, sentinel=Sentinel(items=(), p_value=0.001, moved=True)))
    assert not quiet.judge_moved
    assert moved.judge_moved
    assert load(dump(moved), "a line") == moved


def test_every_verdict_has_a_letter() -> None:
    night = [a_case(letter, letter) for letter in "pbfes"]
    excused = graded("w", "fail", without_waived="pass", evaluators=())
    record = record_of(a_report(*night, excused))
    assert record.results.verdicts == "pbfesw"
    assert load(dump(record), "a line") == record
    rows = list(case_records(record))
    assert [(each.verdict, each.further_trials, each.cluster) for each in rows] == [
        (verdict, 0, "")
        for verdict in ("pass", "borderline", "fail", "errored", "skipped", "waived")
    ]
    assert rows[-1].trials == (Trial(verdict="fail", score=0.0),)


def test_a_line_of_an_earlier_version_has_neither_of_the_later_keys() -> None:
    known = record_of(a_night(4))
    data = {name: value for name, value in json.loads(dump(known)).items() if name != "judge_moved"}
    assert load(json.dumps(data), "a line") == known


def test_the_names_of_the_cases_and_the_identity_of_a_run() -> None:
    record = record_of(a_night(4))
    names = (("e.yaml", "a"), ("é.yaml", "b"))
    assert dump_cases(names) == '[["e.yaml","a"],["\\u00e9.yaml","b"]]'
    assert parse_cases(dump_cases(names), "a line") == names
    assert parse_cases("[]", "a line") == ()
    with pytest.raises(CannotReadHistory, match=r"^a line: not a record of a run: "):
        parse_cases('[["e.yaml",1]]', "a line")
    assert len(digest(record)) == 32
    assert digest(record) == digest(load(dump(record), "a line"))
    assert digest(record) != digest(replace(record, commit="1"))


def changed(**changes: Any) -> str:
    return json.dumps({**json.loads(dump(record_of(a_night(4)))), **changes})


def results(**changes: Any) -> str:
    found = json.loads(changed())["results"]
    return changed(results={**found, **changes})


WRONG = {
    "not JSON": (
        "{",
        "not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))",
    ),
    "a list": ("[]", "must be an object"),
    "a newer version": (changed(version=2, verdict="splendid"), None),
    "an unknown verdict": (
        changed(verdict="splendid"),
        (
            "verdict: must be 'pass', 'borderline', 'fail', 'error', 'nothing-changed' or "
            "'nothing-graded'"
        ),
    ),
    "a score above 1": (
        results(scores=[1.0, 2.0, 1.0, 1.0, None]),
        "a score must be in 0 to 1",
    ),
    "a missing score": (
        results(scores=[1.0, None, 1.0, 1.0, None]),
        "graded cases have a score, and other cases have none",
    ),
    "a short column": (results(scores=[1.0]), "each column of results must have 5 entries"),
    "an unknown letter": (
        results(verdicts="ppppx"),
        "results.verdicts may have the letters p, b, f, w, e, s only",
    ),
    "trials without scores": (
        results(trials=["pp", "", "", "", ""]),
        "results.trials and results.trial_scores must have one entry per trial",
    ),
    "more scores than trials": (
        results(trials=["pp", "", "", "", ""], trial_scores=[[1.0], [], [], [], []]),
        "results.trials and results.trial_scores must have one entry per trial",
    ),
    "an unknown letter of a trial": (
        results(trials=["pe", "", "", "", ""], trial_scores=[[1.0, 0.5], [], [], [], []]),
        "results.trials and results.trial_scores must have one entry per trial",
    ),
    **{
        f"a short column of {name}": (
            results(**{name: [value]}),
            "each column of results must have 5 entries",
        )
        for name, value in {
            "trials": "", "trial_scores": [], "further_trials": 0, "clusters": "c"
        }.items()
    },
    "a score of a trial": (
        results(trials=["pp", "", "", "", ""], trial_scores=[[1.0, 2.0], [], [], [], []]),
        "a score must be in 0 to 1",
    ),
    **{
        f"{name}, {end}": (
            changed(**{name: {"value": 0.5, "low": 0.5, "high": 0.5, end: 1.5}}),
            "a score must be in 0 to 1",
        )
        for name in ("score", "pass_rate")
        for end in ("value", "low", "high")
    },
    "an infinite cost": (
        changed(cost_usd=1e999),
        "not JSON (Infinity is not a finite number)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("line", "problem"), WRONG.values(), ids=WRONG)
def test_wrong_lines(line: str, problem: str | None) -> None:
    with pytest.raises(CannotReadHistory) as caught:
        load(line, "h.jsonl:3")
    if problem:
        assert caught.value.message == f"h.jsonl:3: not a record of a run: {problem}"
    assert caught.value.message.startswith("h.jsonl:3: ")


def test_a_newer_version_names_the_fix() -> None:
    with pytest.raises(CannotReadHistory) as caught:
        load(changed(version=2, verdict="splendid"), "h.jsonl:3")
    assert caught.value.message == "h.jsonl:3: version 2 is newer than this program's 1"
    assert caught.value.hint == "upgrade rubric-ci"


def test_a_shard_is_not_a_run() -> None:
    with pytest.raises(CannotReadReport, match="the report is of shard 2 of 3, not of a run"):
        record_of(a_night(0, shard=ShardInfo(index=2, count=3)))


def test_a_report_without_a_time() -> None:
    with pytest.raises(CannotReadReport, match="started_at is 'yesterday'"):
        record_of(a_night(0, started_at="yesterday"))


def test_a_name_that_is_not_unicode() -> None:
    with pytest.raises(CannotReadReport, match="a name of the report is not valid Unicode"):
        dump(record_of(a_report(graded("\ud800", evaluators=()))))
