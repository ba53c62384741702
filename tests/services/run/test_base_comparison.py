"""Base and head compared: what is asked again, marked again, and said of each case."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from rubric_ci.grading.resolve import Task
from rubric_ci.services.run.asking import Key, Pair
from rubric_ci.services.run.base_comparison import (
    UNASKED,
    Outcome,
    compare,
    find_together,
    without_base,
)
from rubric_ci.services.run.sides import BaseSide, Sides
from rubric_ci.values.agent_program import HttpRequest
from rubric_ci.values.changes import Base
from rubric_ci.values.comparison import RegressionConfig, Together
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase, TrialRule
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.messages import Message, TextPart
from rubric_ci.values.report import Against, RemovedCase
from rubric_ci.values.results import CaseResult, Graded, Skipped
from rubric_ci.values.targets import CliTarget, Endpoint, LlmTarget, MockTarget, ServiceTarget
from rubric_ci.values.trials import median_trial
from rubric_ci.values.usage import Usage
from tests.cases import build_case
from tests.sample_reports import errored, graded, skipped

WORDS: Mapping[str, Any] = {"p": "pass", "b": "borderline", "f": "fail"}
TARGET = LlmTarget(name="default", endpoint=Endpoint(model="openai/any"))
ONE_CALL = Usage(calls=1)
REMOVED = (RemovedCase(file="a.yaml", id="gone"),)
CONTEXT = RunContext(call_model=cast(Any, None), root=Path(), environment={})
FRESH = CliTarget(name="t", command_template="true")


class Worktree:
    """No command is started."""

    def root(self) -> Path:
        raise AssertionError


def base_side(**facts: Any) -> BaseSide:
    return BaseSide(
        base=Base(commit="1" * 40, origin="the base"),
        committed_at="2026-01-01T00:00:00Z",
        worktree=cast(Any, Worktree()),
        read=lambda _: None,
        dependencies=lambda *_: None,
        **facts,
    )


def both_sides(base: BaseSide, grade: Any, *, trials: int = 1, rows: int) -> Sides:
    return Sides(
        base=base, context=CONTEXT, grade=grade, trials=trials, rows=rows, config=RegressionConfig()
    )


@dataclass
class Change:
    """Cases of which the first `worse` fail at the head; `today`: what the base says then."""

    cases: int
    worse: int
    today: str = "pass"  # "fail", "error"
    tags: tuple[str, ...] = ()
    asked: list[str] = field(default_factory=list)

    async def grade(
        self, tasks: Sequence[Task], contexts: Sequence[RunContext], trials: int
    ) -> Sequence[CaseResult | None]:
        assert trials == 1
        assert all(each.side.is_base and not each.side.reuse for each in contexts)
        assert all(each.fresh_judgements for each in contexts)
        self.asked += [task.case.id for task in tasks]
        return [self._today(task.case.id) for task in tasks]

    def _today(self, name: str) -> CaseResult:
        if self.today == "error":
            return errored(name, "429")
        fails = self.today == "fail" and int(name) < self.worse
        return graded(name, "fail" if fails else "pass")

    def found(self, **facts: Any) -> Together | None:
        pairs: dict[Key, Pair] = {}
        for n in range(self.cases):
            task = Task(case=build_case(id=f"{n}", file="e.yaml"), target=FRESH)
            head = graded(f"{n}", "fail" if n < self.worse else "pass", tags=self.tags)
            base = graded(f"{n}", "pass", answer_reused=True)
            pairs[task.case.key] = Pair(head_task=task, base_task=task, head=head, base=base)
        sides = both_sides(base_side(tasks={}), self.grade, rows=self.cases)
        return asyncio.run(find_together(replace(sides, **facts), pairs))


def key(name: str) -> Key:
    return "a.yaml", name


def now(name: str, trials: TrialRule | None = None) -> EvalCase:
    case = build_case(id=name, file="a.yaml")
    return replace(case, expected_outcome="now", trials=trials)


def then(name: str) -> EvalCase:
    said = Message(role="assistant", parts=(TextPart(text="then"),))
    criteria = (cast(Any, "criteria of the base"),)
    case = build_case(id=name, file="a.yaml")
    return replace(case, expected_outcome="then", expected_messages=(said,), evaluators=criteria)


@dataclass
class Script:
    """A change: the answers of each case on each side, one per trial, the last one repeated.

    An answer is its verdicts: under the rubrics of the head, then under those of the base. `e` is
    an error, `-` a skipped case.
    """

    head: Mapping[str, str]
    base: Mapping[str, str]
    edited: str = ""  # cases whose rubrics differ
    trials: int = 1
    rule: TrialRule | None = None  # of the case 0
    reused: str = ""  # cases whose answer at the base is from the cache
    recorded: str = ""
    calls_left: int = 99  # until the run is interrupted
    calls: list[str] = field(default_factory=list)

    async def grade(
        self, tasks: Sequence[Task], contexts: Sequence[RunContext], trials: int
    ) -> Sequence[CaseResult | None]:
        """Return the results; a call is shown as "h0 b0": sides and cases, `m` marks again."""
        pairs = list(zip(tasks, contexts, strict=True))
        self.calls.append(" ".join(self._shown(*pair) for pair in pairs))
        if len(self.calls) > self.calls_left:
            return [None] * len(tasks)
        return [self.result(task, context, trials) for task, context in pairs]

    def _shown(self, task: Task, context: RunContext) -> str:
        side = "b" if context.side.is_base else "h"
        marks = "m" if isinstance(task.target, MockTarget) else ""
        if marks:
            assert task.case == then(task.case.id)
        return f"{side}{marks}{task.case.id}"

    def result(self, task: Task, context: RunContext, trials: int) -> CaseResult:
        """Return the median of the trials of one task."""
        numbers = range(context.trial, context.trial + task.trials(trials))
        is_base = context.side.is_base
        each = [self._trial(task, n, is_base=is_base) for n in numbers]
        found = median_trial(each, task.case.trials)
        if not is_base or isinstance(found, Skipped):
            return found
        reused, recorded = task.case.id in self.reused, task.case.id in self.recorded
        first = reused and context.side.reuse
        return replace(found, answer_reused=first, recorded=recorded)

    def _trial(self, task: Task, number: int, *, is_base: bool) -> CaseResult:
        name = task.case.id
        if isinstance(task.target, MockTarget):
            text = task.target.response
        else:
            texts = (self.base if is_base else self.head)[name].split()
            text = texts[min(number, len(texts) - 1)]
        letter = text[task.case.expected_outcome == "then"]
        if letter == "-":
            return replace(skipped(name), file="a.yaml")
        if letter == "e":
            return errored(name, file="a.yaml", usage=ONE_CALL)
        return graded(name, WORDS[letter], file="a.yaml", answer=text, usage=ONE_CALL)

    def compare(self, target: LlmTarget = TARGET, **facts: Any) -> Outcome:
        """Return what a run finds, after the first round of both sides."""
        rules = {"0": self.rule}
        tasks = [Task(case=now(name, rules.get(name)), target=target) for name in self.head]
        known = {key(t.case.id): t for t in tasks if t.case.id in self.base}
        rubrics = {key(name): then(name) for name in self.edited}
        base = base_side(tasks=known, rubrics=rubrics, removed=REMOVED, **facts)
        sides = both_sides(base, self.grade, trials=self.trials, rows=20)
        head = [self.result(task, CONTEXT, self.trials) for task in tasks]
        first = [task for task in tasks if sides.first_task(task)]
        context = sides.base_context
        there = {task.case.key: self.result(task, context, self.trials) for task in first}
        return asyncio.run(compare(sides, "main", tasks, head, there))


def shown(found: Outcome) -> dict[str, tuple[str | None, str]]:
    return {each.id: (each.change, each.change_reason) for each in found.results}


def test_without_a_base_no_case_is_comparable() -> None:
    found = without_base("no parent", "main", [graded("0", "pass"), skipped("1")])
    assert found.against == Against(ref="main", commit="")
    assert shown(found) == dict.fromkeys("01", ("not-comparable", "no base: no parent"))


def test_each_case_is_compared_with_what_it_was() -> None:
    script = Script(
        {"0": "ff", "1": "pp", "2": "pp", "3": "ff", "4": "ee", "5": "--", "6": "pp", "7": "pp"},
        {"0": "pp", "1": "ff", "2": "pp", "3": "ff", "4": "pp", "5": "pp", "7": "ee"},
    )
    found = script.compare()
    assert shown(found) == {
        "0": ("broken", ""),
        "1": ("better", ""),
        "2": ("unchanged", ""),
        "3": ("failing-before", ""),
        "4": ("not-comparable", "no verdict: the judge was silent"),
        "5": ("not-comparable", "not graded: no rubrics"),
        "6": ("new", ""),
        "7": ("not-comparable", "no verdict at the base: the judge was silent"),
    }
    assert script.calls == ["h0", *["h0 b0"] * 3, "b0"]
    befores = [getattr(each, "before", None) for each in found.results]
    assert [each and each.verdict for each in befores] == [
        *("pass", "fail", "pass", "fail", None, None, None, None)
    ]
    assert found.against == Against(
        ref="main",
        commit="1" * 40,
        committed_at="2026-01-01T00:00:00Z",
        origin="the base",
        further_trials=4,
        asked=5,
        usage=Usage(calls=5 + 4),
    )
    assert found.removed == REMOVED


def test_failing_cases_without_a_counterpart_count_by_their_median() -> None:
    script = Script({"0": "ff pp", "1": "ff", "2": "pp"}, {"1": "ee"})
    found = script.compare()
    assert script.calls[:3] == ["h0 h1", "h0 h1", "h0"]
    assert [(each.change, getattr(each, "verdict", "")) for each in found.results] == [
        ("new", "pass"),
        ("not-comparable", "fail"),
        ("new", "pass"),
    ]


def test_a_suspect_with_too_few_answers_has_no_verdict() -> None:
    (case,) = Script({"0": "ff ee"}, {"0": "pp"}).compare().results
    reason = "worse in its first answer, and no verdict in 6 of 10 answers: the judge was silent"
    assert (case.outcome, case.change, case.reason) == ("errored", "not-comparable", reason)
    assert not isinstance(case, Skipped)
    assert case.before is not None
    assert (case.before.verdict, case.usage.calls) == ("pass", 7)


def test_further_answers_of_the_base_are_fresh() -> None:
    script = Script({"0": "ff"}, {"0": "pp ff"}, reused="0")
    found = script.compare()
    assert shown(found) == {"0": ("not-confirmed", "")}
    (case,) = found.results
    assert isinstance(case, Graded)
    assert case.asked_again is not None
    assert (case.asked_again.before.held, case.asked_again.before.asked) == (1, 3)


def test_where_the_answers_of_the_base_are_from_is_counted() -> None:
    answers = dict.fromkeys("0123", "pp")
    against = Script(answers, answers, reused="01", recorded="2").compare().against
    assert against is not None
    assert (against.asked, against.reused, against.recorded, against.shared) == (1, 2, 1, 0)


def test_a_case_that_the_base_cannot_answer_says_why() -> None:
    script = Script({"0": "pp", "1": "ff"}, {"0": "pp"})
    found = script.compare(incomparable={key("1"): "its question changed"})
    assert shown(found) == {"0": ("unchanged", ""), "1": ("not-comparable", "its question changed")}


def test_a_deployed_service_is_not_asked_for_the_base() -> None:
    endpoint = Endpoint(model="bot", http=HttpRequest())
    script = Script({"0": "ff", "1": "pp"}, {"0": "pp", "1": "pp"})
    found = script.compare(ServiceTarget(name="bot", endpoint=endpoint))
    assert shown(found) == dict.fromkeys("01", ("not-comparable", UNASKED))
    assert script.calls == ["h0"] * 2


def test_a_run_that_was_interrupted_compares_no_further() -> None:
    script = Script({"0": "ff", "1": "ee"}, {"0": "pp", "1": "pp"}, calls_left=1)
    assert shown(script.compare()) == {
        "0": ("broken", ""),
        "1": ("not-comparable", "no verdict: the judge was silent"),
    }
    assert len(script.calls) == 2


UNDER_BASE = "under the rubrics of the base"
LOST = "no verdict: the judge was silent"
LOST_AT_BASE = "no verdict at the base: the judge was silent"
RUBRICS = {
    "a criterion that nothing meets excuses no break": ("ff", "fp", "broken", UNDER_BASE),
    "broken under both": ("ff", "pp", "broken", ""),
    "broken under the rubrics of the head": ("fp", "pp", "broken", ""),
    "failing under both": ("ff", "ff", "failing-before", ""),
    "unchanged under both": ("pp", "pp", "unchanged", ""),
    "better under the rubrics of the head": ("pp", "fp", "better", ""),
    "better, but broken under those of the base": ("pf", "fp", "broken", UNDER_BASE),
    "better under those of the base is nothing": ("pp", "pf", "unchanged", ""),
    "no verdict under those of the base, and failing": (
        *("fe", "fp", "not-comparable"),
        f"{UNDER_BASE}: {LOST}",
    ),
    "no verdict under those of the base, and unchanged": ("pe", "pp", "unchanged", ""),
    "no verdict at the head": ("ep", "fp", "not-comparable", LOST),
    "no verdict at the base": ("ff", "ep", "not-comparable", LOST_AT_BASE),
}


@pytest.mark.parametrize(("head", "base", "change", "reason"), RUBRICS.values(), ids=RUBRICS)
def test_where_rubrics_differ_both_decide(head: str, base: str, change: str, reason: str) -> None:
    script = Script({"0": head}, {"0": base}, edited="0")
    (found,) = script.compare().results
    assert (found.change, found.change_reason) == (change, reason)


def test_answers_are_marked_again_only_where_that_can_decide() -> None:
    """Not a break, not what has no verdict, and not where the rubrics are equal."""
    head = {"0": "ff", "1": "ff", "2": "pp", "3": "ee"}
    base = {"0": "pp", "1": "fp", "2": "pp", "3": "pp"}
    script = Script(head, base, edited="013")
    script.compare()
    assert [call for call in script.calls if "m" in call] == ["hm1", "bm1"]


def test_each_trial_is_marked_again_as_the_trial_that_it_is() -> None:
    script = Script({"0": "ff fp fp"}, {"0": "fp fp ff"}, edited="0", trials=3)
    found = script.compare()
    assert script.calls == ["hm0 hm0 hm0", "bm0 bm0 bm0"]
    assert shown(found) == {"0": ("failing-before", "")}
    (case,) = found.results
    assert isinstance(case, Graded)
    assert case.before is not None
    assert (case.usage.calls, case.before.usage.calls) == (6, 6)  # marked twice each
    assert (case.verdict, case.before.verdict) == ("fail", "fail")


@pytest.mark.parametrize(
    ("rule", "change"),
    [(None, "failing-before"), (TrialRule(count=3, passes=3), "broken")],
    ids=["the median", "all trials must pass"],
)
def test_marks_under_the_rubrics_of_the_base_count_by_the_rule_of_the_case(
    rule: TrialRule | None, change: str
) -> None:
    """One failing trial of three; further answers fail."""
    script = Script({"0": "fp ff ff"}, {"0": "fp"}, edited="0", trials=3, rule=rule)
    if rule is None:
        script = Script({"0": "fp fp ff"}, {"0": "fp"}, edited="0", trials=3)
    (found,) = script.compare().results
    assert found.change == change


def test_cases_with_other_trials_are_marked_again_as_often_as_they_were_answered() -> None:
    answers = {"0": "ff", "1": "ff"}
    script = Script(answers, answers, edited="01", rule=TrialRule(count=2, passes=1))
    found = script.compare()
    assert script.calls == ["hm0 hm0 hm1", "bm0 bm0 bm1"]
    assert shown(found) == dict.fromkeys("01", ("failing-before", ""))


def test_marks_that_an_interruption_left_out_decide_nothing() -> None:
    script = Script({"0": "ff"}, {"0": "fp"}, edited="0", trials=3, calls_left=1)
    reason = f"{UNDER_BASE}: no verdict at the base: the run was interrupted"
    assert shown(script.compare()) == {"0": ("not-comparable", reason)}


def test_a_case_that_is_skipped_when_it_is_marked_again_costs_nothing() -> None:
    script = Script({"0": "f-"}, {"0": "fp"}, edited="0")
    (found,) = script.compare().results
    assert isinstance(found, Graded)
    assert found.change_reason == f"{UNDER_BASE}: not graded: no rubrics"
    assert found.usage.calls == 3  # asked again, as it fails and is not comparable


@pytest.mark.parametrize(
    ("change", "worse", "moved", "problem", "again"),
    [
        (Change(120, 12), True, False, "", 120),
        (Change(120, 12, today="fail"), False, True, "", 120),
        (Change(120, 12, today="error"), False, False, "429", 0),
        (Change(120, 3), False, False, "", 0),
    ],
    ids=["the base still passes", "the base fails as well", "no new answer", "by chance"],
)
def test_the_base_is_asked_again(
    change: Change, problem: str, again: int, *, worse: bool, moved: bool
) -> None:
    found = change.found()
    assert found is not None
    assert (found.worse, found.before_moved, found.problem) == (worse, moved, problem)
    assert found.again == again
    assert len(change.asked) in {0, 120}


def test_fewer_cases_and_cases_that_the_gate_is_not_about_are_not_tested() -> None:
    assert Change(99, 50).found() is None
    assert Change(120, 50).found(gate=GateConfig(tags=("safety",))) is None
    assert Change(120, 50, tags=("safety",)).found(gate=GateConfig(tags=("safety",))) is not None


def test_offline_the_answers_count_as_they_are() -> None:
    change = Change(120, 12)
    found = change.found(can_ask=False)
    assert found is not None
    assert (found.worse, change.asked) == (True, [])
