"""`promptfoo eval -o results.json`: a row per test, prompt and provider.

`failureReason` is 0 (none), 1 (an assertion) or 2 (an error). A judge that could not be asked is
1, with `graderError` in the metadata of its component.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rubric_ci.parts.bring.adoption.samples import Check, Data, Sample, json_data, short, text_of

ERROR = 2


def read(text: str) -> Iterator[Sample]:
    """Yield the rows; rows of one test, prompt and provider are trials (`--repeat`).

    A test is its description, variables, assertions and threshold: its number changes.
    """
    rows = list(json_data(text).at("results").items("results", required=True))
    names = _names(rows)
    for row, (name, test) in zip(rows, names, strict=True):
        yield replace(_sample(row, name), part=test, is_run=True)


def missing(text: str) -> str:
    """Return why results are a part of an evaluation; empty: they are whole."""
    found = json_data(text).at("results")
    rows = len(list(found.items("results", required=True)))
    stats = [found.at("stats").number(key) or 0 for key in ("successes", "failures", "errors")]
    return f"{rows:,} of {int(sum(stats)):,} results are listed" if sum(stats) > rows else ""


def _sample(row: Data, name: str) -> Sample:
    grading, response, case = row.at("gradingResult"), row.at("response"), row.at("testCase")
    checks = tuple(_checks(grading))
    errors = [check.error for check in checks if check.error]
    success = row.flag("success")
    failed = row.text("error", "") or "the provider gave no output"
    infrastructure = row.number("failureReason") == ERROR or (not success and not checks)
    tags = case.at("metadata").get("tags")
    return Sample(
        id=name,
        checks=checks,
        passed=success,
        score=row.number("score"),
        error=failed if infrastructure else next(iter(errors), ""),
        question=_question(row),
        answer=text_of(response.get("output")),
        target=_provider(row),
        tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
        selector=case.text("description", ""),
        seconds=(row.number("latencyMs") or 0) / 1000 or None,
    )


def _checks(grading: Data) -> Iterator[Check]:
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
        described = case.text("description", "") or short(_question(row))
        test = [described, row.get("vars"), case.get("assert"), case.get("threshold")]
        key = json.dumps([*test, provider, prompt], sort_keys=True)
        if key not in keys:
            name = f"{described} [{provider}, prompt {prompt + 1}]" if several else described
            number = 1
            while (each := name if number == 1 else f"{name} ({number})") in taken:
                number += 1
            taken.add(each)
            keys[key] = each
        names.append((keys[key], key))
    return names


def _question(row: Data) -> str:
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
