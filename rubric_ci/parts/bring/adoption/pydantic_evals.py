"""The report of Pydantic Evals as JSON: `TypeAdapter(EvaluationReport).dump_json(report)`.

Cases with one `source_case_name` are its trials. Assertions decide. Scores and labels are shown;
without assertions, scores between 0 and 1 count.
"""

from collections.abc import Iterator

from rubric_ci.parts.bring.adoption.samples import Check, Data, Sample, json_data, text_of, unit


def read(text: str) -> Iterator[Sample]:
    """Yield the cases that were evaluated, then those whose task failed."""
    report = json_data(text)
    suite = report.text("dataset_name", "") or report.text("name", "")
    for case in report.items("cases", required=True):
        yield _sample(case, suite)
    for case in report.items("failures"):
        yield _case(case, suite, error=case.text("error_message"))


def _sample(case: Data, suite: str) -> Sample:
    failures = [
        f"{each.text('name')}: {each.text('error_message')}"
        for each in case.items("evaluator_failures")
    ]
    assertions = [
        Check(name=name, passed=each.flag("value"), reason=each.text("reason", ""))
        for name, each in case.entries("assertions")
    ]
    found = assertions or list(_scores(case))
    facts = {kind: {n: e.get("value") for n, e in case.entries(kind)} for kind in _SHOWN}
    errors = [*failures, *(check.error for check in found if check.error)]
    return _case(
        case,
        suite,
        checks=tuple(found),
        error=next(iter(errors), ""),
        details={kind: values for kind, values in facts.items() if values},
    )


_SHOWN = ("scores", "labels", "metrics")


def _scores(case: Data) -> Iterator[Check]:
    for name, each in case.entries("scores"):
        score, error = unit(name, each.number("value"))
        yield Check(
            name=name, passed=None, score=score, error=error, reason=each.text("reason", "")
        )


def _case(
    case: Data,
    suite: str,
    *,
    checks: tuple[Check, ...] = (),
    error: str = "",
    details: dict[str, object] | None = None,
) -> Sample:
    return Sample(
        id=case.text("source_case_name", "") or case.text("name"),
        suite=suite,
        checks=checks,
        error=error,
        skipped="" if checks or error else "no assertion and no score",
        question=text_of(case.get("inputs")),
        expected=text_of(case.get("expected_output")),
        answer=text_of(case.get("output")),
        seconds=case.number("task_duration"),
        details=details,
        is_run=bool(case.text("source_case_name", "")),
    )
