"""Eval files as pytest collects them: a file, its cases, and the gate."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import ExitCode, UserError
from rubric_ci.files.validation.output.plain_text import headline
from rubric_ci.gate.report.decision import exit_code
from rubric_ci.parts.pytest.session_run import (
    GateFails,
    Missed,
    NoVerdict,
    SessionRun,
    Waived,
    cut,
    error_text,
    raise_at,
)
from rubric_ci.reports.render import summary, terminal, wording
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Errored, Graded, Skipped

WIDTH = 100  # columns of a failure


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
