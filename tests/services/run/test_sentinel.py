"""The choice of remembered judgements, and the test whether the judge moved."""

from dataclasses import replace

import pytest

from rubric_ci.services.run import sentinel
from rubric_ci.values.answers import pictures_of
from rubric_ci.values.report import Sentinel, SentinelItem
from rubric_ci.values.results import Graded
from rubric_ci.values.scoring import MarkValue
from tests.pictures import media, png
from tests.sample_reports import a_criterion, a_rubric, errored, graded


def item(mark: MarkValue, repeats: list[MarkValue], now: list[MarkValue]) -> SentinelItem:
    return SentinelItem(
        file="e.yaml",
        id="a",
        evaluator="rubric",
        criterion="c",
        text="asked",
        answer="hello",
        mark=mark,
        repeats=tuple(repeats),
        now=tuple(now),
    )


def items(before: int, now: int) -> list[SentinelItem]:
    """Return twenty items of which so many repeats and so many new marks differ."""
    old: list[MarkValue] = [n >= before for n in range(100)]
    new: list[MarkValue] = [n >= now for n in range(20)]
    return [item(True, old[n * 5 : n * 5 + 5], [new[n]]) for n in range(20)]


@pytest.mark.parametrize(
    ("before", "now", "p_value", "moved"),  # of Fisher's exact test, by scipy
    [
        pytest.param(0, 0, 1.0, False, id="the same"),
        pytest.param(0, 2, 0.0266106443, False, id="a few differ"),
        pytest.param(0, 3, 0.0040592508, True, id="more than by chance"),
        pytest.param(20, 5, 0.4056488238, False, id="a judge that differs from itself as often"),
        pytest.param(20, 10, 0.0074045533, True, id="a noisy judge that moved"),
        pytest.param(100, 20, 1.0, False, id="a remembered mark that was the exception"),
    ],
)
def test_a_judge_moved_if_it_differs_more_than_from_itself(
    before: int, now: int, p_value: float, *, moved: bool
) -> None:
    found = sentinel.conclude(items(before, now))
    assert (found.repeated, found.asked, found.moved) == ((before, 100), (now, 20), moved)
    assert found.p_value == pytest.approx(p_value)


@pytest.mark.parametrize(
    "asked",
    [[], [item(True, [], [False])], [item(True, [True], [])]],
    ids=["nothing", "no repeats", "an outage"],
)
def test_without_marks_nothing_is_concluded(asked: list[SentinelItem]) -> None:
    found = sentinel.conclude(asked)
    assert (found.p_value, found.moved) == (None, False)


@pytest.mark.parametrize(("count", "requests"), [(1, 2), (9, 2), (10, 1), (20, 1)])
def test_few_marks_are_asked_for_twice(count: int, requests: int) -> None:
    remembered = Sentinel(items=(item(True, [True] * 5, []),) * count)
    assert sentinel.requests_of(remembered) == requests


def judged(name: str, *marks: MarkValue) -> Graded:
    criteria = [a_criterion(f"c{n}", text=f"text {n}", mark=mark) for n, mark in enumerate(marks)]
    result = a_rubric(*criteria, judge="openai/m")
    return replace(graded(name), answer=f"answer {name}", evaluators=(result,))


def test_the_choice_is_spread_over_cases_marks_and_criteria() -> None:
    cases = [judged(f"case{n}", True, True, n % 2 == 0, "cannot_assess") for n in range(20)]
    chosen = sentinel.choose([*cases, errored("lost")])
    assert len(chosen) == 20
    assert len({each.id for each in chosen}) == 20
    marks = [str(each.mark) for each in chosen]
    assert [marks.count(mark) for mark in ("True", "False", "cannot_assess")] == [8, 5, 7]
    assert {each.criterion for each in chosen} == {"c0", "c1", "c2", "c3"}
    assert sentinel.choose(list(reversed(cases))) == chosen


def test_few_marks_are_all_chosen_and_scripts_are_not() -> None:
    script = replace(graded("s"), evaluators=(a_rubric(a_criterion(), judge=""),))
    chosen = sentinel.choose([judged("a", True, False), script])
    assert sorted((each.id, each.criterion, each.answer) for each in chosen) == [
        ("a", "c0", "answer a"),
        ("a", "c1", "answer a"),
    ]


def test_an_answer_with_images_is_not_remembered() -> None:
    shot = media("out.png", png(4, 3))
    drawn = replace(judged("b", True), media=pictures_of("answer", [shot]))
    asked = replace(judged("c", True), media=pictures_of("question", [shot]))
    chosen = sentinel.choose([judged("a", True), drawn, asked])
    assert sorted(each.id for each in chosen) == ["a", "c"]
