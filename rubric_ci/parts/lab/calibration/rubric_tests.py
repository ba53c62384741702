"""The tests of rubric files and of cases: answers with the marks that a judge must give them.

Tests are no labels: their authors choose easy answers, and κ would rise by them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from posixpath import basename
from typing import Any, Final

from rubric_ci.errors import InvalidInput
from rubric_ci.files.project.loader import load
from rubric_ci.files.validation.rubric_files import ENDING, open_rubric
from rubric_ci.parts.lab.calibration.agreement import mark_text
from rubric_ci.parts.lab.calibration.rejudge import Marks, NotJudged
from rubric_ci.text import escape
from rubric_ci.text.numbers import plural, shortened
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.json_value import JSON
from rubric_ci.values.references import Found, Lookup
from rubric_ci.values.results import Answer
from rubric_ci.values.rubric import equal_marks
from rubric_ci.values.scoring import NOT_APPLICABLE, MarkValue


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricTest:
    """An answer of a test, and the marks of which one is right, by criterion."""

    file: str
    line: int
    name: str
    case: EvalCase  # with the tested rubric alone
    answer: Answer
    expected: Mapping[str, tuple[MarkValue, ...]]
    at_base: bool = False  # the head removed or edited it

    @property
    def spec(self) -> RubricSpec:
        return self.case.rubrics[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    test: RubricTest
    found: Marks | NotJudged

    @property
    def differing(self) -> tuple[str, ...]:
        if isinstance(self.found, NotJudged):
            return ()
        return tuple(
            name
            for name, expected in self.test.expected.items()
            if not any(equal_marks(mark_in(self.found, name), one) for one in expected)
        )

    @property
    def outcome(self) -> str:
        if isinstance(self.found, NotJudged):
            return "no-verdict"
        return "differs" if self.differing else "passed"


def mark_in(marks: Marks, name: str) -> MarkValue:
    """Return the mark of a criterion; one that tag or variable leave out has none."""
    return marks[name].mark if name in marks else NOT_APPLICABLE


def read_tests(path: str, text: str, lookup: Lookup, base: str | None = None) -> list[RubricTest]:
    """Return the tests of a rubric file without errors; raises InvalidInput.

    `base` is the text of the file before a change: its tests that the head lacks or has edited are
    returned as well, with the criteria of the head.
    """
    document = open_rubric(path, text).document
    written = document.data.get("tests", [])
    found = [
        _test(path, text, lookup, each, document.locate(("tests", n))[0], n + 1)
        for n, each in enumerate(written)
    ]
    old = open_rubric(path, base).document.data if base else None
    before = old.get("tests") if isinstance(old, dict) else None
    gone = [
        (n, each)
        for n, each in enumerate(before if isinstance(before, list) else [])
        if each not in written
    ]
    for number, each in gone:
        made = _test(path, text, lookup, each, 1, number + 1)
        known = {k: v for k, v in made.expected.items() if k in _ids(made.spec)}
        if known:
            name = f"{made.name}{_BEFORE}"
            found.append(replace(made, name=name, expected=known, at_base=True))
    return found


def tests_of(case: EvalCase, before: EvalCase | None) -> Iterator[RubricTest]:
    """Yield the tests of a case, and those that it had before a change."""
    for spec in case.rubrics:
        own = [(each.answer, each.marks) for each in spec.tests]
        gone = [
            each
            for old in (before.rubrics if before else ())
            if old.name == spec.name
            for each in old.tests
            if (each.answer, each.marks) not in own
        ]
        alone = replace(case, evaluators=(spec,))
        for at_base, each in (*((False, each) for each in spec.tests), *((True, e) for e in gone)):
            known = {k: v for k, v in each.marks.items() if not at_base or k in _ids(spec)}
            if known:
                name = f"{case.id}: {each.name}"
                yield RubricTest(
                    file=case.file,
                    line=case.span.line if at_base else each.line,
                    name=f"{name}{_BEFORE}" if at_base else name,
                    case=alone,
                    answer=Answer(text=each.answer),
                    expected=known,
                    at_base=at_base,
                )


_BEFORE: Final = " (as before the change)"


def _ids(spec: RubricSpec) -> set[str]:
    return {criterion.id for criterion in spec.rubric}


def _test(
    path: str, text: str, lookup: Lookup, test: dict[str, Any], line: int, number: int
) -> RubricTest:
    name, stem = test.get("name", f"test-{number}"), basename(path).removesuffix(ENDING)
    case: dict[str, Any] = {
        "id": name,
        "input": test.get("question", "-"),
        "raw": True,
        "vars": test.get("vars", {}),
        "tags": test.get("tags", []),
        "rubrics": [{"include": f"/{path}", "as": "t"}],
    }
    if "expected_outcome" in test:
        case["expected_outcome"] = test["expected_outcome"]

    def find(reference: str) -> Any:
        return Found(path, text) if reference == f"/{path}" else lookup(reference)

    loaded = load(path, json.dumps({"evalcases": [case]}), find)
    if loaded.eval_file is None:
        raise InvalidInput(
            f"{path}: {name}: the test cannot be used", problems=[*loaded.diagnostics]
        )
    made = loaded.eval_file.cases[0]
    if "question" not in test:
        made = replace(made, input_messages=(), vars={})
    if not made.evaluators:
        raise InvalidInput(f"{path}: {name}: no criterion applies to its tags and variables")
    return RubricTest(
        file=path,
        line=line,
        name=f"{stem}: {name}",
        case=made,
        answer=Answer(text=_answer(test, lookup), messages=tuple(test.get("output_messages", ()))),
        expected={
            f"t/{name}": tuple(mark) if isinstance(mark, list) else (mark,)
            for name, mark in test["marks"].items()
        },
    )


def _answer(test: dict[str, Any], lookup: Lookup) -> str:
    if "answer" in test:
        return str(test["answer"])
    found = lookup(test["answer_file"])
    assert isinstance(found, Found)  # noqa: S101 - the checks found it
    return found.text


def render(checked: Sequence[Checked], form: str) -> str:
    """Return the results as `text`, `json` or `junit`."""
    if form == "json":
        return json.dumps({"version": 1, "tests": [*map(_as_data, checked)]}, indent=2) + "\n"
    return _junit(checked) if form == "junit" else "\n".join(_lines(checked)) + "\n"


def _lines(checked: Sequence[Checked]) -> Iterator[str]:
    for each in checked:
        if each.outcome == "passed":
            continue
        yield escape.log_line(f"{each.test.file}:{each.test.line}: {each.test.name}")
        yield from (f"  {escape.log_line(line)}" for line in reasons(each))
    passed = sum(each.outcome == "passed" for each in checked)
    count = f"{passed:,} of {plural(len(checked), 'test')} got the marks that they expect"
    moved = len({each.test.file for each in checked if each.outcome == "differs"})
    yield f"{count}; marks of {plural(moved, 'file')} differ" if moved else count


def reasons(each: Checked) -> Iterator[str]:
    """Yield each mark that differs, or why there is none."""
    if isinstance(each.found, NotJudged):
        yield f"no verdict: {each.found.reason}"
        return
    for name in each.differing:
        got = each.found.get(name)
        fault = got is not None and got.fault
        expected = " or ".join(mark_text(mark, fault=fault) for mark in each.test.expected[name])
        words = f"expected {expected}, got {mark_text(mark_in(each.found, name), fault=fault)}"
        why = shortened(got.found, 300) if got else "its tag or variable leaves it out"
        yield f"{name.removeprefix('t/')}: {words}: {why}"


def _as_data(each: Checked) -> JSON:
    found = each.found
    marks: list[JSON] = [
        {
            "criterion": name.removeprefix("t/"),
            "expected": [*expected],
            "got": mark_in(found, name),
            "reasoning": found[name].reasoning if name in found else "",
        }
        for name, expected in each.test.expected.items()
        if not isinstance(found, NotJudged)
    ]
    return {
        "file": each.test.file,
        "line": each.test.line,
        "name": each.test.name,
        "outcome": each.outcome,
        "before_the_change": each.test.at_base,
        "reason": found.reason if isinstance(found, NotJudged) else "",
        "marks": marks,
    }


def _junit(checked: Sequence[Checked]) -> str:
    outcomes = [each.outcome for each in checked]
    counts = f'failures="{outcomes.count("differs")}" errors="{outcomes.count("no-verdict")}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        f'  <testsuite name="judge test" tests="{len(checked)}" {counts}>',
    ]
    for each in checked:
        facts = f'name="{escape.xml(each.test.name)}" classname="{escape.xml(each.test.file)}"'
        lines.append(f"    <testcase {facts}>")
        if each.outcome != "passed":
            tag = "failure" if each.outcome == "differs" else "error"
            text = escape.xml_text("\n".join(reasons(each)))
            lines.append(f"      <{tag}>{text}</{tag}>")
        lines.append("    </testcase>")
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"
