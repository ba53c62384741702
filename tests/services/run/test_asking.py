"""Suspects are asked again on both sides in turn, as long as an answer can matter."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from rubric_ci.grading.resolve import Task
from rubric_ci.services.run.asking import Key, Pair, Request, Settled, settle, settle_alone
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.results import Answers, CaseResult, Graded, Trial
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.targets import CliTarget, RecordedTarget, Target
from rubric_ci.values.usage import Usage
from tests.cases import build_case
from tests.sample_reports import errored, graded

VERDICTS: Mapping[str, Verdict] = {"p": "pass", "b": "borderline", "f": "fail"}
TARGET = CliTarget(name="t", command_template="true")
RECORDED = RecordedTarget(name="r", answers="a.jsonl")
ONCE = Usage(calls=1)


def result(name: str, letter: str, *, answer: str = "") -> CaseResult:
    if letter == "e":
        return errored(name, "429", usage=ONCE)
    return graded(name, VERDICTS[letter], answer=answer, usage=ONCE)


def first(name: str, letters: str) -> Graded:
    """Return the first round: the lower median of its trials."""
    found = result(name, sorted(letters, key="fbp".index)[(len(letters) - 1) // 2])
    assert isinstance(found, Graded)
    if len(letters) == 1:
        return found
    trials = (Trial(verdict=VERDICTS[each], score=found.score) for each in letters)
    return replace(found, trials=tuple(trials))


@dataclass
class Script:
    """Both sides of cases: the first round, then each further answer; the last one repeats."""

    here: Mapping[str, str]  # as "f ppp": failed first, then passed
    before: Mapping[str, str]
    rows: int = 20
    config: RegressionConfig = field(default_factory=RegressionConfig)
    can_ask: bool = True
    live: bool = True
    target: Target = TARGET
    kept: bool = False  # the base cannot be asked
    stop_after: int = 99  # rounds
    rounds: list[str] = field(default_factory=list)

    async def ask(self, requests: Sequence[Request]) -> Sequence[CaseResult | None]:
        said = [f"{'b' if each.is_base else 'h'}{each.number}" for each in requests]
        self.rounds.append(" ".join(said))
        if len(self.rounds) > self.stop_after:
            return [None] * len(requests)
        return [self._answer(each) for each in requests]

    def _answer(self, request: Request) -> CaseResult:
        assert request.task.case.trials is None
        name = request.task.case.id
        rounds, _, more = (self.before if request.is_base else self.here)[name].partition(" ")
        place = request.number - len(rounds)
        return result(name, more[min(place, len(more) - 1)])

    def settled(self) -> Settled:
        return asyncio.run(settle(self, self.pairs()))

    def pairs(self) -> Mapping[Key, Pair]:
        return {("e.yaml", name): self._pair(name) for name in self.here}

    def _pair(self, name: str) -> Pair:
        task = Task(case=build_case(id=name, file="e.yaml"), target=self.target)
        sides = [first(name, side[name].partition(" ")[0]) for side in (self.here, self.before)]
        base_task = None if self.kept else task
        return Pair(head_task=task, base_task=base_task, head=sides[0], base=sides[1])


def one(here: str, before: str, **facts: Any) -> tuple[Script, Settled]:
    script = Script({"a": here}, {"a": before}, **facts)
    return script, script.settled()


KEY = ("e.yaml", "a")
BOTH = ["h1", "h2 b1", "h3 b2", "h4 b3", "b4"]
DISSENT = ["h1", "h2 b1", "h3 b2", "h4", "h5 b3", "b4", "b5"]
OUTCOMES: dict[str, tuple[str, str, str, list[str]]] = {
    "it fails however it is asked": ("f fffff", "p ppppp", "broken", BOTH),
    "one dissents on each side": ("f ffpff", "p pfppp", "broken", DISSENT),
    "it passes when it is asked again": ("f pp", "p pp", "not-confirmed", ["h1", "h2"]),
    "it failed before as well": ("f ff", "p ff", "not-confirmed", BOTH[:3]),
    "from pass to borderline": ("b bbbbb", "p ppppp", "broken", BOTH),
    "borderline before": ("f fffff", "b bpbpb", "broken", BOTH),
    "borderline again": ("f bb", "b bb", "not-confirmed", ["h1", "h2"]),
    "better is not asked": ("p f", "f p", "better", []),
    "as before": ("f f", "f f", "failing-before", []),
    "trials are answers": ("fff fff", "ppp ppp", "broken", ["h3", "h4 b3", "b4"]),
    "enough trials": ("fffffff f", "ppppppp p", "broken", []),
}


@pytest.mark.parametrize(("here", "before", "change", "rounds"), OUTCOMES.values(), ids=OUTCOMES)
def test_the_outcome(here: str, before: str, change: str, rounds: list[str]) -> None:
    script, found = one(here, before)
    assert (found.compared[KEY].change, script.rounds) == (change, rounds)


def test_an_answer_that_is_spared_would_not_have_changed_the_outcome() -> None:
    pairs = {f"{n:010b}": "".join("fp"[int(each)] for each in f"{n:010b}") for n in range(1024)}
    here = {name: f"f {'ee' * (name[1] == '1')}{drawn[:5]}" for name, drawn in pairs.items()}
    before = {name: f"p {'e' * (name[2] == '1')}{drawn[5:]}" for name, drawn in pairs.items()}
    found = Script(here, before).settled()
    broken = {key[1] for key, each in found.compared.items() if each.change == "broken"}
    assert broken == {
        name for name, drawn in pairs.items()
        if drawn[:5].count("p") <= 1 and drawn[5:].count("f") <= 1
    }  # fmt: skip
    assert not found.errored


def test_no_answer_is_spared_where_answers_that_repeat_are_a_note() -> None:
    script, _ = one("f f", "p p", config=RegressionConfig(repeated="note"))
    assert script.rounds == ["h1", "h2 b1", "h3 b2", "h4 b3", "h5 b4", "b5"]


def test_what_is_counted() -> None:
    _, found = one("f ffffp", "p pppfp")
    asked = found.compared[KEY].asked
    assert asked is not None
    assert asked.here == Answers(asked=5, passed=0, held=0)
    assert asked.before == Answers(asked=6, passed=5, held=5)
    head, base = found.pairs[KEY].head, found.pairs[KEY].base
    assert isinstance(head, Graded)
    assert isinstance(base, Graded)
    assert (len(head.trials), head.further_trials, head.usage) == (5, 4, Usage(calls=5))
    assert (base.verdict, found.further) == ("pass", 5)


def test_k_follows_the_rows_of_the_whole_selection() -> None:
    script, _ = one("f f", "p p", rows=250)
    assert len(script.rounds) == 7


def test_an_errored_answer_is_asked_again() -> None:
    script, found = one("f effffff", "p ppppp")
    assert found.compared[KEY].change == "broken"
    assert script.rounds == ["h1", "h2 b1", "h3 b2", "h4 b3", "h5 b4"]


LOST = "worse in its first answer, and no verdict{} in {} of {} answers: 429"


@pytest.mark.parametrize(
    ("here", "before", "reason"),
    [
        pytest.param("f e", "p p", LOST.format("", 6, 10), id="here"),
        pytest.param("f f", "p e", LOST.format(" at the base", 6, 10), id="before"),
        pytest.param("f ffffe", "p p", "", id="one answer lacks"),
        pytest.param("f fffee", "p p", LOST.format("", 6, 13), id="two answers lack"),
        pytest.param("f ppeee", "p p", "", id="it is decided"),
    ],
)
def test_a_side_with_too_few_answers_has_errored(here: str, before: str, reason: str) -> None:
    _, found = one(here, before)
    assert found.errored == ({KEY: reason} if reason else {})


@pytest.mark.parametrize(
    ("here", "before", "change", "asked"),
    [
        pytest.param("f f", "p", "broken", 9, id="one kept: none of ten may hold"),
        pytest.param("f ffffp", "p", "not-confirmed", 5, id="one holds"),
        pytest.param("f f", "pp", "broken", 9, id="two kept"),
        pytest.param("f ffffp", "ppp", "broken", 4, id="three kept: one may hold"),
        pytest.param("f f", "ppf", "not-confirmed", 0, id="three kept, one of them fell"),
        pytest.param("f f", "ppppf", "broken", 4, id="five kept: one may have fallen"),
        pytest.param("f pp", "ppppp", "not-confirmed", 2, id="five kept"),
    ],
)
def test_the_other_side_cannot_be_asked(here: str, before: str, change: str, asked: int) -> None:
    script, found = one(here, before, kept=True)
    assert found.compared[KEY].change == change
    assert script.rounds == [f"h{n}" for n in range(1, asked + 1)]


def test_recorded_answers_are_judged_again() -> None:
    _, found = one("f fffff", "p ppppp", target=RECORDED)
    asked = found.compared[KEY].asked
    assert asked is not None
    assert (asked.judged, asked.here.asked, asked.before.asked) == (True, 5, 5)


@pytest.mark.parametrize("facts", [{"can_ask": False}, {"live": False}], ids=["offline", "replay"])
def test_where_nothing_can_be_asked_the_answers_count_as_they_are(facts: dict[str, bool]) -> None:
    _, found = one("f e", "p e", **facts)
    assert (found.compared[KEY].change, found.errored) == ("broken", {})
    _, found = one("fff e", "ppf e", **facts)
    assert found.compared[KEY].change == "not-confirmed"


def test_several_suspects_are_asked_together() -> None:
    script = Script({"a": "f f", "b": "f p", "c": "p p"}, {"a": "p p", "b": "p p", "c": "p p"})
    found = script.settled()
    kinds = [found.compared["e.yaml", name].change for name in "abc"]
    assert kinds == ["broken", "not-confirmed", "unchanged"]
    assert script.rounds[:3] == ["h1 h1", "h2 b1 h2", "h3 b2"]


def test_an_interruption_leaves_what_was_answered() -> None:
    script, found = one("f f", "p p", stop_after=2)
    assert len(script.rounds) == 3
    asked = found.compared[KEY].asked
    assert asked is not None
    assert (found.compared[KEY].change, asked.here.asked) == ("broken", 3)


@pytest.mark.parametrize(
    ("here", "verdict", "answers"),
    [
        ("f fff", "fail", 3),
        ("f pppp", "pass", 5),
        ("f fppp", "pass", 6),
        ("f bbbb", "borderline", 5),
        ("f e", "fail", 1),
    ],
)
def test_a_case_without_counterpart_has_a_median(here: str, verdict: str, answers: int) -> None:
    script = Script({"a": here}, {})
    task = Task(case=build_case(id="a", file="e.yaml"), target=TARGET)
    failing = {KEY: (task, first("a", here.partition(" ")[0]))}
    found = asyncio.run(settle_alone(script, failing))[KEY]
    assert (found.verdict, max(1, len(found.trials))) == (verdict, answers)
