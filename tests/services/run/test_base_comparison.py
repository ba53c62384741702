"""Base and head graded side by side: what is asked, marked again, and said of each case."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from rubric_ci.services.run.confirmation import NOT_ASKED

from benchmarks.against.simulate import TARGET, Worktree, case
from rubric_ci.gate.comparison.verdicts import MEAN_SHARE
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.trial_results import median_trial
from rubric_ci.services.run.base_comparison import Outcome, compare
from rubric_ci.services.run.sides import BaseSide, Key, Sides
from rubric_ci.values.changes import Base, NoBase
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.config import MockTarget
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase, Message, TextPart, TrialRule
from rubric_ci.values.report import Against, RemovedCase
from rubric_ci.values.results import CaseResult, Graded, Skipped
from rubric_ci.values.usage import Usage
from tests.sample_reports import errored, graded, skipped

WORDS: Mapping[str, Any] = {"p": "pass", "b": "borderline", "f": "fail"}
ONE_CALL = Usage(calls=1)
REMOVED = (RemovedCase(file="a.yaml", id="gone"),)


def key(name: str) -> Key:
    return "a.yaml", name


def now(name: str, trials: TrialRule | None) -> EvalCase:
    return replace(case(int(name)), expected_outcome="now", trials=trials)


def then(name: str) -> EvalCase:
    said = Message(role="assistant", parts=(TextPart(text="then"),))
    criteria = (cast(Any, "criteria of the base"),)
    return replace(
        case(int(name)), expected_outcome="then", expected_messages=(said,), evaluators=criteria
    )


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
    reused: str | Sequence[str] = ""  # cases whose answer at the base is from the cache
    today: Mapping[str, str] = field(default_factory=dict)  # what the base answers instead
    recorded: str = ""
    calls_left: int = 99  # until the run is interrupted
    config: RegressionConfig = field(default_factory=RegressionConfig)
    calls: list[str] = field(default_factory=list)

    async def grade(
        self, tasks: Sequence[Task], context: RunContext, trials: int
    ) -> tuple[CaseResult, ...]:
        side = "base" if context.side.root else "head"
        again = [task for task in tasks if isinstance(task.target, MockTarget)]
        verb = " marks again" if again else ""
        names = "".join(task.case.id for task in tasks)
        self.calls.append(f"{side}{verb} {context.trial}: {names}{f' x {trials}' * (trials > 1)}")
        if len(self.calls) > self.calls_left:
            return ()
        for task in again:
            assert task.case == then(task.case.id)
        return (
            tuple(
                self._result(task, side, range(context.trial, context.trial + task.trials(trials)))
                for task in tasks
            )
            if context.side.reuse or side == "head"
            else self._of_today(tasks, context)
        )

    def _of_today(self, tasks: Sequence[Task], context: RunContext) -> tuple[CaseResult, ...]:
        assert context.fresh_judgements  # an equal answer would have the mark of an earlier judge
        self.calls[-1] = self.calls[-1].replace("base", "base of today")
        return tuple(
            errored(t.case.id, file="a.yaml", usage=ONE_CALL, reason="429")
            if letter == "e"
            else graded(t.case.id, WORDS[letter], file="a.yaml", usage=ONE_CALL)
            for t in tasks
            for letter in self.today[t.case.id]
        )

    def _result(self, task: Task, side: str, numbers: Sequence[int]) -> CaseResult:
        found = median_trial([self._trial(task, side, n) for n in numbers], task.case.trials)
        if side == "head" or isinstance(found, Skipped):
            return found
        reused, recorded = task.case.id in self.reused, task.case.id in self.recorded
        return replace(found, answer_reused=reused, recorded=recorded)

    def _trial(self, task: Task, side: str, number: int) -> CaseResult:
        name = task.case.id
        if isinstance(task.target, MockTarget):
            text = task.target.response
        else:
            texts = (self.head if side == "head" else self.base)[name].split()
            text = texts[min(number, len(texts) - 1)]
        letter = text[task.case.expected_outcome == "then"]
        if letter == "-":
            return replace(skipped(name), file="a.yaml")
        if letter == "e":
            return errored(name, file="a.yaml", usage=ONE_CALL)
        return graded(name, WORDS[letter], file="a.yaml", answer=text, usage=ONE_CALL)

    def compare(self, **facts: Any) -> Outcome:
        rules = {"0": self.rule}
        tasks = [Task(case=now(name, rules.get(name)), target=TARGET) for name in self.head]
        known = {key(t.case.id): t for t in tasks if t.case.id in self.base}
        base = BaseSide(
            base=Base(commit="1" * 40, origin="the base"),
            committed_at="2026-01-01T00:00:00Z",
            tasks=known,
            rubrics={key(name): then(name) for name in self.edited},
            removed=REMOVED,
            worktree=cast(Any, Worktree()),
            read=lambda _: None,
            dependencies=lambda *_: None,
        )
        base = replace(base, **{name: facts.pop(name) for name in list(facts) if name != "apart"})
        context = RunContext(call_model=cast(Any, None), root=Path(), environment={})
        sides = Sides(
            base=base,
            context=context,
            grade=self.grade,
            trials=self.trials,
            config=self.config,
            **facts,
        )
        grading = self.grade(tasks, context, self.trials)
        return asyncio.run(compare(sides, "main", tasks, grading))


def shown(found: Outcome) -> dict[str, tuple[str | None, str]]:
    return {each.id: (each.change, each.change_reason) for each in found.results}


CONFIRMED = "confirmed: 6 fail of 6 here, 6 pass of 6 at the base"
UNDER_BASE = f"under the rubrics of the base: {CONFIRMED}"


def test_without_a_comparison_there_are_the_results() -> None:
    script = Script({"0": "pp"}, {})
    tasks = [Task(case=now("0", None), target=TARGET)]
    context = RunContext(call_model=cast(Any, None), root=Path(), environment={})
    grading = script.grade(tasks, context, 1)
    found = asyncio.run(compare(None, "main", tasks, grading))
    assert (found.against, found.removed, shown(found)) == (None, (), {"0": (None, "")})


def test_without_a_base_no_case_is_comparable() -> None:
    script = Script({"0": "pp", "1": "--"}, {})
    tasks = [Task(case=now(name, None), target=TARGET) for name in "01"]
    context = RunContext(call_model=cast(Any, None), root=Path(), environment={})
    grading = script.grade(tasks, context, 1)
    found = asyncio.run(compare(NoBase(reason="no parent"), "main", tasks, grading))
    assert found.against == Against(ref="main", commit="")
    assert shown(found) == dict.fromkeys("01", ("not-comparable", "no base: no parent"))


def test_each_case_is_compared_with_what_it_was() -> None:
    script = Script(
        {"0": "ff", "1": "pp", "2": "pp", "3": "ff", "4": "ee", "5": "--", "6": "pp", "7": "pp"},
        {"0": "pp", "1": "ff", "2": "pp", "3": "ff", "4": "pp", "5": "pp", "7": "ee"},
    )
    found = script.compare()
    assert shown(found) == {
        "0": ("broken", CONFIRMED),
        "1": ("fixed", NOT_ASKED),
        "2": ("unchanged", ""),
        "3": ("failing-before", ""),
        "4": ("not-comparable", "no verdict: the judge was silent"),
        "5": ("not-comparable", "not graded: no rubrics"),
        "6": ("new", ""),
        "7": ("not-comparable", "no verdict at the base: the judge was silent"),
    }
    assert script.calls[:2] == ["head 0: 01234567", "base 0: 01237"]
    befores = [getattr(each, "before", None) for each in found.results]
    assert [each and each.verdict for each in befores] == [
        *("pass", "fail", "pass", "fail", None, None, None, None)
    ]
    assert found.against == Against(
        ref="main",
        commit="1" * 40,
        committed_at="2026-01-01T00:00:00Z",
        origin="the base",
        further_trials=5,
        asked=5,
        usage=Usage(calls=5 + 5),
    )
    assert found.removed == REMOVED


def test_a_fix_is_confirmed_once_it_is_merged() -> None:
    """It can move the reference then; before, it decides nothing."""
    script = Script({"0": "pp"}, {"0": "ff"})
    merged = Base(commit="1" * 40, origin="the branch before the push", merged=True)
    reason = "confirmed: 6 pass of 6 here, 6 fail of 6 at the base"
    assert shown(script.compare(base=merged)) == {"0": ("fixed", reason)}
    assert shown(script.compare()) == {"0": ("fixed", NOT_ASKED)}


def test_where_the_answers_of_the_base_are_from_is_counted() -> None:
    answers = dict.fromkeys("0123", "pp")
    against = Script(answers, answers, reused="01", recorded="2").compare().against
    assert against is not None
    assert (against.asked, against.reused, against.recorded, against.shared) == (1, 2, 1, 0)


def test_a_case_that_the_base_cannot_answer_says_why() -> None:
    script = Script({"0": "pp", "1": "ff"}, {"0": "pp"})
    found = script.compare(incomparable={key("1"): "its question changed"})
    assert shown(found) == {
        "0": ("unchanged", ""),
        "1": ("not-comparable", "its question changed"),
    }


@pytest.mark.parametrize(
    ("apart", "calls", "shared", "reason"),
    [(False, ["head 0: 01"], 1, ""), (True, ["head 0: 01", "base 0: 0"], 0, "")],
    ids=["shared", "apart"],
)
def test_an_answer_that_both_sides_share_is_asked_once(
    calls: list[str], shared: int, reason: str, *, apart: bool
) -> None:
    """The second case errored, so that there is nothing to share."""
    script = Script({"0": "pp", "1": "ee"}, {"0": "pp", "1": "ee"})
    fixed = MockTarget(name="fixed", response="pp")
    tasks = {
        key(name): Task(case=replace(now(name, None), input_messages=()), target=fixed)
        for name in "01"
    }
    context = RunContext(call_model=cast(Any, None), root=Path(), environment={})
    heads = list(tasks.values())

    async def grade(
        tasks: Sequence[Task], context: RunContext, trials: int
    ) -> tuple[CaseResult, ...]:
        models = [replace(task, target=TARGET) for task in tasks]
        return await script.grade(models, context, trials)

    base = BaseSide(
        base=Base(commit="1" * 40, origin="the base"),
        committed_at="",
        tasks=tasks,
        worktree=cast(Any, Worktree()),
        read=lambda _: None,
        dependencies=lambda *_: None,
    )
    sides = Sides(
        base=base,
        context=context,
        grade=grade,
        trials=1,
        config=RegressionConfig(),
        apart=apart,
    )
    found = asyncio.run(compare(sides, "main", heads, grade(heads, context, 1)))
    assert shown(found) == {
        "0": ("unchanged", reason),
        "1": ("not-comparable", "no verdict: the judge was silent"),
    }
    assert script.calls == calls
    assert found.against is not None
    assert (found.against.shared, found.against.asked) == (shared, 1 - shared)
    assert found.against.usage.calls == 1 - shared  # a shared answer was paid for at the head
    first, second = found.results
    assert isinstance(first, Graded)
    assert first.before is not None
    assert first.before.source == ("shared" if shared else "asked")
    assert getattr(second, "before", None) is None


def test_a_run_that_was_interrupted_compares_no_further() -> None:
    script = Script({"0": "ff", "1": "ee"}, {"0": "pp", "1": "pp"}, calls_left=1)
    assert shown(script.compare()) == {
        "0": ("not-comparable", "the run was interrupted"),
        "1": ("not-comparable", "no verdict: the judge was silent"),
    }


LOST = "no verdict: the judge was silent"
LOST_AT_BASE = "no verdict at the base: the judge was silent"
RUBRICS = {
    "a criterion that nothing meets excuses no break": (
        {"0": "ff"},
        {"0": "fp"},
        "broken",
        UNDER_BASE,
    ),
    "broken under both": ({"0": "ff"}, {"0": "pp"}, "broken", CONFIRMED),
    "broken under the rubrics of the head": ({"0": "fp"}, {"0": "pp"}, "broken", CONFIRMED),
    "failing under both": ({"0": "ff"}, {"0": "ff"}, "failing-before", ""),
    "unchanged under both": ({"0": "pp"}, {"0": "pp"}, "unchanged", ""),
    "fixed under the rubrics of the head": (
        {"0": "pp"},
        {"0": "fp"},
        "fixed",
        NOT_ASKED,
    ),
    "fixed, but broken under those of the base": (
        {"0": "pf"},
        {"0": "fp"},
        "broken",
        UNDER_BASE,
    ),
    "a fix under those of the base is none": ({"0": "pp"}, {"0": "pf"}, "unchanged", ""),
    "no verdict under those of the base, and failing": (
        {"0": "fe"},
        {"0": "fp"},
        "not-comparable",
        "under the rubrics of the base: no verdict: the judge was silent",
    ),
    "no verdict under those of the base, and unchanged": (
        {"0": "pe"},
        {"0": "pp"},
        "unchanged",
        "",
    ),
    "no verdict at the head": ({"0": "ep"}, {"0": "fp"}, "not-comparable", LOST),
    "no verdict at the base": ({"0": "ff"}, {"0": "ep"}, "not-comparable", LOST_AT_BASE),
}


@pytest.mark.parametrize(("head", "base", "change", "reason"), RUBRICS.values(), ids=RUBRICS)
def test_where_rubrics_differ_both_decide(
    head: Mapping[str, str], base: Mapping[str, str], change: str, reason: str
) -> None:
    script = Script(head, base, edited="0", config=RegressionConfig(false_alarms=0.1))
    (found,) = script.compare().results
    assert found.change == change
    assert found.change_reason == reason
    again = any("marks again" in call for call in script.calls)
    assert again is (reason not in {CONFIRMED, LOST, LOST_AT_BASE})


def test_answers_are_marked_again_only_where_that_can_decide() -> None:
    """Not a break, not what has no verdict, and not where the rubrics are equal."""
    head = {"0": "ff", "1": "ff", "2": "pp", "3": "ee"}
    base = {"0": "pp", "1": "fp", "2": "pp", "3": "pp"}
    script = Script(head, base, edited="013")
    script.compare()
    assert [call for call in script.calls if "again" in call][:2] == [
        "head marks again 0: 1",
        "base marks again 0: 1",
    ]
    assert not [call for call in script.calls if "again" in call and ("2" in call or "3" in call)]


def test_both_questions_share_the_budget() -> None:
    """Half of a tight budget needs one trial more of a side."""
    whole = Script({"0": "ff"}, {"0": "pp"})
    half = Script({"0": "ff"}, {"0": "pp"}, edited="0")
    counts = []
    for script in (whole, half):
        against = script.compare().against
        assert against is not None
        counts.append(against.further_trials)
    assert counts == [5, 5]
    tight = RegressionConfig(false_alarms=0.01 / (1 - MEAN_SHARE))
    assert [
        each.against.further_trials
        for each in (
            Script({"0": "ff"}, {"0": "pp"}, config=tight).compare(),
            Script({"0": "ff"}, {"0": "pp"}, edited="0", config=tight).compare(),
        )
        if each.against
    ] == [6, 7]


def test_each_trial_is_marked_again_as_the_trial_that_it_is() -> None:
    script = Script({"0": "ff fp fp"}, {"0": "fp fp ff"}, edited="0", trials=3)
    found = script.compare()
    assert script.calls[:2] == ["head 0: 0 x 3", "base 0: 0 x 3"]
    assert script.calls[2:8] == [
        *("head marks again 0: 0", "head marks again 1: 0", "head marks again 2: 0"),
        *("base marks again 0: 0", "base marks again 1: 0", "base marks again 2: 0"),
    ]
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
    """One failing trial of three; further trials fail."""
    budget = RegressionConfig(false_alarms=0.05 / (1 - MEAN_SHARE))
    script = Script({"0": "fp fp ff"}, {"0": "fp"}, edited="0", trials=3, rule=rule, config=budget)
    (found,) = script.compare().results
    assert found.change == change


def test_cases_with_other_trials_are_marked_again_as_often_as_they_were_answered() -> None:
    answers = {"0": "ff", "1": "ff"}
    script = Script(answers, answers, edited="01", rule=TrialRule(count=2, passes=1))
    found = script.compare()
    assert script.calls == [
        *("head 0: 01", "base 0: 01", "head marks again 0: 01", "head marks again 1: 0"),
        *("base marks again 0: 01", "base marks again 1: 0"),
    ]
    assert shown(found) == dict.fromkeys("01", ("failing-before", ""))


def test_where_nothing_is_to_mark_again_no_one_is_asked() -> None:
    script = Script({"0": "ee"}, {"0": "pp"}, edited="0")
    script.compare()
    assert script.calls == ["head 0: 0"]
    lost = Script({"0": "pp"}, {"0": "ee"}, edited="0")
    lost.compare()
    assert lost.calls == ["head 0: 0", "base 0: 0"]


def test_marks_that_an_interruption_left_out_decide_nothing() -> None:
    script = Script({"0": "ff"}, {"0": "fp"}, edited="0", trials=3, calls_left=4)
    assert shown(script.compare()) == {
        "0": (
            "not-comparable",
            "under the rubrics of the base: no verdict: the run was interrupted",
        )
    }


def test_a_case_that_is_skipped_when_it_is_marked_again_costs_nothing() -> None:
    script = Script({"0": "f-"}, {"0": "fp"}, edited="0")
    (found,) = script.compare().results
    assert not isinstance(found, Skipped)
    assert found.usage.calls == 1
    assert found.change_reason == "under the rubrics of the base: not graded: no rubrics"


@pytest.mark.parametrize(
    ("today", "change", "reason"),
    [
        ("p", "broken", "confirmed: 6 fail of 6 here, 6 pass of 6 at the base today"),
        ("f", "failing-before", "not confirmed: 6 fail of 6 here, 6 fail of 6 at the base today"),
        ("e", "not-comparable", "suspected, and the base gave no new answer: 429"),
    ],
)
def test_a_break_that_kept_answers_show_is_held_against_answers_of_today(
    today: str, change: str, reason: str
) -> None:
    script = Script({"0": "f"}, {"0": "p"}, reused="0", today={"0": today})
    (case,) = script.compare().results
    assert (case.change, case.change_reason) == (change, reason)
    assert script.calls[-6:] == [f"base of today {number}: 0" for number in range(6)]
    assert isinstance(case, Graded)
    assert case.before is not None
    asked = [call for call in script.calls if call.startswith("base")]
    assert case.before.usage.calls == len(asked)  # as if kept answers had cost a call


def test_kept_answers_that_show_no_break_need_no_answer_of_today() -> None:
    script = Script({"0": "f p"}, {"0": "p"}, reused="0")
    (case,) = script.compare().results
    assert case.change == "unchanged"
    assert not any("today" in call for call in script.calls)
