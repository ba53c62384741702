"""`test_run_*.json` of DeepEval's results folder: test cases with their metrics."""

from collections.abc import Iterator

from rubric_ci.parts.bring.adoption.samples import Check, Data, Sample, json_data, text_of, unit
from rubric_ci.text.numbers import plural

SUITE = "deepeval"  # the names of its files have a time


def read(text: str) -> Iterator[Sample]:
    """Yield the test cases and the conversations."""
    run = json_data(text)
    for case in run.items("testCases", required=True):
        yield _sample(case)
    for case in run.items("conversationalTestCases"):
        yield _sample(case)


def missing(text: str) -> str:
    """Return why results are a part of a run; empty: they are whole."""
    run = json_data(text)
    cases = [*run.items("testCases"), *run.items("conversationalTestCases")]
    passed = sum(case.get("success") is True for case in cases)
    said = {key: int(run.number(key) or 0) for key in ("testPassed", "testFailed")}
    if said["testPassed"] > passed or said["testFailed"] > len(cases) - passed:
        counts = ", ".join(f"`{key}` is {count:,}" for key, count in said.items())
        return f"{counts}, and {passed:,} of {plural(len(cases), 'test')} here passed"
    return ""


def _sample(case: Data) -> Sample:
    checks = tuple(map(_check, case.items("metricsData")))
    return Sample(
        id=case.text("name"),
        suite=SUITE,
        checks=checks,
        passed=case.flag("success") if checks else None,
        error=next((check.error for check in checks if check.error), ""),
        skipped="" if checks else "no metric was measured",
        question=text_of(case.get("input")),
        expected=text_of(case.get("expectedOutput")),
        answer=text_of(case.get("actualOutput")),
        tags=tuple(each.value for each in case.items("tags") if isinstance(each.value, str)),
        seconds=case.number("runDuration"),
    )


def _check(metric: Data) -> Check:
    name, threshold = metric.text("name"), metric.number("threshold")
    score, error = unit(name, metric.number("score"))
    lost = metric.text("error", "")
    if score is None and not error and not lost:
        lost = "no score"
    return Check(
        name=name,
        passed=metric.flag("success"),
        score=score,
        text=name if threshold is None else f"{name} >= {threshold:g}",
        reason=metric.text("reason", ""),
        error=f"{name}: {lost}" if lost else error,
    )
