"""The fixture `rubric`: answers of a test, held to criteria as in an eval file."""

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import pytest

from rubric_ci.errors import UserError
from rubric_ci.files.project.loader import load, no_files
from rubric_ci.parts.pytest.session_run import (
    InvalidCheck,
    NoVerdict,
    SessionRun,
    error_text,
    failure,
)
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Diagnostic
from rubric_ci.values.evals import EvalCase, TrialRule
from rubric_ci.values.problems import errors_of
from rubric_ci.values.results import Assessed, CaseResult, Errored, Graded, Skipped
from rubric_ci.values.trials import median_trial
from rubric_ci.values.usage import NOTHING_USED

Criterion: TypeAlias = str | Mapping[str, Any]
"""A criterion as an eval file has it: a text, or a mapping with the same keys."""

TRIAL: Final = pytest.StashKey[int]()
"""The number of the trial that runs, from 0."""

RULE: Final = pytest.StashKey[TrialRule]()


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    item: pytest.Item
    number: int
    case: EvalCase
    answer: str


class Checked(NamedTuple):
    """The result of a check of a test: its number in the trial, and the trial."""

    number: int
    trial: int
    result: CaseResult


class Checks:
    """The checks of the tests of this process, and the answers still to be judged."""

    def __init__(self, run: SessionRun) -> None:
        self.run = run
        self.results: dict[str, list[Checked]] = {}  # by test
        self.rules: dict[str, TrialRule] = {}
        self.later: list[Later] = []
        self.not_counted = NOTHING_USED  # by `mark`, and by checks that pytest excuses

    def add(self, item: pytest.Item, number: int, result: CaseResult) -> None:
        """Keep a result for the report, under the test and the number of the check in it."""
        checked = Checked(number, item.stash.get(TRIAL, 0), result)
        self.results.setdefault(item.nodeid, []).append(checked)
        if RULE in item.stash:
            self.rules[item.nodeid] = item.stash[RULE]

    def excuse(self, item: pytest.Item, *, trial: int | None = None) -> None:
        """Leave out misses that pytest excuses, of one trial or of the whole test.

        They are expected (`xfail`), or the test caught them (`raises`, a loop of attempts).
        """
        missed: set[int] = set()
        if trial is None:
            groups = self._by_number(item.nodeid)
            missed = {number for number, result in groups.items() if self._misses(result)}
        kept: list[Checked] = []
        for each in self.results.pop(item.nodeid, ()):
            excused = each.number in missed or (each.trial == trial and self._misses(each.result))
            if excused and not isinstance(each.result, Skipped):
                self.not_counted += each.result.usage
            else:
                kept.append(each)
        if kept:
            self.results[item.nodeid] = kept

    def _misses(self, result: CaseResult) -> bool:
        return isinstance(result, Graded) and failure(result, self.run.nothing) is not None

    def cases(self) -> Iterator[CaseResult]:
        """Yield one result per check: of several trials, the one that decides."""
        for nodeid in self.results:
            yield from self._by_number(nodeid).values()

    def _by_number(self, nodeid: str) -> dict[int, CaseResult]:
        groups: dict[int, list[CaseResult]] = {}
        for each in self.results.get(nodeid, ()):
            groups.setdefault(each.number, []).append(each.result)
        rule = self.rules.get(nodeid)
        return {number: median_trial(results, rule) for number, results in groups.items()}

    def judge_later(self) -> list[tuple[Later, CaseResult | UserError]]:
        """Judge what waits, all at once, and return it with the results."""
        waiting, self.later = self.later, []
        try:
            works = self.run.mark([(each.case, each.answer) for each in waiting])
            results: Sequence[CaseResult | UserError] = self.run.loop.run(works)
        except UserError as error:
            results = [error] * len(waiting)
        return list(zip(waiting, results, strict=True))


class Rubric:
    """Holds answers to criteria; each check is a case of the report, named as its test is."""

    def __init__(self, item: pytest.Item, checks: Checks) -> None:
        self._item, self._checks, self._run = item, checks, checks.run
        self._trial, self._number = 0, 0

    def check(
        self,
        answer: Any,
        *criteria: Criterion,
        question: str | None = None,
        expected_outcome: str | None = None,
    ) -> None:
        """Fail the test unless the answer passes: a text, or a value that is shown as JSON."""
        __tracebackhide__ = True
        number, case = self._case(criteria, question, expected_outcome)
        self._hold(number, self._wait_for(case, answer))

    async def acheck(
        self,
        answer: Any,
        *criteria: Criterion,
        question: str | None = None,
        expected_outcome: str | None = None,
    ) -> None:
        """Check without blocking the event loop of the test."""
        __tracebackhide__ = True
        number, case = self._case(criteria, question, expected_outcome)
        try:
            work = self._run.mark([(case, text_of(answer))], self._trial)
            (result,) = await asyncio.wrap_future(self._run.loop.start(work))
        except UserError as error:
            raise NoVerdict(error_text(error)) from None
        self._hold(number, result)

    def mark(
        self,
        answer: Any,
        *criteria: Criterion,
        question: str | None = None,
        expected_outcome: str | None = None,
    ) -> list[float]:
        """Return the marks of the criteria, 0 to 1; only what they used is in the report."""
        __tracebackhide__ = True
        _, case = self._case(criteria, question, expected_outcome, counts=False)
        result = self._wait_for(case, answer)
        if not isinstance(result, Skipped):
            self._checks.not_counted += result.usage
        if not isinstance(result, Graded):
            raise_ungraded(result)
        assessed = (each for each in result.evaluators if isinstance(each, Assessed))
        return [criterion.normalised for each in assessed for criterion in each.criteria]

    def later(
        self,
        answer: Any,
        *criteria: Criterion,
        question: str | None = None,
        expected_outcome: str | None = None,
    ) -> None:
        """Check at the end of the module, together with the other answers of its tests."""
        __tracebackhide__ = True
        if RULE in self._item.stash:
            raise InvalidCheck("a test with trials is decided at once: use `rubric.check`")
        number, case = self._case(criteria, question, expected_outcome)
        waiting = Later(item=self._item, number=number, case=case, answer=text_of(answer))
        self._checks.later.append(waiting)

    def _wait_for(self, case: EvalCase, answer: Any) -> CaseResult:
        try:
            work = self._run.mark([(case, text_of(answer))], self._trial)
            return self._run.loop.run(work)[0]
        except UserError as error:
            raise NoVerdict(error_text(error)) from None

    def _hold(self, number: int, result: CaseResult) -> None:
        __tracebackhide__ = True
        self._checks.add(self._item, number, result)
        if not isinstance(result, Graded):
            raise_ungraded(result)
        if error := failure(result, self._run.nothing):
            raise error

    def _case(
        self,
        criteria: Sequence[Criterion],
        question: str | None,
        expected_outcome: str | None,
        *,
        counts: bool = True,
    ) -> tuple[int, EvalCase]:
        """Return the number of the check in its trial and its case; raises InvalidCheck."""
        __tracebackhide__ = True
        if (trial := self._item.stash.get(TRIAL, 0)) != self._trial:
            self._trial, self._number = trial, 0
        self._number += counts
        name = self._item.nodeid.partition("::")[2]
        written = {
            "id": f"{name} ({self._number})" if self._number > 1 else name,
            "raw": True,  # an answer or a question of a test has no variables
            "expected_outcome": expected_outcome,
            "input": question or "?",
            "rubrics": list(criteria),
        }
        case = {key: value for key, value in written.items() if value is not None}
        read = read_case(case, self._item.path, self._line(), self._run)
        return self._number, read if question else replace(read, input_messages=())

    def _line(self) -> int:
        frame: FrameType | None = sys._getframe()
        while frame and frame.f_code.co_filename != str(self._item.path):
            frame = frame.f_back
        return frame.f_lineno if frame else (self._item.location[1] or 0) + 1


def read_case(case: Mapping[str, Any], path: Path, line: int, run: SessionRun) -> EvalCase:
    """Return a case that was written in a test, by the rules of eval files, at its line.

    Raises InvalidCheck with the problems.
    """
    __tracebackhide__ = True
    for each in case["rubrics"]:
        if isinstance(each, list | tuple):
            raise InvalidCheck(
                "a criterion is a list; write `check(answer, *criteria)` for several"
            )
    try:
        written = json.dumps({"evalcases": [case]}, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InvalidCheck(f"a criterion is a text or a mapping of JSON values: {error}") from None
    text = "\n" * (line - 1) + written  # so that all of it is at the line
    name = run.project.name_of(path)
    evaluator = run.project.summary.default_evaluator
    found = load(name, text, no_files, rules=run.project.rules, default_evaluator=evaluator)
    if not found.eval_file:
        raise InvalidCheck("\n".join(map(_described, errors_of(found.diagnostics))))
    return found.eval_file.cases[0]


def _described(problem: Diagnostic) -> str:
    return f"{problem.message}; {problem.hint}" if problem.hint else problem.message


def text_of(answer: Any) -> str:
    """Return an answer as a text: a value that is not text as JSON."""
    if isinstance(answer, str):
        return answer
    return json.dumps(answer, ensure_ascii=False, indent=2)


def raise_ungraded(result: Errored | Skipped) -> NoReturn:
    """Raise the failure or the skip that an answer without a verdict means for its test."""
    __tracebackhide__ = True
    if isinstance(result, Skipped):
        pytest.skip(result.reason)
    raise NoVerdict(result.reason)
