"""Where the other side is a report, the head alone is asked again."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from rubric_ci.grading.resolve import Task
from rubric_ci.services.run.base_comparison import ask_suspects
from rubric_ci.services.run.sides import HeadOnly
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.results import CaseResult, Graded, Trial
from rubric_ci.values.targets import CliTarget
from tests.cases import build_case
from tests.sample_reports import a_report, errored, graded, skipped

PASSED = Trial(verdict="pass", score=1.0)


@dataclass
class Head:
    """What each case answers when it is asked again: `p`, `f` or `e`, the last one repeated."""

    answers: dict[str, str]
    asked: list[str] = field(default_factory=list)

    async def grade(
        self, tasks: Sequence[Task], contexts: Sequence[RunContext], trials: int
    ) -> Sequence[CaseResult | None]:
        assert trials == 1
        self.asked += [
            f"{task.case.id}{context.trial}" for task, context in zip(tasks, contexts, strict=True)
        ]
        return [
            self._result(task.case.id, context.trial)
            for task, context in zip(tasks, contexts, strict=True)
        ]

    def _result(self, name: str, number: int) -> CaseResult:
        letters = self.answers[name]
        letter = letters[min(number - 1, len(letters) - 1)]
        return errored(name, "429") if letter == "e" else graded(name, VERDICTS[letter])

    def after(self, *cases: CaseResult, before: Sequence[CaseResult]) -> dict[str, CaseResult]:
        context = RunContext(call_model=cast(Any, None), root=Path(), environment={})
        asker = HeadOnly(context=context, grade=self.grade, rows=20, config=RegressionConfig())
        target = CliTarget(name="t", command_template="true")
        tasks = [Task(case=build_case(id=c.id, file=c.file), target=target) for c in cases]
        known = {task.case.key: task for task in tasks}
        work = ask_suspects(asker, a_report(*before), known, cases)
        return {case.id: case for case in asyncio.run(work)}


VERDICTS: dict[str, Any] = {"p": "pass", "f": "fail"}


def test_suspects_and_failing_new_cases_are_asked_again() -> None:
    head = Head({"a": "f", "b": "pp", "new": "pppp", "lost": "e"})
    five = graded("a", "pass", trials=(PASSED,) * 5)
    found = head.after(
        *(graded(name) for name in ("a", "b", "new", "lost", "before")),
        graded("good", "pass"),
        skipped("none"),
        before=[
            five,
            graded("b", "pass", trials=(PASSED,) * 5),
            graded("lost", "pass", trials=(PASSED,) * 5),
            graded("before"),
            graded("good", "pass"),
        ],
    )
    counts = {name: case.further_trials for name, case in found.items() if isinstance(case, Graded)}
    assert counts == {"a": 4, "b": 2, "new": 4, "before": 0, "good": 0}
    verdicts = {name: case.verdict for name, case in found.items() if isinstance(case, Graded)}
    assert (verdicts["a"], verdicts["b"], verdicts["new"]) == ("fail", "pass", "pass")
    assert found["lost"].outcome == "errored"
    assert found["lost"].reason.startswith("worse in its first answer, and no verdict in ")


def test_one_kept_answer_needs_ten_answers_here() -> None:
    head = Head({"a": "f"})
    found = head.after(graded("a"), before=[graded("a", "pass")])["a"]
    assert isinstance(found, Graded)
    assert len(found.trials) == 10
    assert head.asked == [f"a{n}" for n in range(1, 10)]
