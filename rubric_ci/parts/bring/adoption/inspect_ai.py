"""Inspect's log as JSON: `--log-format json`, or `inspect log dump` of an `.eval` file.

A log holds no verdict: C and true pass, I, N and false do not, P is 0.5 and a number a score. The
status of a log can be `success` while samples have errors. Epochs are trials, and so are samples of
several logs of one task with the same arguments, solver and model.
"""

from collections.abc import Iterator, Set
from math import isnan

from rubric_ci.parts.bring.adoption.samples import Check, Data, Sample, json_data, text_of, unit
from rubric_ci.text.numbers import plural

_TASK = ("task", "task_args", "solver", "solver_args", "model_args", "model_roles")
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def read(text: str) -> Iterator[Sample]:
    """Yield the samples of a log."""
    log = json_data(text)
    about = log.at("eval")
    suite = about.text("task_file", "") or about.text("task", "")
    part = text_of({key: about.get(key) for key in _TASK if about.get(key)})
    for sample in _samples(log):
        yield _sample(sample, suite, about.text("model", ""), part)


def missing(text: str) -> str:
    """Return why a log is of a part of its task; empty: it is whole."""
    log = json_data(text)
    status, found = log.text("status", "success"), list(_samples(log))
    planned = _planned(log, {text_of(each.get("id")) for each in found})
    counts = f"{len(found):,} of {planned:,} samples" if planned else plural(len(found), "sample")
    if log.get("invalidated") is True:
        return f"the log is invalidated: {counts}"
    if status != "success":
        return f"the log's status is `{status}`: {counts}"
    return f"the log has {counts}" if planned > len(found) else ""


def _samples(log: Data) -> Iterator[Data]:
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


def _sample(sample: Data, suite: str, model: str, part: str) -> Sample:
    checks = tuple(_checks(sample))
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


def _checks(sample: Data) -> Iterator[Check]:
    for scorer, score in sample.entries("scores"):
        value, reason = score.get("value"), score.text("explanation", "")
        parts = value if isinstance(value, dict) else {"": value}
        for part, each in parts.items():
            yield _check(f"{scorer}/{part}".rstrip("/"), each, reason)


def _check(name: str, value: object, reason: str) -> Check:
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
