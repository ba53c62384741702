"""Tests of criteria that a change removes or edits: nothing is graded by them, the judge is."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rubric_ci.files.validation.rubric_files import open_rubric
from rubric_ci.text.escape import one_line
from rubric_ci.text.numbers import shortened
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.evals import EvalCase, MarkTest, RubricSpec


def of_rubric_file(path: str, before: str, after: str) -> Iterator[GradingChange]:
    """Yield the tests that a rubric file has lost; two tests are one if nothing of them differs."""
    then, now = open_rubric(path, before).document, open_rubric(path, after).document
    left = _tests(now.data)
    for number, each in enumerate(_tests(then.data)):
        if each not in left:
            line = then.locate(("tests", number))[0]
            answer = str(each.get("answer", each.get("answer_file", "")))
            yield _removed("tests", path, line, answer, each.get("marks"))


def _tests(data: Any) -> list[dict[str, Any]]:
    tests = data.get("tests") if isinstance(data, dict) else None
    return [each for each in tests if isinstance(each, dict)] if isinstance(tests, list) else []


def of_cases(
    cases: Iterable[EvalCase], before: Mapping[CaseKey, EvalCase]
) -> Iterator[GradingChange]:
    """Yield the tests that cases have lost."""
    for case in cases:
        if (was := before.get(case.key)) and (old := _of_case(was)):
            left = [(each.answer, each.marks) for each in _of_case(case)]
            for each in old:
                if (each.answer, each.marks) not in left:
                    about = f"{case.id}/tests"
                    yield _removed(about, case.file, each.line, each.answer, each.marks)


def _of_case(case: EvalCase) -> list[MarkTest]:
    return [each for spec in case.evaluators if isinstance(spec, RubricSpec) for each in spec.tests]


def _removed(about: str, file: str, line: int, answer: str, marks: Any) -> GradingChange:
    shown = f"“{shortened(one_line(answer), 60)}”: {json.dumps(marks, ensure_ascii=False)}"
    return GradingChange(
        kind="criterion",
        direction="changed",
        about=about,
        file=file,
        line=line,
        before=shown,
        after="",
    )
