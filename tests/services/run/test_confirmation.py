"""Further trials of suspects: which are asked for, and what they show."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest

from benchmarks.against.simulate import TARGET, case, pull
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.grading.resolve import Task
from rubric_ci.services.run.confirmation import (
    NOT_ASKED,
    TOGETHER,
    Confirmed,
    confirm,
    most_further_trials,
)
from rubric_ci.services.run.sides import Key
from rubric_ci.services.run.suspect import Pair
from rubric_ci.values.comparison import Drop, RegressionConfig
from rubric_ci.values.evals import TrialRule
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.results import CaseResult, Graded, Trial
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trials import trials_of
from tests.sample_reports import errored, graded, skipped

DROP = Drop(cases=10, fewer_pass=10, more_fail=10, level=0.01, p_value=0.001, confirmed=True)
WORDS: Mapping[str, Verdict] = {"p": "pass", "b": "borderline", "f": "fail"}
ANSWER = "an answer that is too long to be given twice by chance"
KEYS: Mapping[str, Key] = {name: ("a.yaml", name) for name in "0123456789"}


def result(name: str, letter: str, answer: str = "") -> CaseResult | None:
    """Return a trial: a verdict, `e` for an error, `-` for no result at all."""
    if letter == "-":
        return None
    if letter == "e":
        return errored(name, file="a.yaml")
    return graded(name, WORDS[letter], file="a.yaml", answer=answer)


@dataclass(frozen=True)
class Asked:
    """Where one side is answered."""

    side: str
    trial: int = 0


@dataclass
class Script:
    """Both sides of a change; the letters of each case are its trials, the first one first."""

    head: Mapping[str, str]
    base: Mapping[str, str]
    trials: int = 1
    can_ask: bool = True
    gate: GateConfig = field(default_factory=GateConfig)
    repeats: bool = False  # trials with the same verdict have the same answer
    config: RegressionConfig = field(default_factory=RegressionConfig)
    context: Any = Asked("head")
    base_context: Any = Asked("base")
    calls: list[str] = field(default_factory=list)

    def kept_trials(self, task: Task, first: int, most: int) -> int:
        return 0

    async def graded(
        self, tasks: Sequence[Task], context: Asked, trials: int = 1
    ) -> Mapping[Key, CaseResult]:
        assert trials == 1
        assert all(task.case.trials is None for task in tasks)
        names = [task.case.id for task in tasks]
        self.calls.append(f"{context.side} {context.trial}: {''.join(names)}")
        letters = self.head if context.side == "head" else self.base
        found = {
            n: self._result(n, (letters[n] + letters[n][-1] * 99)[context.trial]) for n in names
        }
        return {KEYS[name]: each for name, each in found.items() if each}

    def tasks(self) -> list[Task]:
        rule = TrialRule(count=self.trials, passes=1)
        every = [replace(case(int(name)), trials=rule) for name in self.head]
        return [Task(case=each, target=TARGET) for each in every]

    def confirm(self, **options: Any) -> Confirmed:
        tasks = {task.case.id: task for task in self.tasks()}
        pairs = {
            KEYS[name]: Pair(
                head_task=tasks[name],
                base_task=tasks[name],
                head=self._first(name, self.head[name]),
                base=self._first(name, self.base[name]),
            )
            for name in self.head
        }
        return asyncio.run(confirm(self, pairs, **options))

    def _result(self, name: str, letter: str) -> CaseResult | None:
        return result(name, letter, f"{letter}: {ANSWER}" if self.repeats else "")

    def _first(self, name: str, letters: str) -> CaseResult:
        found = self._result(name, letters[0]) or skipped(name)
        if not isinstance(found, Graded) or self.trials == 1:
            return found
        every = (graded(name, WORDS[letter]) for letter in letters[: self.trials])
        trials = [
            Trial(verdict=each.verdict, score=each.score, answer=found.answer or None)
            for each in every
        ]
        return replace(found, trials=tuple(trials))


def shown(found: Confirmed) -> dict[str, tuple[str, str, bool]]:
    return {
        name: (each.change, each.reason, each.suspected)
        for (_, name), each in found.compared.items()
    }


def test_a_break_and_a_fix_are_asked_apart_and_other_cases_are_not() -> None:
    script = Script(
        {"0": "f", "1": "p", "2": "p", "3": "f", "4": "e", "5": "-"},
        {"0": "p", "1": "f", "2": "p", "3": "f", "4": "p", "5": "p"},
    )
    found = script.confirm()
    assert shown(found) == {
        "0": ("broken", "confirmed: 5 fail of 5 here, 5 pass of 5 at the base", True),
        "1": ("fixed", "confirmed: 5 pass of 5 here, 5 fail of 5 at the base", True),
        "2": ("unchanged", "", False),
        "3": ("failing-before", "", False),
        "4": ("not-comparable", "no verdict: the judge was silent", False),
        "5": ("not-comparable", "not graded: no rubrics", False),
    }
    assert script.calls == [
        f"{side} {trial}: {name}"
        for name in "01"
        for trial in range(1, 5)
        for side in ("head", "base")
    ]
    assert found.further_trials == 4
    assert [each.change for each in script.confirm(changes=("broken",)).compared.values()] == [
        *("broken", "fixed", "unchanged", "failing-before", "not-comparable", "not-comparable")
    ]


def test_the_trials_of_both_sides_are_kept() -> None:
    found = Script({"0": "fpppp", "1": "p"}, {"0": "p", "1": "p"}).confirm()
    pair = found.pairs[KEYS["0"]]
    assert [
        "".join(trial.verdict[0] for trial in trials_of(side))
        for side in (pair.head, pair.base)
        if isinstance(side, Graded)
    ] == ["fppp", "p"]
    assert found.further_trials == 3
    assert [each.id for each in (found.pairs[key].head for key in found.pairs)] == ["0", "1"]


def test_a_suspect_is_dropped_once_it_cannot_be_confirmed() -> None:
    script = Script({"0": "fp", "1": "f"}, {"0": "p", "1": "p"})
    assert shown(script.confirm()) == {
        "0": (
            "unchanged",
            "not confirmed: 3 pass, 1 fail of 4 here, 1 pass of 1 at the base",
            True,
        ),
        "1": ("broken", "confirmed: 6 fail of 6 here, 6 pass of 6 at the base", True),
    }
    assert script.calls == [
        *("head 1: 01", "head 2: 0", "base 1: 1", "head 3: 0", "head 2: 1"),
        *("base 2: 1", "head 3: 1", "base 3: 1", "head 4: 1", "base 4: 1", "head 5: 1"),
        "base 5: 1",
    ]


def test_a_break_with_a_dissent_on_each_side_is_confirmed() -> None:
    script = Script({"0": "fpfffff"}, {"0": "pppfppp"})
    reason = "confirmed: 1 pass, 5 fail of 6 here, 5 pass, 1 fail of 6 at the base"
    assert shown(script.confirm()) == {"0": ("broken", reason, True)}


def test_a_fix_that_decides_nothing_is_not_asked_again() -> None:
    script = Script({"0": "p"}, {"0": "f"})
    assert shown(script.confirm(changes=["broken"])) == {"0": ("fixed", NOT_ASKED, True)}
    assert script.calls == []


@pytest.mark.parametrize(
    ("head", "base", "reason"),
    [
        ("fe", "p", "suspected, and further trials gave no verdict: the judge was silent"),
        ("f", "pe", "suspected, and further trials gave no verdict: the judge was silent"),
        ("f-", "p", "suspected, and further trials gave no verdict: the run was interrupted"),
    ],
)
def test_further_trials_without_a_verdict(head: str, base: str, reason: str) -> None:
    found = Script({"0": head}, {"0": base}).confirm()
    assert shown(found) == {"0": ("not-comparable", reason, True)}


def test_trials_start_after_those_of_the_case() -> None:
    """Three first trials, of which two fail: the fourth has the number 3."""
    script = Script({"0": "ffpffffff"}, {"0": "p"}, trials=3)
    found = script.confirm()
    assert script.calls[:2] == ["head 3: 0", "base 3: 0"]
    assert found.compared[KEYS["0"]].change == "broken"
    assert found.further_trials == 5


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"can_ask": False}, "not confirmed: no further trial was possible"),
        ({"config": RegressionConfig(further_trials=0)}, "further trials are off"),
    ],
)
def test_no_further_trial(changes: Mapping[str, Any], reason: str) -> None:
    script = Script({"0": "f", "1": "p"}, {"0": "p", "1": "p"}, **changes)
    found = script.confirm()
    assert found.compared == {
        KEYS["0"]: Compared(change="broken", reason=reason, suspected=True),
        KEYS["1"]: Compared(change="unchanged"),
    }
    assert (script.calls, found.further_trials) == ([], 0)


def test_cases_that_are_tested_together() -> None:
    """What has no verdict on a side does not count; a fix is never among them."""
    names = "0123456789"
    script = Script(dict.fromkeys(names, "f"), dict.fromkeys(names, "p"))
    assert set(shown(script.confirm(drop=DROP)).values()) == {("suspected", TOGETHER, True)}
    assert script.calls == []
    alone = Script(dict.fromkeys(names, "f"), dict.fromkeys(names, "p"))
    for drop in (None, replace(DROP, confirmed=False)):
        assert {each[0] for each in shown(alone.confirm(drop=drop)).values()} == {"broken"}
    assert alone.calls
    passed, failed = dict.fromkeys(names, "p"), dict.fromkeys("01234", "f")
    half = Script(dict.fromkeys(names, "f"), passed | failed)
    assert {each[0] for each in shown(half.confirm(drop=DROP)).values()} == {
        "broken",
        "failing-before",
    }
    fixed = Script(dict.fromkeys(names, "p"), dict.fromkeys(names, "f"))
    assert {each[0] for each in shown(fixed.confirm(drop=DROP)).values()} == {"fixed"}
    assert fixed.calls


ONE = "flipped: 3 fail of 3 here, 3 pass of 3 at the base, by equal answers, which count once"
OTHER = "flipped: 3 pass of 3 here, 3 fail of 3 at the base, by equal answers, which count once"


@pytest.mark.parametrize(
    ("worse", "better", "change", "together", "p_value"),
    [
        (1, 0, "flaky", "cases like this one: 1 worse, 0 better: it may be chance", 0.5),
        (4, 0, "flaky", "cases like this one: 4 worse, 0 better: it may be chance", 1 / 16),
        (2, 2, "flaky", "cases like this one: 2 worse, 2 better: as many fixed as broken", 1.0),
        (5, 0, "suspected", "cases like this one: 5 worse, 0 better: more than chance", 1 / 32),
        (5, 1, "flaky", "cases like this one: 5 worse, 1 better: it may be chance", 7 / 64),
        (8, 1, "suspected", "cases like this one: 8 worse, 1 better: more than chance", 10 / 512),
    ],
)
def test_cases_that_repeat_an_answer_are_flipped_and_tested_together(
    worse: int, better: int, change: str, together: str, p_value: float
) -> None:
    names = "0123456789"
    head = {n: "f" if int(n) < worse else "p" for n in names}
    base = {n: "f" if worse <= int(n) < worse + better else "p" for n in names}
    found = Script(head, base, repeats=True).confirm(changes=("broken", "fixed"))
    for number, name in enumerate(names[: worse + better]):
        of_case = (change, f"{ONE}; {together}") if number < worse else ("flaky", f"{OTHER}; ")
        seen = found.compared[KEYS[name]]
        assert (seen.change, seen.reason[: len(of_case[1])]) == of_case
    assert found.drop
    assert found.drop.p_value == pytest.approx(p_value)
    assert found.drop.flipped == (worse, better)
    assert found.drop.confirmed == (change == "suspected")


def test_fixes_are_asked_again_where_they_can_outweigh_the_flipped_breaks() -> None:
    names = "0123456789"
    head, base = dict.fromkeys(names, "p"), dict.fromkeys(names, "p")
    four = Script(head | dict.fromkeys("0123", "f"), base | {"9": "f"}, repeats=True)
    four.confirm(changes=["broken"])
    assert not [call for call in four.calls if call.endswith("9")]
    five = Script(head | dict.fromkeys("01234", "f"), base | {"9": "f"}, repeats=True)
    found = five.confirm(changes=["broken"])
    assert five.calls == [
        *("head 1: 01234", "base 1: 01234", "head 2: 01234", "base 2: 01234"),
        *("head 1: 9", "base 1: 9", "head 2: 9", "base 2: 9"),
    ]
    assert found.drop
    assert not found.drop.confirmed
    assert {each.change for each in found.compared.values()} == {"flaky", "unchanged"}
    alone = Script(head | dict.fromkeys("01234", "f"), base | {"9": "fp"}, repeats=True)
    found = alone.confirm(changes=["broken"])
    assert found.drop  # the fix was chance
    assert found.drop.flipped == (5, 0)


def test_three_first_trials_that_are_equal_need_no_further_one() -> None:
    script = Script({"0": "fff"}, {"0": "ppp"}, trials=3, repeats=True)
    found = script.confirm()
    assert script.calls == []
    assert found.compared[KEYS["0"]].change == "flaky"


@pytest.mark.parametrize(
    ("cases", "changes", "expected"),
    [
        ("", {}, 0),
        ("0", {"can_ask": False}, 0),
        ("0", {"config": RegressionConfig(further_trials=0)}, 0),
        ("0", {}, 6),
        ("0123456789", {}, 8),
        ("0123456789", {"config": RegressionConfig(false_alarms=0.01)}, 9),
        ("0", {"trials": 3}, 4),
    ],
)
def test_how_many_further_trials_there_can_be(
    cases: str, changes: Mapping[str, Any], expected: int
) -> None:
    script = Script(dict.fromkeys(cases, "f"), dict.fromkeys(cases, "p"), **changes)
    assert most_further_trials(script.tasks(), script) == expected


def further(cases: int, broken: int, seed: int = 0) -> tuple[bool, int]:
    return asyncio.run(pull(Random(seed), cases, (0.97, 0.0), 1, broken))


@pytest.mark.parametrize("cases", [10, 40])
def test_a_prompt_that_breaks_every_case_costs_no_further_trial(cases: int) -> None:
    assert further(cases, broken=cases) == (True, 0)


def test_few_of_many_are_confirmed_one_by_one() -> None:
    found, asked = further(40, broken=3)
    assert found
    assert 24 <= asked <= 60


@pytest.mark.parametrize("cases", [5, pytest.param(20, marks=pytest.mark.deep)])
def test_a_target_that_varies_is_seldom_called_broken(cases: int) -> None:
    alarms = [
        asyncio.run(pull(Random(f"{cases} {seed}"), cases, (0.5, 0.0), 1, 0))[0]
        for seed in range(100)
    ]
    assert sum(alarms) <= 5
