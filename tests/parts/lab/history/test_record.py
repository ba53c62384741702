"""Records as lines of JSON: a round trip for every record, an error for every wrong line."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import CannotReadHistory, CannotReadReport
from rubric_ci.parts.lab.history.from_report import record_of
from rubric_ci.parts.lab.history.record import dump, load
from rubric_ci.values.scope import NARROWINGS, Scope
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
    "an infinite cost": (
        changed(cost_usd=1e999),
        "not JSON (Infinity is not a finite number)",
    ),
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
