"""Eval files as pytest collects them (a file, its cases, the gate), and the outcomes of tests."""

from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import pytest
from _pytest.runner import runtestprotocol  # as other plugins that hold reports back
from _pytest.skipping import xfailed_key

from rubric_ci.errors import ExitCode, UserError
from rubric_ci.files.validation.problem_formats import headline
from rubric_ci.gate.report.decision import exit_code
from rubric_ci.parts.pytest.fixture import RULE, TRIAL, Checks, Later
from rubric_ci.parts.pytest.session_run import (
    GateFails,
    InvalidCheck,
    Missed,
    NoVerdict,
    SessionRun,
    Waived,
    cut,
    error_text,
    failure,
    raise_at,
)
from rubric_ci.reports import summary, wording
from rubric_ci.text.suggestions import did_you_mean, known_names, nearest
from rubric_ci.values.evals import EvalCase, TrialRule
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Errored, Graded, Skipped


class EvalFile(pytest.File):
    def __init__(self, *, run: SessionRun, **extra: Any) -> None:
        super().__init__(**extra)
        self.run = run

    def collect(self) -> Iterator["CaseItem"]:
        """Yield an item per case; a file with problems is an error with their places."""
        try:
            loaded = self.run.load(self.path)
        except UserError as error:
            raise self.CollectError(error_text(error)) from None
        if loaded.invalid:
            raise self.CollectError("\n".join(map(headline, loaded.diagnostics)))
        for case in loaded.cases:
            yield CaseItem.from_parent(self, name=item_name(case), case=case, run=self.run)


def item_name(case: EvalCase) -> str:
    """Return the name of a case in node ids; of one of several targets with the target."""
    return f"{case.written_id}[{case.target}]" if case.written_id else case.id


class CaseItem(pytest.Item):
    """A case; the first one that is set up grades all cases of the session."""

    def __init__(self, *, case: EvalCase, run: SessionRun, **extra: Any) -> None:
        super().__init__(**extra)
        self.case, self.run = case, run
        for tag in case.tags:
            # NOTE: `pytest.mark` would refuse a tag that no setting of pytest registers.
            self.own_markers.append(pytest.Mark(tag, (), {}, _ispytest=True))
            self.keywords[tag] = tag

    @property
    def place(self) -> Path:
        """The file that has the case, which a suite may name."""
        return self.run.root / self.case.file

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.place, self.case.span.line - 1, self.name

    @property
    def result(self) -> CaseResult:
        return self.run.result(self.case.key)

    def setup(self) -> None:
        """Grade; a case without a verdict is an error, one with nothing to grade is skipped."""
        try:
            result = self.result
        except NoVerdict as error:  # the run cannot start
            raise_at(self.place, self.case.span.line, self.name, error)
        if isinstance(result, Errored):
            raise_at(self.place, result.line, self.name, NoVerdict(result.reason))
        if isinstance(result, Skipped):
            raise_at(self.place, result.line, self.name, pytest.skip.Exception(result.reason))

    def runtest(self) -> None:
        """Raise the failure of the case at the line of its first missed criterion."""
        result = self.result
        if isinstance(result, Graded):
            self.user_properties.append(("score", result.score))
            check(result, self.run.report(), self.run.root)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the lines that `rubric-ci run` prints."""
        if not isinstance(excinfo.value, (Missed, Waived, NoVerdict)):
            return super().repr_failure(excinfo, style)
        cut(excinfo, self.place)
        return excinfo.getrepr(style="short", chain=False)


def check(result: Graded, report: RunReport, root: Path) -> None:
    """Raise, at the place of the criterion in an eval file, unless an answer is good enough."""
    if error := failure(result, report):
        missed = wording.missed_criteria(result, report)
        lines = [criterion.line for criterion in missed if not criterion.file]
        raise_at(root / result.file, (lines or [result.line])[0], result.id, error)


class GateItem(pytest.Item):
    """The gate of the run, which decides about all cases together."""

    def __init__(self, *, run: SessionRun, hooks: Any, **extra: Any) -> None:
        super().__init__(**extra)
        self.run, self.hooks = run, hooks

    @property
    def place(self) -> Path:
        return self.path

    @cached_property
    def report(self) -> RunReport:
        found: RunReport = self.hooks.report()
        return found

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, self.name

    def setup(self) -> None:
        """Grade; a gate that is not decided is an error."""
        if exit_code(self.report) is ExitCode.NO_VERDICT:
            raise_at(self.path, 1, self.name, NoVerdict(summary.heading(self.report)))

    def runtest(self) -> None:
        if exit_code(self.report) is ExitCode.GATE:
            lines = (summary.heading(self.report), summary.gate_settings(self.report))
            raise_at(self.path, 1, self.name, GateFails("\n".join(filter(None, lines))))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, (GateFails, NoVerdict)):
            return super().repr_failure(excinfo, style)
        cut(excinfo, self.path)
        return excinfo.getrepr(style="value")


WORD: Final = pytest.StashKey[str]()
"""The word for a test that passes: `flaky` or `borderline`."""


class OutcomeHooks:
    """Runs and reports the tests that ask the judge, and the cases."""

    def __init__(self, checks: Checks, *, is_worker: bool) -> None:
        self.checks, self.is_worker = checks, is_worker
        self.held: list[tuple[pytest.Item, list[pytest.TestReport]]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        mark = pyfuncitem.get_closest_marker("rubric")
        if mark is None or TRIAL in pyfuncitem.stash:
            return None
        rule = pyfuncitem.stash[RULE] = _rule(mark)
        failures: list[BaseException] = []
        for number in range(rule.count):
            pyfuncitem.stash[TRIAL] = number
            try:
                pyfuncitem.ihook.pytest_pyfunc_call(pyfuncitem=pyfuncitem)
                self.checks.excuse(pyfuncitem, trial=number)
            except (AssertionError, pytest.fail.Exception) as error:
                failures.append(error)
            finally:
                del pyfuncitem.stash[TRIAL]
        passed = rule.count - len(failures)
        counts = f"{passed} of {rule.count} trials pass"
        if passed < rule.passes:
            raise Missed(f"{counts}, and {rule.passes} must") from failures[-1]
        if failures:
            pyfuncitem.stash[WORD] = f"flaky: {counts}"
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Report a missing verdict as an error, and what passes narrowly by its own word."""
        info = call.excinfo
        error = info.value if info else None
        if info and isinstance(error, NoVerdict) and isinstance(item, CaseItem | GateItem):
            cut(info, item.place)  # before pytest renders each frame of a set-up, which takes long
            report = yield
            report.longrepr = item.repr_failure(info)
        else:
            report = yield
        if isinstance(error, NoVerdict | InvalidCheck):
            report.outcome = "failed"  # a mark `xfail` excuses a miss only
            vars(report).pop("wasxfail", None)
            _make_error(report)
        elif call.when != "teardown" and _is_excused(item, report):
            self.checks.excuse(item)
        if report.when == "call" and report.passed:
            word = item.stash.get(WORD, "")
            if isinstance(item, CaseItem) and item.result.status == "borderline":
                word = "borderline"
            report.user_properties += [("rubric-ci", word)] if word else []
        return report

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        if report.when != "call" or not report.passed:
            return None
        word = dict(report.user_properties).get("rubric-ci")
        if word is None:
            return None
        category = str(word).partition(":")[0]
        return category, category[0], (str(word).upper(), {"yellow": True})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        """Hold back the reports of a test whose answers are judged later."""
        if not asks(item):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if any(each.item is item for each in self.checks.later):
            self.held.append((item, reports))
        else:
            _log(item, reports)
        return True

    @pytest.hookimpl(wrapper=True, specname="pytest_runtest_protocol")
    def pytest_runtest_protocol_end(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Judge what waits after the last test of a module, and report its tests."""
        done = yield
        # Nothing may wait when the session stops, or for a worker, which reports each test.
        ends = self.is_worker or item.session.shouldfail or item.session.shouldstop
        if self.held and (ends or nextitem is None or nextitem.path != item.path):
            ended = self.checks.judge_later()
            for held, reports in self.held:
                for each, result in ended:
                    if each.item is held:
                        self._end(each, result, reports)
                _log(held, reports)
            self.held.clear()
        return done

    def _end(
        self, later: Later, result: CaseResult | UserError, reports: list[pytest.TestReport]
    ) -> None:
        """Put the result of an answer that was judged later into the report of its test."""
        error: Exception | None
        if isinstance(result, UserError):
            error = NoVerdict(error_text(result))
        else:
            self.checks.add(later.item, later.number, result)
            error = (
                failure(result, self.checks.run.nothing)
                if isinstance(result, Graded)
                else NoVerdict(result.reason)
            )
        call = next((each for each in reports if each.when == "call"), None)
        expected = later.item.stash.get(xfailed_key, None)
        if error is None or call is None or (call.failed and expected is None):
            return
        if expected is not None and not isinstance(error, NoVerdict) and _raises(expected, error):
            call.outcome, call.longrepr = "skipped", _shown_at(later, error)
            call.wasxfail = expected.reason
            self.checks.excuse(later.item)
            return
        call.outcome = "failed"
        call.longrepr = _shown_at(later, error)
        if isinstance(error, NoVerdict):
            _make_error(call)


def asks(item: pytest.Item) -> bool:
    return "rubric" in getattr(item, "fixturenames", ())


def _rule(mark: pytest.Mark) -> TrialRule:
    """Return the trials of a mark; without a number, all must pass. Raises InvalidCheck."""
    names = ("trials", "pass_at_least")
    if mark.args:
        raise InvalidCheck(
            f"the mark `rubric` takes names only: rubric({names[0]}={mark.args[0]!r})"
        )
    for name, value in mark.kwargs.items():
        if name not in names:
            meant = did_you_mean(nearest(name, names)) or known_names(names)
            raise InvalidCheck(f"the mark `rubric` has no `{name}`; {meant}")
        if type(value) is not int:
            raise InvalidCheck(f"{name}={value!r}: expected an integer, such as {name}=5")
    trials = mark.kwargs.get("trials", 1)
    passes = mark.kwargs.get("pass_at_least", trials)
    if not 1 <= passes <= trials:
        raise InvalidCheck(f"pass_at_least={passes} of trials={trials}: expected 1 to {trials}")
    return TrialRule(count=trials, passes=passes)


def _raises(expected: Any, error: Exception) -> bool:
    """Return True if a mark `xfail` excuses an error; with `raises`, one of these alone."""
    return expected.raises is None or isinstance(error, expected.raises)


def _is_excused(item: pytest.Item, report: pytest.TestReport) -> bool:
    """Return True if misses of a test do not fail it; of a test with trials, its rule decides."""
    return hasattr(report, "wasxfail") or (report.passed and RULE not in item.stash)


def _make_error(report: pytest.TestReport) -> None:
    # pytest knows an error by its phase: one of the call is a failed test.
    if report.when == "call":
        report.when = "setup"


def _log(item: pytest.Item, reports: Sequence[pytest.TestReport]) -> None:
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _shown_at(later: Later, error: Exception) -> Any:
    """Return an error as pytest shows it, at the line that asked for the check."""
    try:
        raise_at(later.item.path, later.case.span.line, later.item.name, error)
    except type(error) as raised:
        info = pytest.ExceptionInfo.from_exception(raised)
    cut(info, later.item.path)
    return info.getrepr(style="short", chain=False)
