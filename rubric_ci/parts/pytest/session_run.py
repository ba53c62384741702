"""The one run of a session, and the failures of its items, raised at the line of an eval file.

The cases of its eval files are graded once, with the answers that tests bring.
"""

import ast
import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Final, NoReturn

import click
import pytest

from rubric_ci.cli.commands.run import grade_inputs
from rubric_ci.cli.main import main
from rubric_ci.cli.options_run_and_plan import SETTINGS_ONLY
from rubric_ci.cli.options_run_and_plan import run as run_command
from rubric_ci.errors import CannotConfigure, CannotFindEvals, UserError
from rubric_ci.files.project import eval_search, working_tree
from rubric_ci.files.project.change import Change
from rubric_ci.files.project.loaded_project import LoadedProject, load_evals
from rubric_ci.files.project.project import Project
from rubric_ci.gate.comparison.baseline_files import open_baseline
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.gate.report import json_format
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.gate.selection.affected_cases import Selection
from rubric_ci.gate.selection.changed_cases import open_with_change
from rubric_ci.grading.engine import grade
from rubric_ci.grading.tasks import build_task
from rubric_ci.reports import terminal, wording
from rubric_ci.services.publish_files import check_outputs, write_reports
from rubric_ci.services.run.base_comparison import Outcome
from rubric_ci.services.run.finished_report import finish, remember, with_cases
from rubric_ci.services.run.grade import GradedRun, RunInput
from rubric_ci.services.run.inputs import open_inputs, runner_of, select
from rubric_ci.system import file_io
from rubric_ci.system.coroutines import BackgroundLoop
from rubric_ci.values.command_settings import RunSettings
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Graded
from rubric_ci.values.scope import Narrowing, Scope
from rubric_ci.values.targets import MockTarget
from rubric_ci.values.usage import NOTHING_USED, Usage


class Missed(AssertionError):
    """An answer misses criteria."""


class Waived(AssertionError):
    """An answer misses criteria that a waiver excuses."""


class GateFails(AssertionError):
    """The gate of the run fails."""


class NoVerdict(Exception):
    """A judge, a target, a script or a budget failed: an error, not a failed test."""


class InvalidCheck(Exception):
    """The criteria of a check are not valid."""


for _each in (Missed, Waived, GateFails, NoVerdict, InvalidCheck):
    _each.__module__ = "rubric_ci"  # what pytest prints before the name


def raise_at(path: Path, line: int, name: str, error: BaseException) -> NoReturn:
    """Raise an error at a line of a file that is not Python.

    So every reader of a report, also an IDE, finds the place. `name` is the case.
    """
    tree = ast.parse("raise error")
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0
    code = compile(tree, str(path), "exec").replace(co_name=name)
    exec(code, {"error": error.with_traceback(None)})  # noqa: S102 - one fixed statement
    raise error


def cut(info: pytest.ExceptionInfo[BaseException], path: Path) -> None:
    """Leave of a traceback only what is in a file, if it is there."""
    found = info.traceback.cut(path=path)
    if found[0].path == path:
        info.traceback = found


TARGET: Final = "pytest"  # what reports call the target of an answer that a test brings
WIDTH: Final = 100  # columns of a failure
_PATIENCE: Final = 86_400  # seconds that a worker waits for the one that grades


def read_settings(arguments: Sequence[str]) -> RunSettings:
    """Return the settings of `rubric-ci run`, with its environment variables."""
    group = click.Context(main, info_name="rubric-ci", auto_envvar_prefix="RUBRIC_CI")
    try:
        with run_command.make_context(
            "run", [*arguments], parent=group, obj=SETTINGS_ONLY
        ) as context:
            settings: RunSettings = run_command.invoke(context)
    except click.UsageError as error:
        raise pytest.UsageError(f"rubric-ci: {error.format_message()}") from None
    # pytest shows the progress
    return replace(settings, report=replace(settings.report, quiet=True))


class SessionRun:
    """Loads, selects and grades what the items of a session ask for, each once."""

    def __init__(
        self,
        settings: RunSettings,
        shared: Path | None = None,
        marked: Callable[[EvalCase], bool] = lambda _: True,
    ) -> None:
        """Take the folder that the workers of pytest-xdist share; None: there is one process.

        `marked` is true for cases that `-m` chooses.
        """
        self._marked = marked
        self.settings = settings
        self.shared = shared
        self.started_at, self._clock = datetime.now(UTC), monotonic()
        self._keys: Collection[CaseKey] = ()
        self._narrowed: tuple[Narrowing, ...] = ()
        self._selected: tuple[LoadedProject, Selection] | None = None
        self._failure: UserError | None = None
        self._results: dict[CaseKey, CaseResult] = {}

    @cached_property
    def _checkout(self) -> tuple[Project, Change]:
        if tool := runner_of(self.settings.select.config, self.settings.models.target):
            raise CannotConfigure(
                f"target `{tool.name}` is another eval tool, whose cases are not tests of pytest",
                "use `rubric-ci run`, or name another target in RUBRIC_CI_RUN_TARGET",
            )
        settings = self.settings
        return open_with_change(settings.select, settings.models, settings.report.output_dir)

    @property
    def root(self) -> Path:
        return self._checkout[0].root

    @property
    def project(self) -> Project:
        return self._checkout[0]

    @cached_property
    def eval_files(self) -> frozenset[Path]:
        """The eval files of the project, absolute."""
        try:
            found = eval_search.find_evals(self.project, self.settings.select.paths)
        except CannotFindEvals:
            return frozenset()
        return frozenset(path.resolve() for path in found)

    def load(self, path: Path) -> LoadedProject:
        return load_evals(self.project, [working_tree.from_here(path)])

    def select(self, files: Collection[Path]) -> Selection:
        """Choose the cases of eval files that a change can affect, and find their waivers."""
        self._selected = self._select(files)
        return self._selected[1]

    def _select(self, files: Collection[Path]) -> tuple[LoadedProject, Selection]:
        if files:
            whole = {path.resolve() for path in files} == self.eval_files
            paths = (
                () if whole else tuple(str(working_tree.from_here(path)) for path in sorted(files))
            )
            settings = self.settings
            if not whole:
                settings = replace(settings, select=replace(settings.select, paths=paths))
            return select(settings, self.started_at.date(), os.environ, self._marked)
        project, change = self._checkout
        narrowed: list[Narrowing] = ["paths"] * bool(self.eval_files)
        scope = Scope(suite=None).narrowed(*narrowed)
        return load_evals(project, (), change), Selection(chosen=(), scope=scope)

    def choose(self, keys: Collection[CaseKey], *narrowed: Narrowing) -> None:
        """Keep of the selection the cases that will run."""
        self._keys, self._narrowed = frozenset(keys), narrowed

    @cached_property
    def loop(self) -> BackgroundLoop:
        return BackgroundLoop()

    @cached_property
    def inputs(self) -> RunInput:
        """The tasks of the cases, and the one context of the session."""
        loaded, selection = self._selected or self._select(())
        chosen = tuple((case, why) for case, why in selection.chosen if case.key in self._keys)
        dropped: list[Narrowing] = ["case"] * (len(chosen) < len(selection.chosen))
        scope = selection.scope.narrowed(*dropped, *self._narrowed)
        return open_inputs(
            loaded,
            replace(selection, chosen=chosen, scope=scope),
            self.settings,
            self._baseline(),
            environment=os.environ,
            plain=True,
        )

    def _baseline(self) -> Baseline | None:
        return open_baseline(self.settings.report.baseline, self.settings.select.against)

    def report(self) -> RunReport:
        """Return the report of the eval files' cases, graded once; raises NoVerdict."""
        if self._failure is None:
            try:
                return self._report
            except UserError as error:
                self._failure = error  # the next item does not try again
        raise NoVerdict(error_text(self._failure))

    def result(self, key: CaseKey) -> CaseResult:
        if not self._results:
            self._results = {case.key: case for case in self.report().cases}
        return self._results[key]

    @property
    def graded(self) -> RunReport | None:
        """The report of the eval files' cases; None: nothing was graded."""
        return self.__dict__.get("_report")

    @cached_property
    def _report(self) -> RunReport:
        if self.shared is None:
            return self._graded()
        file = shared_report(self.shared)
        with alone(self.shared):
            if not file.exists():
                report = self._graded()
                file_io.write_pieces(file, (p.encode() for p in json_format.pieces(report)))
        return read_report(file)

    def _graded(self) -> RunReport:
        if not self.inputs.tasks:
            return self.nothing
        check_outputs(self.settings.report)
        report, graded = grade_inputs(self.inputs, self.started_at, self._clock, self.loop.run)
        write_reports(report, self.settings.report)
        remember(self.inputs, graded)
        return report

    @cached_property
    def nothing(self) -> RunReport:
        """The report of a run of no case, to which answers of tests are added."""
        nothing = GradedRun(outcome=Outcome(results=()), sentinel=None, spent=NOTHING_USED)
        return finish(
            replace(self.inputs, tasks=()),
            nothing,
            os.environ,
            started_at=self.started_at,
            seconds=monotonic() - self._clock,
            forecast=None,
        )

    async def mark(
        self, answers: Sequence[tuple[EvalCase, str]], trial: int = 0
    ) -> tuple[CaseResult, ...]:
        """Return the results of answers that tests bring; runs in the loop of the session."""
        inputs = self.inputs
        models, requests = inputs.settings.models, inputs.settings.requests
        tasks = [
            build_task(
                case,
                "",
                inputs.loaded,
                models,
                requests,
                target=MockTarget(name=TARGET, response=answer),
            )
            for case, answer in answers
        ]
        context = replace(inputs.context, trial=trial)
        return await grade(tasks, context, concurrency=requests.concurrency)

    def complete(
        self, report: RunReport, cases: Sequence[CaseResult], marked: Usage = NOTHING_USED
    ) -> RunReport:
        """Return a report with the checks of tests, and the usage of their other marks."""
        report = replace(report, beyond_cases=report.beyond_cases + marked)
        report = with_cases(report, cases, self._baseline())
        return replace(report, duration_seconds=round(monotonic() - self._clock, 3))

    def close(self) -> None:
        if "loop" in self.__dict__:
            self.loop.close()


def failure(result: Graded, report: RunReport) -> Missed | Waived | None:
    """Return the failure of a graded answer; None: nothing that fails a test."""
    match result.status:
        case "waived":
            return Waived(", ".join(result.waived))
        case "fail" | report.gate.fail_on:
            text = terminal.case_text(result, report, width=WIDTH)
            return Missed(f"{wording.reason(result)}\n{text}")
        case _:
            return None


def shared_report(folder: Path) -> Path:
    return folder / "report.json"


def error_text(error: UserError) -> str:
    return f"{error.message}\n{error.hint}" if error.hint else error.message


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the one lock of a folder; a process that dies gives it back."""
    with closing(sqlite3.connect(folder / "lock", timeout=_PATIENCE, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield
