"""A drop of all cases together, and the base of today."""

import asyncio
from random import Random

import pytest

from benchmarks.against.simulate import pull
from rubric_ci.services.run import mean_drop
from rubric_ci.values.comparison import Drop
from tests.services.run.test_base_comparison import Script

NAMES = [str(number) for number in range(40)]
ALL_PASS = dict.fromkeys(NAMES, "pp")


def worse(count: int) -> dict[str, str]:
    """Return a head on which so many cases fail in their first trial, and pass in others."""
    return {name: "ff pp" if number < count else "pp" for number, name in enumerate(NAMES)}


def drop_of(script: Script) -> Drop | None:
    against = script.compare().against
    assert against
    return against.drop


def test_a_drop_that_no_case_shows_alone_is_found() -> None:
    script = Script(worse(10), ALL_PASS)
    outcome = script.compare()
    assert outcome.against
    drop = outcome.against.drop
    assert drop
    assert (drop.cases, drop.more_fail, drop.fewer_pass, drop.confirmed) == (40, 10, 10, True)
    assert drop.p_value == pytest.approx(0.5**10)
    assert (drop.again, drop.again_p_value) == (0, None)  # its answers are of this run
    assert {case.change for case in outcome.results} == {"unchanged"}


@pytest.mark.parametrize("count", [0, 1, 6])
def test_chance_explains_few_worse_cases(count: int) -> None:
    assert drop_of(Script(worse(count), ALL_PASS)) is None


def test_as_many_better_as_worse_are_no_drop() -> None:
    base = ALL_PASS | dict.fromkeys(NAMES[20:30], "ff pp")
    assert drop_of(Script(worse(10), base)) is None


def test_a_base_of_another_day_is_asked_again_before_a_drop_counts() -> None:
    script = Script(worse(10), ALL_PASS, reused=NAMES, today=dict.fromkeys(NAMES, "p"))
    outcome = script.compare()
    assert outcome.against
    drop = outcome.against.drop
    assert drop
    assert (drop.confirmed, drop.again, drop.again_level) == (True, 40, drop.level)
    assert drop.again_p_value == pytest.approx(0.5**10)
    assert [call for call in script.calls if "today" in call] == [
        f"base of today 0: {''.join(NAMES)}"
    ]
    assert outcome.against.usage.calls >= 80  # what was asked again counts


def test_a_world_that_moved_blames_nobody() -> None:
    today = {name: "f" if number < 10 else "p" for number, name in enumerate(NAMES)}
    head = {name: "ff" if number < 10 else "pp" for number, name in enumerate(NAMES)}
    script = Script(head, ALL_PASS, reused=NAMES, today=today)
    outcome = script.compare()
    assert outcome.against
    drop = outcome.against.drop
    assert drop
    assert (drop.confirmed, drop.base_moved, drop.again) == (False, True, 40)
    assert {case.change for case in outcome.results} == {"unchanged", "failing-before"}
    assert not [call for call in script.calls if call.startswith("head 1")]  # no suspect is left


def test_a_real_break_is_found_in_a_world_that_moved() -> None:
    today = {name: "f" if number < 10 else "p" for number, name in enumerate(NAMES)}
    head = {name: "ff" if number < 11 else "pp" for number, name in enumerate(NAMES)}
    outcome = Script(head, ALL_PASS, reused=NAMES, today=today).compare()
    changes = {case.id: case.change for case in outcome.results}
    assert changes["10"] == "broken"
    assert "broken" not in {changes[name] for name in NAMES if name != "10"}


def test_a_difference_that_new_answers_do_not_show_may_be_chance() -> None:
    """Four cases fail at the base today, ten here: neither is more than chance."""
    today = {name: "f" if number < 4 else "p" for number, name in enumerate(NAMES)}
    today |= dict.fromkeys(NAMES[20:22], "f")
    head = worse(7) | dict.fromkeys(NAMES[20:22], "pp")
    drop = drop_of(Script(head, ALL_PASS, reused=NAMES, today=today))
    assert drop
    assert (drop.confirmed, drop.again) == (False, 40)
    assert drop.again_p_value == pytest.approx(0.5)


def test_a_drop_needs_the_same_level_with_new_answers() -> None:
    """Of 17 cases that differ from today 12 are worse, which is p = 0.07."""
    today = {name: "f" if 20 <= number < 25 else "p" for number, name in enumerate(NAMES)}
    head = worse(12) | dict.fromkeys(NAMES[20:25], "pp")
    drop = drop_of(Script(head, ALL_PASS, reused=NAMES, today=today))
    assert drop
    assert (drop.confirmed, drop.again) == (False, 40)
    assert drop.again_p_value == pytest.approx(0.0717, abs=1e-4)


def test_a_drop_that_a_hundred_answers_leave_open_is_tested_with_all() -> None:
    names = [str(number) for number in range(150)]
    head = {name: "ff pp" if number % 10 == 0 else "pp" for number, name in enumerate(names)}
    base = dict.fromkeys(names, "pp")
    today = {name: "f" if number in {11, 12, 13} else "p" for number, name in enumerate(names)}
    drop = drop_of(Script(head, base, reused=names, today=today))
    assert drop
    assert (drop.confirmed, drop.again) == (True, 150)


def test_a_base_that_cannot_be_asked_again_leaves_it_undecided() -> None:
    script = Script(worse(10), ALL_PASS, reused=NAMES, today=dict.fromkeys(NAMES, "e"))
    drop = drop_of(script)
    assert drop
    assert (drop.confirmed, drop.base_moved, drop.problem) == (False, False, "429")


def test_at_most_a_hundred_answers_are_asked_again() -> None:
    names = [str(number) for number in range(150)]
    head, base = dict.fromkeys(names, "ff"), dict.fromkeys(names, "pp")
    script = Script(head, base, reused=names, today=dict.fromkeys(names, "p"))
    drop = drop_of(script)
    assert drop
    assert (drop.confirmed, drop.again) == (True, mean_drop.MOST)
    moved = Script(head, base, reused=names, today=dict.fromkeys(names, "f"))
    drop = drop_of(moved)
    assert drop
    assert (drop.confirmed, drop.again) == (False, 150)  # every answer is of today then


def test_marks_under_the_rubrics_of_the_base_show_a_drop_as_well() -> None:
    head = {name: "pf pp" if number < 10 else "pp" for number, name in enumerate(NAMES)}
    drop = drop_of(Script(head, ALL_PASS, edited="".join(NAMES)))
    assert drop
    assert (drop.confirmed, drop.more_fail) == (True, 10)


@pytest.mark.deep
def test_a_spread_drop_is_found_by_chance_alike() -> None:
    """Of 200 cases .95 → .80; quiet pull requests stay quiet."""
    found = [_pull(seed, head=0.80) for seed in range(10)]
    assert sum(found) >= 9
    quiet = [_pull(seed, head=0.95) for seed in range(40)]
    assert sum(quiet) <= 6


def _pull(seed: int, *, head: float) -> bool:
    return asyncio.run(pull(Random(seed), 200, (0.95, 0.0), 1, 0, head=(head, 0.0)))[0]
