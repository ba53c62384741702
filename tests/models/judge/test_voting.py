"""Tallies, flakiness, and the order and groups of criteria."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.models.judge.voting import (
    NoMajority,
    flakiness,
    grouped,
    most_per_request,
    shuffled,
    tally,
    votes_by_criterion,
)
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import (
    Assertion,
    ByJudge,
    Check,
    Choice,
    Chosen,
    Criterion,
    Judgement,
    Level,
    Levelled,
    Mark,
    Rubric,
    Scored,
    ScoreRange,
)
from rubric_ci.values.scoring import CANNOT_ASSESS, NOT_APPLICABLE, MarkValue
from rubric_ci.values.targets import Endpoint

SPAN = Span(1, 1, 1, 2)
CHECK = Check(id="c", text="x", required=False, span=SPAN)
SCORED = Scored(id="c", ranges=(ScoreRange(low=0, high=10, text="x"),), span=SPAN)
LEVELLED = Levelled(id="c", levels=(Level(level=1, text="a"), Level(level=3, text="b")), span=SPAN)
FAULT = replace(CHECK, fault=True)
CHOSEN = Chosen(
    id="c",
    choices=(
        Choice(name="pay", score=1),
        Choice(name="wait", score=0.5),
        Choice(name="deny", score=0),
    ),
    span=SPAN,
)
SEVERE = replace(CHOSEN, fault=True)
KEEP = Choice(name="keep", score=0)
GATED = replace(CHOSEN, choices=(*CHOSEN.choices, KEEP), required_choices=("deny",))
IF = replace(CHECK, applies_if=ByJudge(text="It rains"))
NO, NA = CANNOT_ASSESS, NOT_APPLICABLE


def votes(*values: MarkValue) -> list[Judgement]:
    return [
        Judgement({"c": Mark(value=value, reasoning=f"vote {n}")}) for n, value in enumerate(values)
    ]


def elected(criterion: Criterion, panel: int, *values: MarkValue) -> Mark:
    judgement = tally(Rubric((criterion,)), votes(*values), panel)
    assert isinstance(judgement, Judgement)
    return judgement["c"]


ELECTED: dict[str, tuple[Criterion, int, tuple[MarkValue, ...], MarkValue]] = {
    "one vote": (CHECK, 1, (True,), True),
    "two of three": (CHECK, 3, (True, False, True), True),
    "two that came of three": (CHECK, 3, (False, False), False),
    "three of five": (CHECK, 5, (True, False, True, False, True), True),
    "no ground twice": (CHECK, 3, (NO, True, NO), NO),
    "one each: not satisfied": (CHECK, 3, (True, False, NO), False),
    "three of five are not satisfied": (CHECK, 5, (True, True, False, NO, False), False),
    "more often no ground than false": (CHECK, 5, (True, NO, False, NO, True), NO),
    "two that came of three, not satisfied": (CHECK, 3, (NO, False), False),
    "median": (SCORED, 3, (2, 9, 8), 8),
    "median of five": (SCORED, 5, (0, 10, 4, 5, 6), 5),
    "the lower of the middle two": (SCORED, 3, (4, 9), 4),
    "median of three that came of five": (SCORED, 5, (4, NO, 9, 6, NO), 6),
    "median next to no ground": (SCORED, 3, (4, NO, 9), 4),
    "no ground in the majority": (SCORED, 3, (NO, 9, NO), NO),
    "a fault of two": (FAULT, 3, (True, False, True), True),
    "the choice of most": (CHOSEN, 3, ("wait", "pay", "wait"), "wait"),
    "of as many the lowest": (CHOSEN, 3, ("pay", "wait", "deny"), "deny"),
    "of two that came the lower": (CHOSEN, 3, ("pay", "wait"), "wait"),
    "a choice before no ground": (CHOSEN, 2, ("deny", NO), "deny"),
    "no ground before a choice that meets the gate": (GATED, 2, ("deny", NO), NO),
    "of equal scores one that misses the gate": (GATED, 2, ("keep", "deny"), "keep"),
    "the worst of as many severities": (SEVERE, 3, ("pay", "wait", "deny"), "pay"),
    "not applicable to most": (IF, 3, (NA, True, NA), NA),
    "not applicable to one": (IF, 3, (NA, True, True), True),
    "not applicable to one of five": (IF, 5, (NA, True, False, True, True), True),
    "a level that was declared": (LEVELLED, 3, (1, 3), 1),
}


@pytest.mark.parametrize(("criterion", "panel", "values", "value"), ELECTED.values(), ids=ELECTED)
def test_elected(
    criterion: Criterion, panel: int, values: tuple[MarkValue, ...], value: MarkValue
) -> None:
    assert elected(criterion, panel, *values).value == value


UNDECIDED: dict[str, tuple[Criterion, int, tuple[MarkValue, ...], str]] = {
    "a lost vote": (CHECK, 3, (True, False), "no majority of 3 votes on c: true, false"),
    "two lost": (
        CHECK,
        5,
        (True, True, NO),
        "no majority of 5 votes on c: true, true, cannot_assess",
    ),
    "half of a panel": (CHECK, 2, (True, False), "no majority of 2 votes on c: true, false"),
    "scores of half a panel": (SCORED, 2, (4, NO), "no majority of 2 votes on c: 4, cannot_assess"),
    "two scores of five": (
        SCORED,
        5,
        (4, 9, NO, NO),
        "no majority of 5 votes on c: 4, 9, cannot_assess, cannot_assess",
    ),
    "a score and no ground": (SCORED, 3, (4, NO), "no majority of 3 votes on c: 4, cannot_assess"),
}


@pytest.mark.parametrize(
    ("criterion", "panel", "values", "reason"), UNDECIDED.values(), ids=UNDECIDED
)
def test_undecided(
    criterion: Criterion, panel: int, values: tuple[MarkValue, ...], reason: str
) -> None:
    assert tally(Rubric((criterion,)), votes(*values), panel) == NoMajority(reason=reason)


def test_the_reason_is_of_a_vote_with_the_elected_mark() -> None:
    assert elected(SCORED, 3, 2, 9, 8).reasoning == "vote 2"


def test_the_mark_of_an_assertion_is_kept() -> None:
    assertion = Assertion(id="a", text="x", key="contains", value="x", span=SPAN)
    found = Mark(value=False, reasoning="not there")
    (vote,) = votes(True)
    vote = replace(vote, marks={**vote.marks, "a": found})
    judgement = tally(Rubric((CHECK, assertion)), [vote], 1)
    assert judgement == Judgement({"c": vote["c"], "a": found}, vote.reasoning)


@given(st.lists(st.integers(0, 10), min_size=1, max_size=9))
def test_a_median_was_given_by_someone(values: list[int]) -> None:
    assert elected(SCORED, len(values), *values).value in values


ODD_PANEL = st.lists(st.sampled_from([True, False, NO]), min_size=1, max_size=9).filter(
    lambda votes: len(votes) % 2 == 1
)


@given(ODD_PANEL)
def test_an_odd_panel_decides_every_check(values: list[MarkValue]) -> None:
    mark = elected(CHECK, len(values), *values)
    assert (mark.value is True) == (2 * values.count(True) > len(values))
    assert mark.value in values


@given(ODD_PANEL)
def test_order_of_votes_does_not_matter(values: list[MarkValue]) -> None:
    in_order = elected(CHECK, len(values), *sorted(values, key=str))
    assert elected(CHECK, len(values), *values).value == in_order.value


@pytest.mark.parametrize(
    ("values", "share"),
    [
        ((True,), 0),
        ((True, True, True), 0),
        ((True, False, True), 1 / 3),
        ((1, 2, 3, 4), 0.75),
        ((True, 1), 0.5),
    ],
)
def test_flakiness(values: tuple[MarkValue, ...], share: float) -> None:
    assert flakiness(values) == pytest.approx(share)


def test_cast() -> None:
    assert votes_by_criterion(Rubric((SCORED,)), votes(2, NO)) == {"c": (2, NO)}


def criteria(count: int) -> tuple[Check, ...]:
    return tuple(Check(id=f"{n}", text="x", span=SPAN) for n in range(count))


def test_the_first_vote_keeps_the_order_of_the_file() -> None:
    assert shuffled(criteria(9), 1) == criteria(9)


def test_each_vote_has_an_order_of_its_own_that_repeats() -> None:
    orders = [shuffled(criteria(9), vote) for vote in range(1, 6)]
    assert len(set(orders)) == 5
    assert orders == [shuffled(criteria(9), vote) for vote in range(1, 6)]
    assert {tuple(sorted(c.id for c in order)) for order in orders} == {
        tuple(c.id for c in criteria(9))
    }


def test_sixteen_are_one_group_and_one_more_makes_two_alike() -> None:
    assert [len(group) for group in grouped(criteria(16))] == [16]
    assert [len(group) for group in grouped(criteria(17))] == [9, 8]


JUDGE = JudgeConfig(endpoint=Endpoint(model="openai/m"))


@pytest.mark.parametrize(
    ("judge", "most"),
    [
        (JUDGE, 16),
        (replace(JUDGE, canary=True), 15),
        (replace(JUDGE, mode="isolated"), 1),
        (replace(JUDGE, mode="isolated", canary=True), 1),
    ],
)
def test_criteria_per_request(judge: JudgeConfig, most: int) -> None:
    assert most_per_request(judge) == most


@given(st.integers(1, 130), st.integers(1, 25))
def test_groups_hold_everything_once_in_order(count: int, most: int) -> None:
    groups = grouped(criteria(count), most)
    sizes = [len(group) for group in groups]
    assert tuple(c for group in groups for c in group) == criteria(count)
    assert len(groups) == -(-count // most)
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1
