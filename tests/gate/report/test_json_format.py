"""Reports as JSON: round trips, stable names, what a reader tolerates and what it refuses."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import CannotReadReport
from rubric_ci.gate.report import json_format
from rubric_ci.values.comparison import Comparison
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import Assessed, Graded, Unassessed
from rubric_ci.values.scoring import MarkValue
from tests import sample_reports
from tests.sample_reports import a_criterion, a_rubric, errored, graded, skipped

SCHEMAS = Path(__file__).parents[3] / "schemas"
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
MARKS: list[MarkValue] = [True, False, 0, 1, 10, "cannot_assess"]


def a_report(*, text: str = "text", mark: MarkValue = True) -> RunReport:
    value = 0.0 if mark is False or mark == "cannot_assess" else 1.0
    facts: dict[str, Any] = {"kind": "levels", "text": text, "reasoning": text, "evidence": ""}
    criterion = a_criterion(
        **facts, weight=0.0, mark=mark, normalised=value, gated=False, gate="", votes=(mark, mark)
    )
    details = {text: [1, 2.5, None, {"a": True}]}
    rubric = a_rubric(criterion, score=1.0, verdict="pass", details=details)
    broken = Unassessed(name="lint", type="code_judge", weight=0.0, line=9, reason=text)
    return sample_reports.a_report(
        graded("one", "pass", answer=text, evaluators=(rubric, broken)),
        errored("two", text),
        skipped("three", text),
        metadata={"head_sha": "abc"},
    )


@given(text=ANY_TEXT, mark=st.sampled_from(MARKS))
def test_round_trip(text: str, mark: MarkValue) -> None:
    report = a_report(text=text, mark=mark)
    back = json_format.read(json_format.render(report).encode().decode())
    assert back == report
    case = back.cases[0]
    assert isinstance(case, Graded)
    assessed = case.evaluators[0]
    assert isinstance(assessed, Assessed)
    assert type(assessed.criteria[0].mark) is type(mark)


def test_a_lone_surrogate_changes_nothing_but_itself() -> None:
    plain = json_format.render(a_report(text="naïve §"))
    assert json_format.render(a_report(text="naïve \ud800")) == plain.replace("§", "\\ud800")


@pytest.mark.parametrize(
    "text", ["naïve \ud800", "\udfff", "👩\u200d💻 \ud83d", "\U000f0000 \ud800", "\\ud800 👩"]
)
def test_a_lone_surrogate_is_read_as_it_was_written(text: str) -> None:
    report = a_report(text=text)
    assert json_format.read(json_format.render(report)) == report


def test_the_text_is_indented() -> None:
    text = json_format.render(a_report())
    assert text == json.dumps(json.loads(text), indent=2) + "\n"


@pytest.mark.parametrize("count", [0, 1, 199, 200, 201, 401])
def test_a_report_of_any_length_is_one_json_text(count: int) -> None:
    (case, *_) = (report := a_report()).cases
    report = replace(report, cases=tuple(replace(case, id=f"a{n}") for n in range(count)))
    pieces = list(json_format.pieces(report))
    assert len(pieces) == 4 + 2 * -(-count // 200)
    text = "".join(pieces)
    data = json.loads(text)
    assert [case["id"] for case in data["cases"]] == [case.id for case in report.cases]
    assert text == json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def test_a_comparison_alone_has_the_keys_that_it_has_in_a_report() -> None:
    comparison = Comparison(source="report", compared=2, notes=("The judges differ.",))
    report = replace(a_report(), comparison=comparison)
    data = json.loads(json_format.render(report))
    alone = json.loads(json_format.render_comparison(report))
    assert alone.keys() == {"version", "comparison", "cases", "removed"}
    assert all(alone[key] == data[key] for key in ("version", "comparison", "removed"))
    compared = ("change", "change_reason", "before")
    assert [list(case) for case in alone["cases"]] == [
        ["file", "line", "id", "outcome", "verdict", "score", *compared],
        ["file", "line", "id", "outcome", *compared],
        ["file", "line", "id", "outcome", "change", "change_reason"],
    ]
    for case, whole in zip(alone["cases"], data["cases"], strict=True):
        assert case == {key: whole[key] for key in case}


def test_the_schema_is_the_one_that_is_published() -> None:
    assert json_format.schema() == (SCHEMAS / "report.schema.json").read_text("utf-8")


def test_stable_names() -> None:
    data = json.loads(json_format.render(a_report()))
    assert {"version", "verdict", "totals", "cases"} <= data.keys()
    assert {
        "graded", "passed", "borderline", "failed", "errored", "skipped", "calls", "cost_usd",
    } <= data["totals"].keys()  # fmt: skip
    case = data["cases"][0]
    assert {
        "file", "line", "id", "outcome", "verdict", "score", "reason", "why", "question",
        "expected_outcome", "answer", "evaluators",
    } <= case.keys()  # fmt: skip
    evaluator = case["evaluators"][0]
    assert {"name", "type", "weight", "score", "criteria"} <= evaluator.keys()
    assert {
        "id", "kind", "line", "mark", "normalised", "gated", "reasoning", "evidence",
    } <= evaluator["criteria"][0].keys()  # fmt: skip
    assert [case["outcome"] for case in data["cases"]] == ["graded", "errored", "skipped"]


def test_a_report_without_questions_is_read() -> None:
    data = json.loads(json_format.render(a_report()))
    for case in data["cases"]:
        del case["question"], case["expected_outcome"]
    assert json_format.read(json.dumps(data)) == a_report()


def test_unknown_keys_are_ignored() -> None:
    data = json.loads(json_format.render(a_report()))
    data["from_the_future"] = {"a": 1}
    data["cases"][0]["from_the_future"] = 1
    data["totals"]["from_the_future"] = 1
    assert json_format.read(json.dumps(data)) == a_report()


@pytest.mark.parametrize("other", ["", "\ud800"], ids=["alone", "with a lone surrogate"])
@pytest.mark.parametrize(("number", "text"), [("nan", "NaN"), ("inf", "Infinity")])
def test_a_number_that_json_lacks_is_text(number: str, text: str, other: str) -> None:
    report = a_report()
    case = report.cases[0]
    assert isinstance(case, Graded)
    changed = a_rubric(details={"x": float(number), "y": other})
    case = replace(case, evaluators=(changed,))
    data = json.loads(
        json_format.render(replace(report, cases=(case,))), parse_constant=pytest.fail
    )
    assert data["cases"][0]["evaluators"][0]["details"] == {"x": text, "y": other}


def _with(**changes: Any) -> str:
    return json.dumps({**json.loads(json_format.render(a_report())), **changes})


NO_VERSION = "not a report: no `version` number"
CUT_OFF = "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
VERDICTS = "'pass', 'borderline', 'fail', 'error', 'nothing-changed' or 'nothing-graded'"
TOTALS = json.loads(json_format.render(a_report()))["totals"]


LARGE = _with(duration_seconds=7).replace(": 7,", ": 1e999,")
REFUSED = {
    "cut off": ("{", f"not JSON ({CUT_OFF})"),
    "a list": ("[]", NO_VERSION),
    "no version": ("{}", NO_VERSION),
    "version no number": (_with(version=True), NO_VERSION),
    "newer": (_with(version=2, cases="?"), "version 2 is newer than this program's 1"),
    "unknown verdict": (_with(verdict="great"), f"not a valid report: verdict: must be {VERDICTS}"),
    "not finite": (
        _with(duration_seconds=float("inf")),
        "not JSON (Infinity is not a finite number)",
    ),
    "too large": (LARGE, "not JSON (1e999 is not a finite number)"),
    "score out of range": (
        _with(totals={**TOTALS, "score": 1.5}),
        "not a valid report: score 1.5 is not between 0 and 1",
    ),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(CannotReadReport) as caught:
        json_format.read(text, "r.json")
    assert caught.value.message == f"r.json: {message}"
    assert caught.value.hint
