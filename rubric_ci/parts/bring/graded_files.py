"""Gradings of Agent Skills, JUnit's XML and tables of marks: forms that several programs write.

Agent Skills: `benchmark.json`, or the `grading.json` of one run. `expectations` is skill-creator's
name, `assertion_results` agentskills.io's. Neither marks a failure of the infrastructure: a run
without a grading is left out by the tool.

JUnit: most test runners write it; `failure` is a fail, `error` no verdict.

A table of marks has `id` and `passed` or `score`, and other columns of `COLUMNS`. Rows with one
suite and id are the graders of a case.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from xml.etree import ElementTree as ET

from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.files.yaml_text.csv_cases import Broken, header_and_rows, spelt, table
from rubric_ci.parts.bring.adopted_samples import Check, Data, Sample, json_data, text_of, unit
from rubric_ci.values.problems import LocatedProblem

_LISTS = ("expectations", "assertion_results", "assertions")
COMPARED = "with_skill"
"""The configuration that is graded; the others are what it is compared with by the tool."""


def read_agent_skills(text: str) -> Iterator[Sample]:
    """Yield the runs with the skill; runs of one eval are trials."""
    data = json_data(text)
    if data.get("runs") is None:
        yield _graded_run("grading", data, data)
        return
    for run in data.items("runs"):
        if run.text("configuration", COMPARED) == COMPARED:
            name = f"eval-{text_of(run.get('eval_id'))}"
            yield replace(_graded_run(name, run, run.at("result")), is_run=True)


def _graded_run(name: str, run: Data, result: Data) -> Sample:
    found = [(key, list(run.items(key))) for key in _LISTS]
    marks = next((marks for _, marks in found if marks), [])
    if not marks and result.at("summary").value is None and result.get("pass_rate") is None:
        raise Mismatch(f"{run.path or 'the file'} has none of {', '.join(_LISTS)}")
    checks = tuple(
        Check(
            name=f"expectation-{number}",
            passed=mark.flag("passed"),
            text=mark.text("text", ""),
            reason=mark.text("evidence", ""),
        )
        for number, mark in enumerate(marks, 1)
    )
    return Sample(
        id=name,
        checks=checks,
        error=_uncounted(checks, result) if checks else "",
        skipped="" if checks else "its expectations are not in this file",
    )


def _uncounted(checks: Sequence[Check], result: Data) -> str:
    """Return how the counts of a summary exceed its expectations; empty: they do not."""
    told = result.at("summary") if result.at("summary").value is not None else result
    here = {
        "passed": sum(check.passed is True for check in checks),
        "failed": sum(check.passed is False for check in checks),
        "total": len(checks),
    }
    said = {key: int(told.number(key) or 0) for key in here}
    more = [f"`{key}` is {said[key]:,}, {n:,} listed" for key, n in here.items() if said[key] > n]
    return f"its summary counts more expectations: {', '.join(more)}" if more else ""


_SUITES: Final = ("testsuites", "testsuite")
_COUNTS: Final = {"tests": "testcase", "failures": "failure", "errors": "error"}
# Words of `status` and `result`, which some runners write in place of an element.
_PASSED: Final = frozenset(
    ["run", "pass", "passed", "success", "successful", "succeeded", "ok", "completed", "done"]
)
_FAILED: Final = frozenset(["fail", "failed", "failure"])
_SKIPPED: Final = frozenset(["skip", "skipped", "ignored", "disabled", "suppressed"])


def read_junit(text: str) -> Iterator[Sample]:
    """Yield the test cases. A document type is refused: it could define entities."""
    yield from _cases(_root(text), {})


def missing_in_junit(text: str) -> str:
    """Return why a file has a part of its tests, or an error of none; empty: it is whole."""
    for suite in _root(text).iter():
        if suite.tag not in _SUITES:
            continue
        name = suite.get("name", "") or suite.tag
        for outside in (each for each in suite if each.tag in {"error", "failure"}):
            return f"{name}: {outside.tag} outside of a test: {_said(outside) or 'no reason given'}"
        for attribute, tag in _COUNTS.items():
            said, here = _seconds(suite.get(attribute, "")), len(list(suite.iter(tag)))
            here += _in_words(suite) if tag == "failure" else 0
            if said is not None and said > here:
                return f'{name}: `{attribute}="{said:g}"`, and {here:,} in the file'
    return ""


def _root(text: str) -> ET.Element:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise Mismatch("has a document type, which results have no use for")
    try:
        root = ET.fromstring(text)  # noqa: S314 - no document type, so no entities
    except ET.ParseError as error:
        raise Mismatch(f"not XML ({error})") from error
    if root.tag not in _SUITES:
        raise Mismatch(f"`{root.tag}` is not `testsuites` or `testsuite`")
    return root


def _cases(element: ET.Element, around: Mapping[str, str]) -> Iterator[Sample]:
    """Yield the tests of a suite; a suite with another name or file has other tests."""
    here = {
        "file": element.get("file") or around.get("file", ""),
        "name": element.get("name") or around.get("name", ""),
        "names": f"{around.get('names', '')}/{element.get('name', '')}",
    }
    for child in element:
        if child.tag == "testcase":
            yield _test(child, here)
        elif child.tag in _SUITES:
            yield from _cases(child, here)


def _test(case: ET.Element, around: Mapping[str, str]) -> Sample:
    failure, error, skipped = (case.find(tag) for tag in ("failure", "error", "skipped"))
    word = _word(case)
    told = "" if failure is None else _said(failure)
    passed = failure is None and word not in _FAILED
    unknown = passed and word not in {"", *_PASSED, *_SKIPPED}
    lost = f"its status is `{word}`" if unknown else ""
    left = word if word in _SKIPPED and passed else ""
    classname = case.get("classname", "")
    return Sample(
        id=case.get("name", ""),
        suite=case.get("file") or classname or around["file"] or around["name"],
        checks=(Check(name="test", passed=passed, reason=told),),
        error=lost if error is None else _said(error) or "error",
        skipped=left if skipped is None else _said(skipped) or "skipped",
        answer=(case.findtext("system-out") or "").strip(),
        seconds=_seconds(case.get("time", "")),
        part="\n".join((around["names"], around["file"], classname)),
    )


def _word(case: ET.Element) -> str:
    """Return the word on how a test ended that is no pass, else one that is."""
    words = [case.get(key, "").strip().lower() for key in ("status", "result")]
    given = [word for word in words if word]
    ranked = [word for word in given if word in _SKIPPED] + [
        word for word in given if word not in _PASSED
    ]
    return (ranked or given or [""])[0]


def _in_words(suite: ET.Element) -> int:
    every = (case for case in suite.iter("testcase") if case.find("failure") is None)
    return sum(_word(case) in _FAILED for case in every)


def _said(element: ET.Element) -> str:
    return element.get("message") or (element.text or "").strip()


def _seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


_OF_CASE = ("question", "expected", "answer", "target")
COLUMNS = (
    *("id", "suite", "grader", "passed", "score", "weight", "reason", "error"),
    *(*_OF_CASE, "tags"),
)
_TRUE = frozenset(("true", "pass", "passed", "yes", "1"))
_FALSE = frozenset(("false", "fail", "failed", "no", "0"))

Row = Mapping[str, str]


def read_marks(text: str) -> Iterator[Sample]:
    """Yield the cases in the order of their first row."""
    try:
        read_marks = header_and_rows(table(text))
    except Broken as error:
        raise _mismatch(error.problem) from None
    names = [spelt(cell.text) for cell in read_marks.header]
    if "id" not in names or not {"passed", "score"} & set(names):
        raise Mismatch("line 1: expected the column `id`, and `passed` or `score`")
    if unknown := [name for name in names if name not in COLUMNS]:
        raise Mismatch(f"line 1: unknown column `{unknown[0]}`; known are {', '.join(COLUMNS)}")
    if read_marks.problems:
        raise _mismatch(read_marks.problems[0])
    found: dict[tuple[str, str], Sample] = {}
    for row in read_marks.rows:
        line = row[0].place[0]
        texts = (cell.text.strip() for cell in row)
        sample = _row_sample(dict(zip(names, texts, strict=True)), line)
        known = found.get(sample.key)
        found[sample.key] = sample if known is None else _joined(known, sample, line)
    yield from found.values()


def _mismatch(problem: LocatedProblem) -> Mismatch:
    return Mismatch(f"line {problem.line}: {problem.message}")


def _joined(known: Sample, sample: Sample, line: int) -> Sample:
    names = {check.name for check in known.checks}
    if names & {check.name for check in sample.checks}:
        raise Mismatch(f"line {line}: `{sample.id}` has this grader already")
    for column in _OF_CASE:
        if len({getattr(each, column) for each in (known, sample)} - {""}) > 1:
            raise Mismatch(
                f"line {line}: `{sample.id}` has another `{column}` in a row before; "
                "different tests need different ids"
            )
    return replace(known, checks=known.checks + sample.checks, error=known.error or sample.error)


def _row_sample(row: Row, line: int) -> Sample:
    if not row.get("id"):
        raise Mismatch(f"line {line}: no `id`")
    name = row.get("grader") or "grader"
    passed, score = _passed(row, line), _number(row, "score", line)
    score, wrong = unit(name, score)
    error = row.get("error") or wrong
    if passed is None and score is None and not error:  # pandas writes NaN so
        error = f"{name}: neither `passed` nor `score`"
    weight = _number(row, "weight", line)
    texts: dict[str, Any] = {each: row.get(each, "") for each in _OF_CASE}
    check = Check(
        name=name,
        passed=passed,
        score=score,
        weight=1.0 if weight is None else weight,
        reason=row.get("reason", ""),
        error=error,
    )
    return Sample(
        id=row["id"],
        suite=row.get("suite", ""),
        checks=(check,),
        error=error,
        tags=tuple(row.get("tags", "").split()),
        **texts,
    )


def _passed(row: Row, line: int) -> bool | None:
    word = row.get("passed", "").lower()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    if word:
        raise Mismatch(f"line {line}: `passed` is `{word}`, expected true or false")
    return None


def _number(row: Row, column: str, line: int) -> float | None:
    try:
        return float(row[column]) if row.get(column) else None
    except ValueError:
        raise Mismatch(f"line {line}: `{column}` is `{row[column]}`, expected a number") from None
