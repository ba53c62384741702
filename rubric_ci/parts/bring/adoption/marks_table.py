"""A table of marks: `id` and `passed` or `score`, and what else a column names.

Columns: `id`, `suite`, `grader`, `passed`, `score`, `weight`, `reason`, `error`, `question`,
`expected`, `answer`, `target`, `tags`. Rows with one suite and id are the graders of a case.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.files.yaml_text.csv_cases import Broken, header_and_rows, spelt, table
from rubric_ci.parts.bring.adoption.samples import Check, Sample, unit
from rubric_ci.values.problems import LocatedProblem

COLUMNS = (
    *("id", "suite", "grader", "passed", "score", "weight", "reason", "error"),
    *("question", "expected", "answer", "target", "tags"),
)
_TRUE, _FALSE = (
    frozenset(("true", "pass", "passed", "yes", "1")),
    frozenset(("false", "fail", "failed", "no", "0")),
)

Row = Mapping[str, str]


def read(text: str) -> Iterator[Sample]:
    """Yield the cases in the order of their first row."""
    try:
        read = header_and_rows(table(text))
    except Broken as error:
        raise _mismatch(error.problem) from None
    names = [spelt(cell.text) for cell in read.header]
    if "id" not in names or not {"passed", "score"} & set(names):
        raise Mismatch("line 1: expected the column `id`, and `passed` or `score`")
    if unknown := [name for name in names if name not in COLUMNS]:
        raise Mismatch(f"line 1: unknown column `{unknown[0]}`; known are {', '.join(COLUMNS)}")
    if read.problems:
        raise _mismatch(read.problems[0])
    found: dict[tuple[str, str], Sample] = {}
    for row in read.rows:
        line = row[0].place[0]
        sample = _sample(dict(zip(names, (cell.text.strip() for cell in row), strict=True)), line)
        key = sample.suite, sample.id
        known = found.get(key)
        found[key] = sample if known is None else _joined(known, sample, line)
    yield from found.values()


def _mismatch(problem: LocatedProblem) -> Mismatch:
    return Mismatch(f"line {problem.line}: {problem.message}")


def _joined(known: Sample, sample: Sample, line: int) -> Sample:
    names = {check.name for check in known.checks}
    if names & {check.name for check in sample.checks}:
        raise Mismatch(f"line {line}: `{sample.id}` has this grader already")
    for column in ("question", "expected", "answer", "target"):
        if len({getattr(each, column) for each in (known, sample)} - {""}) > 1:
            raise Mismatch(
                f"line {line}: `{sample.id}` has another `{column}` in a row before; "
                "different tests need different ids"
            )
    return replace(known, checks=known.checks + sample.checks, error=known.error or sample.error)


def _sample(row: Row, line: int) -> Sample:
    if not row.get("id"):
        raise Mismatch(f"line {line}: no `id`")
    name = row.get("grader") or "grader"
    passed, score = _passed(row, line), _number(row, "score", line)
    score, wrong = unit(name, score)
    error = row.get("error") or wrong
    if passed is None and score is None and not error:  # pandas writes NaN so
        error = f"{name}: neither `passed` nor `score`"
    weight = _number(row, "weight", line)
    reason = row.get("reason", "")
    check = Check(
        name=name,
        passed=passed,
        score=score,
        weight=1.0 if weight is None else weight,
        reason=reason,
        error=error,
    )
    return Sample(
        id=row["id"],
        suite=row.get("suite", ""),
        checks=(check,),
        error=error,
        question=row.get("question", ""),
        expected=row.get("expected", ""),
        answer=row.get("answer", ""),
        target=row.get("target", ""),
        tags=tuple(row.get("tags", "").split()),
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
