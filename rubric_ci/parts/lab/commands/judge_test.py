"""`rubric-ci judge test`: ask the judge about the tests of rubric files and of cases."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

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
from rubric_ci.files.project.project import Project
from rubric_ci.files.validation.rubric_files import ENDING
from rubric_ci.files.validation.validator import check_rubric
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.gate.policy.checkout import open_under_policy, show_policy
from rubric_ci.parts.lab.calibration.rejudge import (
    REPLAYED,
    AnswerToJudge,
    NotJudged,
    open_judging,
    rejudge,
)
from rubric_ci.parts.lab.calibration.rubric_tests import (
    Checked,
    RubricTest,
    read_tests,
    reasons,
    render,
    tests_of,
)
from rubric_ci.services.publish.failure import end
from rubric_ci.services.publish.workflow import Workflow, write_problems
from rubric_ci.text import escape, numbers
from rubric_ci.text.escape import command, within_cap
from rubric_ci.values import walk
from rubric_ci.values.changes import Base
from rubric_ci.values.command_settings import RubricTestSettings
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.problems import errors_of
from rubric_ci.values.rubric import MarkTest


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
    judge = judging.judge
    judge = replace(judge, votes=settings.votes) if settings.votes else judge
    answers = [
        AnswerToJudge(case=each.case, spec=each.spec, answer=each.answer, judge=judge)
        for each in tests
    ]
    result = rejudge(answers, judging)
    pairs = zip(tests, result.marks, strict=True)
    checked = [Checked(test=test, found=found) for test, found in pairs]
    click.echo(render(checked, settings.format), nl=False)
    if not judging.live:
        click.echo(REPLAYED, err=True)
    _summarize(checked)
    return _exit_code(checked)


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


def _exit_code(checked: Sequence[Checked]) -> ExitCode:
    if any(each.differing for each in checked):
        return ExitCode.GATE
    lost = [(each.test, each.found) for each in checked if isinstance(each.found, NotJudged)]
    if not lost:
        return ExitCode.OK
    test, found = lost[0]
    count = numbers.plural(len(lost), "test")
    why = UserError(
        f"{count} without marks, the first {test.file}:{test.line}: {found.reason}", "run it again"
    )
    return end(ExitCode.NO_VERDICT, why, "judge test", os.environ)


def _open(settings: RubricTestSettings) -> LoadedProject:
    """Return the cases of the paths; a path with rubric files may have none."""
    options = BaseOptions(policy_from=settings.policy_from, changed_since=settings.changed_since)
    project, change = open_under_policy(settings.config, options)
    paths = settings.paths
    names = [each for each in paths if not (_rubric_files(each) and Path(each).is_file())]
    try:
        found = find_evals(project, names) if names or not paths else []
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
    texts = case.question, case.expected_outcome, case.reference_answer
    same = texts == (old.question, old.expected_outcome, old.reference_answer)
    alike = walk.is_alike(case.evaluators, old.evaluators)
    return not (same and alike and _tests_in(case) == _tests_in(old))


def _tests_in(case: EvalCase) -> list[MarkTest]:
    return [replace(test, line=0) for spec in case.rubrics for test in spec.tests]


def _rubric_file_tests(
    loaded: LoadedProject, written: Sequence[str], base: Base | None
) -> Iterator[RubricTest]:
    files, name_of = _files(loaded.project, written), loaded.project.name_of
    commit = loaded.change.at(base) if base else None
    if commit:
        files = [path for path in files if commit.difference.may_have_changed(name_of(path))]
    for path in files:
        name, text = name_of(path), working_tree.read_text(path, loaded.root)
        lookup = working_tree.lookup(loaded.root, path)
        found, _ = check_rubric(name, text, lookup)
        if errors := errors_of(found):
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
