"""`rubric-ci judge test`: ask the judge about the tests of rubric files and of cases.

Tests are no labels: their authors choose easy answers, and κ would rise by them.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from posixpath import basename
from typing import Any, Final

import click

from rubric_ci.errors import CannotFindEvals, ExitCode, InvalidInput, UserError
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.change import BaseOptions
from rubric_ci.files.project.loaded_project import (
    LoadedProject,
    find_evals,
    load_evals,
    show_problems,
)
from rubric_ci.files.project.loader import load
from rubric_ci.files.project.project import Project
from rubric_ci.files.validation.rubric_files import ENDING, open_rubric
from rubric_ci.files.validation.validator import check_rubric
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.gate.policy.checkout import open_under_policy, show_policy
from rubric_ci.parts.lab.agreement import mark_text
from rubric_ci.parts.lab.rejudge import (
    REPLAYED,
    AnswerToJudge,
    Marks,
    NotJudged,
    always_marking,
    open_judging,
    rejudge,
)
from rubric_ci.services.publish_workflow import Workflow, end, write_problems
from rubric_ci.text import escape
from rubric_ci.text.escape import command, within_cap
from rubric_ci.text.numbers import plural, shortened
from rubric_ci.values import walk
from rubric_ci.values.changes import Base
from rubric_ci.values.command_settings import RubricTestSettings
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.json_value import JSON
from rubric_ci.values.problems import errors_of
from rubric_ci.values.references import Found, Lookup, noting
from rubric_ci.values.results import Answer
from rubric_ci.values.rubric import equal_marks
from rubric_ci.values.scoring import NOT_APPLICABLE, MarkValue

_BEFORE: Final = " (as before the change)"


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
        return always_marking(self.case)


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
    for number, each in enumerate(before if isinstance(before, list) else [], 1):
        if each in written:
            continue
        made = _test(path, text, lookup, each, 1, number)
        if known := {k: v for k, v in made.expected.items() if k in _ids(made.spec)}:
            found.append(replace(made, name=f"{made.name}{_BEFORE}", expected=known, at_base=True))
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
            if known := {k: v for k, v in each.marks.items() if not at_base or k in _ids(spec)}:
                yield RubricTest(
                    file=case.file,
                    line=case.span.line if at_base else each.line,
                    name=f"{case.id}: {each.name}{_BEFORE if at_base else ''}",
                    case=alone,
                    answer=Answer(text=each.answer),
                    expected=known,
                    at_base=at_base,
                )


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
    made, answer = loaded.eval_file.cases[0], test.get("answer")
    if "answer" not in test:
        file = lookup(test["answer_file"])
        assert isinstance(file, Found)  # noqa: S101 - the checks found it
        answer = file.text
    if "question" not in test:
        made = replace(made, input_messages=(), vars={})
    return RubricTest(
        file=path,
        line=line,
        name=f"{stem}: {name}",
        case=made,
        answer=Answer(text=str(answer), messages=tuple(test.get("output_messages", ()))),
        expected={
            f"t/{name}": tuple(mark) if isinstance(mark, list) else (mark,)
            for name, mark in test["marks"].items()
        },
    )


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


def run_tests(settings: RubricTestSettings) -> ExitCode:
    """Judge the answer of every test, print the marks that differ; return 1 if one does."""
    loaded = _open(settings)
    show_policy(loaded)
    selection = loaded.change.selection
    base = selection if isinstance(selection, Base) else None  # with `--changed-since`
    tests = [*_rubric_file_tests(loaded, settings.paths, base), *_case_tests(loaded, base)]
    if not tests:
        click.echo("no tests of rubric files or cases to run", err=True)
        return ExitCode.OK
    judging = open_judging(loaded, settings.judge, settings.requests)
    judge = replace(judging.judge, votes=settings.votes or judging.judge.votes)
    answers = [
        AnswerToJudge(case=each.case, spec=each.spec, answer=each.answer, judge=judge)
        for each in tests
    ]
    marks = rejudge(answers, judging).marks
    checked = [Checked(test=test, found=each) for test, each in zip(tests, marks, strict=True)]
    click.echo(render(checked, settings.format), nl=False)
    if not judging.live:
        click.echo(REPLAYED, err=True)
    _summarize(checked)
    if any(each.differing for each in checked):
        return ExitCode.GATE
    lost = [(each.test, each.found) for each in checked if isinstance(each.found, NotJudged)]
    if not lost:
        return ExitCode.OK
    test, found = lost[0]
    place = f"{test.file}:{test.line}"
    why = f"{plural(len(lost), 'test')} without marks, the first {place}: {found.reason}"
    return end(ExitCode.NO_VERDICT, UserError(why, "run it again"), "judge test", os.environ)


def _summarize(checked: Sequence[Checked]) -> None:
    """Add the marks that differ to the summary of a workflow's step, and to the lines of tests."""
    if workflow := Workflow.of(os.environ):
        for each in within_cap([each for each in checked if each.differing])[0]:
            test, why = each.test, "\n".join(reasons(each))
            place: dict[str, str | int] = {"file": test.file, "line": test.line, "title": test.name}
            workflow.annotate(f"{command('error', why, place)}\n")
        lines = escape.fence(render(checked, "text"))
        summary = f"## rubric-ci \xb7 tests of rubrics\n\n{lines}\n"
        for problem in write_problems(lambda: workflow.add_summary(summary)):
            click.echo(escape.log_line(problem), err=True)


def _open(settings: RubricTestSettings) -> LoadedProject:
    """Return the cases of the paths; a path with rubric files may have none."""
    options = BaseOptions(policy_from=settings.policy_from, changed_since=settings.changed_since)
    project, change = open_under_policy(settings.config, options)
    names = [each for each in settings.paths if not (_rubric_files(each) and Path(each).is_file())]
    try:
        found = find_evals(project, names) if names or not settings.paths else []
        loaded = load_evals(project, found, change)
    except CannotFindEvals:
        if any(not _rubric_files(each) for each in names):
            raise
        loaded = load_evals(project, [], change)
    show_problems(loaded.diagnostics)
    loaded.check_valid()
    return loaded


def _case_tests(loaded: LoadedProject, base: Base | None) -> Iterator[RubricTest]:
    before = {each.key: each for each in loaded.at_base(base).cases} if base else {}
    for case in loaded.cases:
        old = before.get(case.key)
        if old is None or _edited(case, old):
            yield from tests_of(case, old)


def _edited(case: EvalCase, old: EvalCase) -> bool:
    """Return True for a case whose tests could get other marks, or which has other tests."""
    now, before = (
        (
            (each.question, each.expected_outcome, each.reference_answer),
            [replace(test, line=0) for spec in each.rubrics for test in spec.tests],
        )
        for each in (case, old)
    )
    return now != before or not walk.is_alike(case.evaluators, old.evaluators)


def _rubric_file_tests(
    loaded: LoadedProject, written: Sequence[str], base: Base | None
) -> Iterator[RubricTest]:
    files, name_of = _files(loaded.project, written), loaded.project.name_of
    commit = loaded.change.at(base) if base else None
    for path in files:
        name, text = name_of(path), working_tree.read_text(path, loaded.root)
        read = {name}  # with guidelines, schemas and answers in files of their own
        lookup = noting(working_tree.lookup(loaded.root, path), read)
        errors = errors_of(check_rubric(name, text, lookup)[0])
        if commit and not any(map(commit.difference.may_have_changed, read)):
            continue
        if errors:
            show_problems(errors)
            raise InvalidInput(f"{name}: invalid", "run `rubric-ci validate`")
        before = commit.files.read(name) if commit else None
        old = before.decode("utf-8", "replace") if before else None
        yield from read_tests(name, text, lookup, old)


def _files(project: Project, written: Sequence[str]) -> list[Path]:
    """Return the rubric files of paths, folders and globs; of the repository, if there are none."""
    if not written:
        return [project.root / name for name in sorted(project.files.matching(f"**/*{ENDING}"))]
    found = [(each, _rubric_files(each)) for each in written]
    for each, some in found:
        if each.endswith(ENDING) and not some:
            raise CannotFindEvals(f"{each} names no rubric file", f"they end in `{ENDING}`")
    return [path for _, some in found for path in some]


def _rubric_files(written: str) -> list[Path]:
    path = Path(written)
    if path.is_dir():
        return sorted(path.rglob(f"*{ENDING}"))
    some = [path] if path.exists() or path.is_absolute() else sorted(Path().glob(written))
    return [each for each in some if each.is_file() and _is_rubric(each)]


def _is_rubric(path: Path) -> bool:
    if path.name.endswith(ENDING):
        return True
    data = Document(path.name, working_tree.read_text(path)).data
    return isinstance(data, dict) and "criteria" in data and "evalcases" not in data
