"""Results of promptfoo, Inspect, DeepEval and Pydantic Evals, each as the tool writes it in JSON.

promptfoo: `failureReason` is 0 (none), 1 (an assertion) or 2 (an error). A judge that could not be
asked is 1, with `graderError` in the metadata of its component.

Inspect: `--log-format json`, or `inspect log dump` of an `.eval` file. A log holds no verdict: C
and true pass, I, N and false do not, P is 0.5 and a number a score. The status of a log can be
`success` while samples have errors. Epochs are trials, and so are samples of several logs of one
task with the same arguments, solver and model.

DeepEval: `test_run_*.json` of its results folder, test cases with their metrics.

Pydantic Evals: `TypeAdapter(EvaluationReport).dump_json(report)`. Cases with one `source_case_name`
are its trials. Assertions decide. Scores and labels are shown; without assertions, scores between 0
and 1 count.
"""

import json
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from math import isnan

from rubric_ci.parts.bring.adopted_samples import (
    Check,
    Data,
    Sample,
    free,
    json_data,
    short,
    text_of,
    unit,
)
from rubric_ci.text.numbers import plural

_PROMPTFOO_ERROR = 2


def read_promptfoo(text: str) -> Iterator[Sample]:
    """Yield the rows; rows of one test, prompt and provider are trials (`--repeat`).

    A test is its description, variables, assertions and threshold: its number changes.
    """
    rows = list(json_data(text).at("results").items("results", required=True))
    names = _names(rows)
    for row, (name, test) in zip(rows, names, strict=True):
        yield replace(_promptfoo_sample(row, name), part=test, is_run=True)


def missing_in_promptfoo(text: str) -> str:
    """Return why results are a part of an evaluation; empty: they are whole."""
    found = json_data(text).at("results")
    rows = len(list(found.items("results", required=True)))
    stats = [found.at("stats").number(key) or 0 for key in ("successes", "failures", "errors")]
    return f"{rows:,} of {int(sum(stats)):,} results are listed" if sum(stats) > rows else ""


def _promptfoo_sample(row: Data, name: str) -> Sample:
    grading, response, case = row.at("gradingResult"), row.at("response"), row.at("testCase")
    checks = tuple(_components(grading))
    errors = [check.error for check in checks if check.error]
    success = row.flag("success")
    failed = row.text("error", "") or "the provider gave no output"
    infrastructure = row.number("failureReason") == _PROMPTFOO_ERROR or (not success and not checks)
    tags = case.at("metadata").get("tags")
    return Sample(
        id=name,
        checks=checks,
        passed=success,
        score=row.number("score"),
        error=failed if infrastructure else next(iter(errors), ""),
        question=_variables(row),
        answer=text_of(response.get("output")),
        target=_provider(row),
        tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
        selector=case.text("description", ""),
        seconds=(row.number("latencyMs") or 0) / 1000 or None,
    )


def _components(grading: Data) -> Iterator[Check]:
    for part in grading.items("componentResults"):
        assertion = part.at("assertion")
        kind = assertion.text("type", "check")
        reason = part.text("reason", "")
        lost = part.at("metadata").get("graderError") is True
        weight = assertion.number("weight")
        yield Check(
            name=assertion.text("metric", kind),
            passed=part.flag("pass"),
            score=part.number("score"),
            weight=1.0 if weight is None else weight,
            text=short(f"{kind}: {text_of(assertion.get('value'))}"),
            reason=reason,
            error=reason or "the grader gave no mark" if lost else "",
        )


def _names(rows: Sequence[Data]) -> list[tuple[str, str]]:
    """Return an id for each row: its description, else its variables, made distinct by test.

    The second text is the test with its provider and prompt.
    """
    several = len({(_provider(row), row.get("promptIdx")) for row in rows}) > 1
    keys: dict[str, str] = {}
    taken: set[str] = set()
    names = []
    for row in rows:
        provider, prompt = _provider(row), int(row.number("promptIdx") or 0)
        case = row.at("testCase")
        described = case.text("description", "") or short(_variables(row))
        test = [described, row.get("vars"), case.get("assert"), case.get("threshold")]
        key = json.dumps([*test, provider, prompt], sort_keys=True)
        if key not in keys:
            name = f"{described} [{provider}, prompt {prompt + 1}]" if several else described
            keys[key] = free(name, taken)
        names.append((keys[key], key))
    return names


def _variables(row: Data) -> str:
    """Return the variables: a prompt is the same for all tests."""
    found = {name: text_of(each.value) for name, each in row.entries("vars")}
    if len(found) == 1:
        return next(iter(found.values()))
    return "\n".join(f"{name}: {value}" for name, value in found.items())


def _provider(row: Data) -> str:
    provider = row.at("provider")
    if isinstance(provider.value, str):
        return provider.value
    return provider.text("label", "") or provider.text("id", "")


_INSPECT_TASK = ("task", "task_args", "solver", "solver_args", "model_args", "model_roles")
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def read_inspect(text: str) -> Iterator[Sample]:
    log = json_data(text)
    about = log.at("eval")
    suite = about.text("task_file", "") or about.text("task", "")
    part = text_of({key: about.get(key) for key in _INSPECT_TASK if about.get(key)})
    for sample in _inspect_samples(log):
        yield _inspect_sample(sample, suite, about.text("model", ""), part)


def missing_in_inspect(text: str) -> str:
    """Return why a log is of a part of its task; empty: it is whole."""
    log = json_data(text)
    status, found = log.text("status", "success"), list(_inspect_samples(log))
    planned = _planned(log, {text_of(each.get("id")) for each in found})
    counts = f"{len(found):,} of {planned:,} samples" if planned else plural(len(found), "sample")
    if log.get("invalidated") is True:
        return f"the log is invalidated: {counts}"
    if status != "success":
        return f"the log's status is `{status}`: {counts}"
    return f"the log has {counts}" if planned > len(found) else ""


def _inspect_samples(log: Data) -> Iterator[Data]:
    """Yield the samples; a log whose run was killed may have none yet."""
    return log.items("samples", required=log.text("status", "success") == "success")


def _planned(log: Data, ids: Set[str]) -> int:
    """Return how many samples a log should have; 0: it does not say."""
    about = log.at("eval")
    if total := int(log.at("results").number("total_samples") or 0):
        return total
    if about.at("config").get("limit") or about.at("config").get("sample_id"):
        return 0
    cases, epochs = about.at("dataset").number("samples"), about.at("config").number("epochs")
    return int((cases or 0) * (epochs or 1)) if len(ids) <= (cases or 0) else 0


def _inspect_sample(sample: Data, suite: str, model: str, part: str) -> Sample:
    checks = tuple(_scores(sample))
    error = sample.at("error").text("message", "")
    unscored = next((check.error for check in checks if check.error), "")
    if not checks and not error:
        error = "no scorer gave a score"
    return Sample(
        id=text_of(sample.get("id")),
        suite=suite,
        checks=checks,
        error=error or unscored,
        question=_messages(sample.get("input")),
        expected=text_of(sample.get("target")),
        answer=_answer(sample.at("output")),
        target=model,
        seconds=sample.number("total_time"),
        part=part,
        is_run=True,
    )


def _scores(sample: Data) -> Iterator[Check]:
    for scorer, score in sample.entries("scores"):
        value, reason = score.get("value"), score.text("explanation", "")
        parts = value if isinstance(value, dict) else {"": value}
        for part, each in parts.items():
            yield _score(f"{scorer}/{part}".rstrip("/"), each, reason)


def _score(name: str, value: object, reason: str) -> Check:
    if isinstance(value, bool):
        return Check(name=name, passed=value, reason=reason)
    if isinstance(value, str) and value in LETTERS:
        number = LETTERS[value]
        return Check(name=name, passed=None, score=number, reason=reason, text=f"{name} is C")
    if not isinstance(value, int | float) or isnan(value):
        return Check(name=name, passed=None, error=f"{name}: unscored", reason=reason)
    score, error = unit(name, float(value))
    return Check(name=name, passed=None, score=score, error=error, reason=reason)


def _answer(output: Data) -> str:
    if found := output.text("completion", ""):
        return found
    for choice in output.items("choices"):
        return _content(choice.at("message").get("content"))
    return ""


def _messages(value: object) -> str:
    if isinstance(value, list):
        return "\n\n".join(
            _content(each.get("content")) for each in value if isinstance(each, dict)
        )
    return text_of(value)


def _content(value: object) -> str:
    if isinstance(value, list):
        return "".join(text_of(part.get("text")) for part in value if isinstance(part, dict))
    return text_of(value)


DEEPEVAL_SUITE = "deepeval"  # the names of its files have a time


def read_deepeval(text: str) -> Iterator[Sample]:
    run = json_data(text)
    yield from map(_deepeval_case, run.items("testCases", required=True))
    yield from map(_deepeval_case, run.items("conversationalTestCases"))


def missing_in_deepeval(text: str) -> str:
    """Return why results are a part of a run; empty: they are whole."""
    run = json_data(text)
    cases = [*run.items("testCases"), *run.items("conversationalTestCases")]
    passed = sum(case.get("success") is True for case in cases)
    said = {key: int(run.number(key) or 0) for key in ("testPassed", "testFailed")}
    if said["testPassed"] > passed or said["testFailed"] > len(cases) - passed:
        counts = ", ".join(f"`{key}` is {count:,}" for key, count in said.items())
        return f"{counts}, and {passed:,} of {plural(len(cases), 'test')} here passed"
    return ""


def _deepeval_case(case: Data) -> Sample:
    checks = tuple(map(_metric, case.items("metricsData")))
    return Sample(
        id=case.text("name"),
        suite=DEEPEVAL_SUITE,
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


def _metric(metric: Data) -> Check:
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


def read_pydantic_evals(text: str) -> Iterator[Sample]:
    """Yield the cases that were evaluated, then those whose task failed."""
    report = json_data(text)
    suite = report.text("dataset_name", "") or report.text("name", "")
    for case in report.items("cases", required=True):
        yield _pydantic_case(case, suite)
    for case in report.items("failures"):
        yield _pydantic_case(case, suite, failure=case.text("error_message"))


_SHOWN = ("scores", "labels", "metrics")


def _pydantic_case(case: Data, suite: str, failure: str = "") -> Sample:
    lost = [
        f"{each.text('name')}: {each.text('error_message')}"
        for each in case.items("evaluator_failures")
    ]
    assertions = [
        Check(name=name, passed=each.flag("value"), reason=each.text("reason", ""))
        for name, each in case.entries("assertions")
    ]
    checks = tuple(assertions or _unasserted(case))
    facts = {kind: {n: e.get("value") for n, e in case.entries(kind)} for kind in _SHOWN}
    error = next(filter(None, (failure, *lost, *(check.error for check in checks))), "")
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
        details={kind: values for kind, values in facts.items() if values},
        is_run=bool(case.text("source_case_name", "")),
    )


def _unasserted(case: Data) -> Iterator[Check]:
    for name, each in case.entries("scores"):
        score, error = unit(name, each.number("value"))
        yield Check(
            name=name, passed=None, score=score, error=error, reason=each.text("reason", "")
        )
