"""The hooks of a session that asks for `--rubric-ci`."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pytest
from _pytest.mark.expression import Expression
from _pytest.runner import runtestprotocol  # as other plugins that report an item themselves

from rubric_ci.errors import ExitCode, UserError
from rubric_ci.files.project.file_kinds import SUFFIXES
from rubric_ci.gate.report import json_format
from rubric_ci.gate.report.decision import exit_code
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.parts.pytest.fixture import Checks, Rubric
from rubric_ci.parts.pytest.items import CaseItem, EvalFile, GateItem, OutcomeHooks, asks, item_name
from rubric_ci.parts.pytest.session_run import (
    WIDTH,
    NoVerdict,
    SessionRun,
    Waived,
    error_text,
    read_settings,
    shared_report,
)
from rubric_ci.reports import terminal, usage_text
from rubric_ci.services.publish_files import write_reports
from rubric_ci.services.publish_workflow import publish
from rubric_ci.values.command_settings import RunSettings
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.formats_and_defaults import REPORT_FILES
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult
from rubric_ci.values.scope import Narrowing

NAME: Final = "rubric-ci-session"


def _marked(config: pytest.Config) -> Callable[[EvalCase], bool]:
    """Return a predicate of the cases that `-m` and `-k` choose; their tags are their markers."""
    marks, words = (
        Expression.compile(written) if (written := config.getoption(name, "").strip()) else None
        for name in ("markexpr", "keyword")
    )

    def chosen(case: EvalCase) -> bool:
        def has(name: str, /, **_: object) -> bool:
            return name in case.tags

        def is_named(word: str, /, **_: object) -> bool:
            names = (*PurePosixPath(case.file).parts, item_name(case), *case.tags)
            return any(word.casefold() in name.casefold() for name in names)

        return (not marks or marks.evaluate(has)) and (not words or words.evaluate(is_named))

    return chosen


class Hooks:
    """Collects, grades, reports; in a worker of pytest-xdist as well as in the main process."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.worker: dict[str, Any] = getattr(config, "workerinput", {})
        shared = self.worker.get("rubric_ci")
        settings = read_settings(_arguments(config))
        self.run = SessionRun(settings, Path(shared) if shared else None, _marked(config))
        self.checks = Checks(self.run)
        self.files: set[Path] = set()
        self.of_workers: list[CaseResult] = []
        self.left_out = self.gate_deselected = False
        self.final: RunReport | None = None
        config.pluginmanager.register(
            OutcomeHooks(self.checks, is_worker=bool(self.worker)), f"{NAME}-outcomes"
        )
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def rubric(self, item: pytest.Item) -> Rubric:
        return Rubric(item, self.checks)

    def report(self) -> RunReport:
        """Return the report of all that was graded; raises NoVerdict."""
        if self.final:
            return self.final
        cases = tuple(self.checks.cases())
        report = self.run.report()
        return self.run.complete(report, cases) if cases else report

    def pytest_report_header(self) -> str:
        with _setup_errors():
            judge = self.run.project.config_for("").judge
        settings = self.run.settings
        model = settings.models.judge or (judge.name if judge else "none")
        cap = settings.requests.max_cost_usd
        most = "no cap" if cap is None else f"at most ${cap:g}"
        return f"rubric-ci: judge {model}, {most}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        if self.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            with _setup_errors():
                named = [Path(arg).resolve() for arg in self.config.args]
                others = (
                    path
                    for path in sorted(self.run.eval_files)
                    if not any(path.is_relative_to(each) for each in named)
                )
                self.config.args.extend(map(str, others))

    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> pytest.Collector | None:
        """Collect an eval file of the project, or one that is named."""
        named = parent.session.isinitpath(file_path) and file_path.name.endswith(SUFFIXES)
        with _setup_errors():
            if not (named or file_path.resolve() in self.run.eval_files):
                return None
        collector: pytest.Collector = EvalFile.from_parent(parent, path=file_path, run=self.run)
        return collector

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        """Remember the eval files that are asked for; pytest offers all files of their folders."""
        if isinstance(collector, EvalFile):
            self.files.add(collector.path)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        cases = [item for item in items if isinstance(item, CaseItem)]
        if not cases and not any(map(asks, items)):
            return
        with _setup_errors():
            selection = self.run.select(self.files if cases else ())
        chosen = {case.key for case, _ in selection.chosen}
        left = [item for item in cases if item.case.key not in chosen]
        if left:
            config.hook.pytest_deselected(items=left)
            items[:] = [item for item in items if item not in left]
        for waiver in selection.waivers:
            for item in cases:
                if waiver.state == "not-run" and item.case.key == (waiver.file, waiver.case):
                    reason = f"{waiver.criterion} is waived until {waiver.until}: {waiver.reason}"
                    item.add_marker(pytest.mark.xfail(raises=Waived, strict=True, reason=reason))
        if not self.worker:  # no worker knows what the others check
            items.extend(self._gate(session))

    def _gate(self, session: pytest.Session) -> list[pytest.Item]:
        place = self.run.root / (self.run.project.config_name or "rubric-ci.yaml")
        parent: pytest.File = _Configuration.from_parent(session, path=place)
        item: pytest.Item = GateItem.from_parent(parent, name="gate", run=self.run, hooks=self)
        if item.nodeid.startswith(tuple(self.config.getoption("deselect") or ())):
            self.config.hook.pytest_deselected(items=[item])
            self.gate_deselected = True
            return []
        return [item]

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.left_out = self.left_out or any(map(asks, items))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Choose the cases of the items that are left, and share the caps between workers."""
        keys = {item.case.key for item in session.items if isinstance(item, CaseItem)}
        tests = any(map(asks, session.items))
        self.run.choose(keys, *self._narrowed(tests=tests))
        workers = self.worker.get("workercount", 1)
        if tests and workers > 1:
            self.run.settings = _share(self.run.settings, workers + bool(keys))

    def _narrowed(self, *, tests: bool) -> Iterator[Narrowing]:
        if tests and self.config.args_source is pytest.Config.ArgsSource.ARGS:
            yield "paths"
        if self.left_out:
            yield "case"

    @property
    def _terminal(self) -> Any:
        """The reporter of pytest; None in a worker of pytest-xdist."""
        return self.config.pluginmanager.get_plugin("terminalreporter")

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Grade before the first case, and let its announcement be seen."""
        if isinstance(item, CaseItem):
            capture: Any = self.config.pluginmanager.get_plugin("capturemanager")
            with capture.global_and_fixture_disabled(), suppress(NoVerdict):
                if self.run.graded is None and (shown_by := self._terminal):
                    shown_by.ensure_newline()
                self.run.report()  # the item says what is wrong

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="rubric-ci-")
        node.workerinput["rubric_ci"] = self._folder.name

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        text = getattr(node, "workeroutput", {}).get("rubric_ci")
        if text:
            report = json_format.read(text, "a worker")
            self.of_workers.extend(report.cases)
            self.checks.not_counted += report.beyond_cases

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report of everything; a worker hands in the results of its tests."""
        checked = tuple(self.checks.cases())
        try:
            if self.worker:
                if checked or self.checks.not_counted.calls:
                    report = self.run.complete(self.run.nothing, checked, self.checks.not_counted)
                    # `workeroutput` is the attribute of pytest-xdist, which need not be there
                    self.config.workeroutput["rubric_ci"] = "".join(json_format.pieces(report))  # type: ignore[attr-defined]
                return
            self.final = self._whole((*checked, *self.of_workers))
        finally:
            self.run.close()
            if self._folder:
                self._folder.cleanup()
        if self.final is None:
            return
        stopped = session.shouldfail or session.shouldstop
        for item in self._gate(session) if self._folder and not stopped else ():
            session.testscollected += 1
            item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            runtestprotocol(item, nextitem=None)
            item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        passes = exit_code(self.final) is ExitCode.OK or self.gate_deselected
        if session.exitstatus == pytest.ExitCode.OK and not passes:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _whole(self, checked: Sequence[CaseResult]) -> RunReport | None:
        """Return the report of all processes, written; None: nothing was graded."""
        report = self.run.graded
        if self._folder and (file := shared_report(Path(self._folder.name))).exists():
            report = read_report(file)
        if checked or (report and self.checks.not_counted.calls):
            self.run.choose((), *self._narrowed(tests=True))
            report = self.run.complete(report or self.run.nothing, checked, self.checks.not_counted)
            write_reports(report, self.run.settings.report)
        if report:
            settings = self.run.settings
            exports = not settings.requests.offline
            publish(report, self._written(), settings.report, os.environ, exports=exports)
        return report

    def _written(self) -> tuple[Path, ...]:
        settings = self.run.settings.report
        return tuple(settings.output_dir / REPORT_FILES[name] for name in settings.reports)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.final:
            terminalreporter.section("rubric-ci")
            text = terminal.render(self.final, width=WIDTH, color=False, detail="verdict")
            files = ", ".join(path.as_posix() for path in self._written())
            facts = " · ".join((*usage_text.brief(self.final), files))
            terminalreporter.write(f"{text}{facts}\n")


class _Configuration(pytest.File):
    """The file that has the gate; it is not collected as a test."""

    def collect(self) -> tuple[()]:
        return ()


def _arguments(config: pytest.Config) -> list[str]:
    given = {
        "--config": config.getoption("rubric_ci_config"),
        "--changed-since": config.getoption("rubric_ci_changed_since"),
        "--max-cost-usd": config.getoption("rubric_ci_max_cost_usd"),
    }
    return [word for name, value in given.items() if value is not None for word in (name, value)]


def _share(settings: RunSettings, shares: int) -> RunSettings:
    """Return the settings with a share of the caps: workers do not see each other's requests."""
    cost, calls = settings.requests.max_cost_usd, settings.requests.max_calls
    requests = replace(
        settings.requests,
        max_cost_usd=None if cost is None else cost / shares,
        max_calls=None if calls is None else calls // shares,
    )
    return replace(settings, requests=requests)


@contextmanager
def _setup_errors() -> Iterator[None]:
    """End the session with a message if the configuration cannot be used."""
    try:
        yield
    except UserError as error:
        raise pytest.UsageError(f"rubric-ci: {error_text(error)}") from None
