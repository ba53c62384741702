"""A report without secrets."""

from dataclasses import replace

import pytest

from rubric_ci.gate.report import json_format
from rubric_ci.gate.report.report_file import without_secrets
from rubric_ci.text.redact import redactor
from rubric_ci.values.results import Trial
from tests.sample_reports import a_criterion, a_report, a_rubric, graded


def test_every_text_but_names_and_fixed_words() -> None:
    case = replace(
        graded("borderline", "borderline", file="borderline.yaml", reason="no borderline"),
        answer="on the borderline",
    )
    report = a_report(case, notes=("a borderline note",))
    redacted = without_secrets(report, redactor(["borderline"]))
    (found,) = redacted.cases
    assert (found.file, found.id) == ("borderline.yaml", "borderline")
    assert (found.reason, redacted.notes) == ("no ***", ("a *** note",))
    assert json_format.read(json_format.render(redacted)) == redacted


def test_answers_that_are_equal_without_the_secret_are_one_answer() -> None:
    trials = tuple(
        Trial(verdict="pass", score=1.0, answer=answer, marks=(True,))
        for answer in ("key secret-11", "key secret-11", "key secret-22", "key secret-22")
    )
    met = a_criterion(mark=True, normalised=1.0, gated=False)
    report = a_report(
        replace(
            graded("a", "pass"),
            evaluators=(a_rubric(met, score=1.0, verdict="pass"),),
            trials=trials,
        )
    )
    redacted = without_secrets(report, redactor(["secret-11", "secret-22"]))
    assert [noise.repeated for noise in report.totals.judge_noise] == [2]
    assert [noise.repeated for noise in redacted.totals.judge_noise] == [1]
    assert json_format.read(json_format.render(redacted)) == redacted


def test_without_a_secret_nothing_is_copied() -> None:
    report = a_report(graded("a", "pass"))
    assert without_secrets(report, redactor(["s3cret"])) is report


@pytest.mark.parametrize(
    "secret",
    [
        'pa"ss\\word',
        "first line\nsecond line",
        "tab\tand\x01control\x7f",
        "gehe\u00efm \U0001f511 \u2028",
        "not \udc80 UTF-8",
        "<&'s3cret'>",
    ],
)
@pytest.mark.parametrize("before", ["", "\\", '"', "\ud800"])
def test_every_secret_is_found_in_the_json(secret: str, before: str) -> None:
    report = a_report(replace(graded("a", "pass"), answer=f"{before}{secret} and more"))
    (found,) = without_secrets(report, redactor([secret])).cases
    assert found == replace(graded("a", "pass"), answer=f"{before}*** and more")
