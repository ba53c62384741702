"""`rubric-ci judge test`: ask the judge about the tests of rubric files."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from rubric_ci.errors import CannotFindEvals, ExitCode, InvalidInput
from rubric_ci.files.project import discovery
from rubric_ci.files.project.change import BaseOptions, open_change
from rubric_ci.files.project.loaded_project import LoadedProject, show_problems
from rubric_ci.files.project.project import Project
from rubric_ci.files.validation.rubric_files import ENDING
from rubric_ci.files.validation.validator import check_rubric
from rubric_ci.gate.policy.checkout import allowed_hosts, open_project, show_policy
from rubric_ci.grading.setup import build_context
from rubric_ci.parts.lab.calibration.rejudge import (
    REPLAYED,
    AnswerToJudge,
    configured_judge,
    rejudge,
)
from rubric_ci.parts.lab.calibration.rubric_tests import Checked, RubricTest, read_tests, render
from rubric_ci.values.changes import Base
from rubric_ci.values.command_settings import RubricTestSettings
from rubric_ci.values.diagnostics import Severity


def run_tests(settings: RubricTestSettings) -> ExitCode:
    """Judge the answer of every test, print the marks that differ; return 1 if one does."""
    loaded = _open(settings)
    show_policy(loaded)
    tests = _tests(loaded, settings)
    if not tests:
        click.echo("no tests of rubric files to run", err=True)
        return ExitCode.OK
    judge = configured_judge(loaded, settings.judge, replayed=settings.requests.replay is not None)
    judge = replace(judge, votes=settings.votes) if settings.votes else judge
    hosts = allowed_hosts(loaded, settings.requests.allowed_hosts, os.environ)
    context = build_context(loaded.root, loaded.config, settings.requests, os.environ, hosts=hosts)
    answers = [
        AnswerToJudge(case=each.case, spec=each.spec, answer=each.answer, judge=judge)
        for each in tests
    ]
    live = settings.requests.replay is None
    result = rejudge(answers, context, concurrency=settings.requests.concurrency, live=live)
    pairs = zip(tests, result.marks, strict=True)
    checked = [Checked(test=test, found=found) for test, found in pairs]
    click.echo(render(checked, settings.format), nl=False)
    if not live:
        click.echo(REPLAYED, err=True)
    return _exit_code(checked)


def _exit_code(checked: Sequence[Checked]) -> ExitCode:
    outcomes = {each.outcome for each in checked}
    if "differs" in outcomes:
        return ExitCode.GATE
    return ExitCode.NO_VERDICT if "no-verdict" in outcomes else ExitCode.OK


def _open(settings: RubricTestSettings) -> LoadedProject:
    project = open_project(settings.config, settings.policy_from)
    options = BaseOptions(policy_from=settings.policy_from, changed_since=settings.changed_since)
    change = open_change(project.root, options)
    return LoadedProject(project=project, files=(), diagnostics=(), invalid=(), change=change)


def _tests(loaded: LoadedProject, settings: RubricTestSettings) -> list[RubricTest]:
    """Return the tests of the files; with `--changed-since`, of those that a change edits."""
    files = _files(loaded.project, settings.paths)
    base = loaded.change.selection
    commit = loaded.change.at(base) if isinstance(base, Base) else None
    if commit:
        files = [path for path in files if commit.difference.may_have_changed(_name(loaded, path))]
    tests = list[RubricTest]()
    for path in files:
        name, text = _name(loaded, path), discovery.read_text(path, loaded.root)
        lookup = discovery.lookup(loaded.root, path)
        found, _ = check_rubric(name, text, lookup)
        errors = [each for each in found if each.severity is Severity.ERROR]
        if errors:
            show_problems(errors)
            raise InvalidInput(f"{name}: invalid", "run `rubric-ci validate`")
        before = commit.files.read(name) if commit else None
        tests += read_tests(
            name, text, lookup, before.decode("utf-8", "replace") if before else None
        )
    return tests


def _name(loaded: LoadedProject, path: Path) -> str:
    return loaded.project.name_of(path)


def _files(project: Project, written: Sequence[str]) -> list[Path]:
    """Return the rubric files of paths, folders and globs; of the repository, if there are none."""
    if not written:
        return [project.root / name for name in sorted(project.files.matching(f"**/*{ENDING}"))]
    found = list[Path]()
    for each in written:
        path = Path(each)
        some = sorted(path.rglob(f"*{ENDING}")) if path.is_dir() else [path]
        if not path.exists():
            some = sorted(Path().glob(each)) if not path.is_absolute() else []
        if not some:
            raise CannotFindEvals(f"{each} names no rubric file", f"they end in `{ENDING}`")
        found += some
    return found
