"""Mutants of a prompt, and the errors of the sequential test, computed and not simulated."""

from collections import defaultdict
from math import comb

import pytest

from rubric_ci.parts.lab.probe.prompt_mutants import (
    BROKEN,
    FALSE_NOTICE,
    FEWEST,
    FURTHER,
    MISSED,
    MOST,
    STEADY,
    Outcome,
    Tally,
    fails_more_often,
    mutants,
    outcome,
)
from rubric_ci.values.config import PromptTemplate

PROMPT = """\
You are a support agent of {{ shop }}. Be polite.

# Rules
- Never promise a refund for
  worn shoes.
- Name at most 2 shops.
1. Answer in the language of {{ input }}.
2. Prices do not include taxes
"""


def prompt(text: str) -> PromptTemplate:
    return PromptTemplate(path="p.md", messages=(("system", text),), takes_input=False)


def test_mutants_of_a_prompt() -> None:
    found = sorted(mutants(prompt(PROMPT), PROMPT, ""), key=lambda each: (each.line, each.kind))
    assert [(each.line, each.kind, each.text or each.rule) for each in found] == [
        (1, "deleted", "Be polite."),
        (1, "inverted", "Do not be polite."),
        (1, "weakened", "If it is convenient, be polite."),
        (4, "deleted", "Never promise a refund for worn shoes."),
        (4, "inverted", "Always promise a refund for worn shoes."),
        (4, "weakened", "Rarely promise a refund for worn shoes."),
        (6, "deleted", "Name at most 2 shops."),
        (6, "inverted", "Name at least 2 shops."),
        (6, "weakened", "Name about 2 shops."),
        (8, "deleted", "Prices do not include taxes"),
        (8, "inverted", "Prices do include taxes"),
        (8, "weakened", "Prices try not to include taxes"),
    ]
    texts = {(each.line, each.kind): each.prompt.messages[0][1] for each in found}
    assert texts[4, "deleted"] == PROMPT.replace(
        "- Never promise a refund for\n  worn shoes.", ""
    ).rstrip("\n")
    assert texts[6, "inverted"] == PROMPT.replace("at most", "at least")


def test_deleted_rules_come_first_and_the_order_is_the_same_each_time() -> None:
    kinds = [each.kind for each in mutants(prompt(PROMPT), PROMPT, "")]
    assert kinds == ["deleted"] * 4 + ["inverted"] * 4 + ["weakened"] * 4
    assert mutants(prompt(PROMPT), PROMPT, "") == mutants(prompt(PROMPT), PROMPT, "")


def test_rules_of_the_base_are_left_out() -> None:
    base = PROMPT.replace("Be polite", "Be kind").replace("refund for\n  worn", "refund for worn")
    assert {each.rule for each in mutants(prompt(PROMPT), PROMPT, base)} == {"Be polite."}


def test_a_prompt_of_one_rule_is_not_emptied() -> None:
    assert [each.kind for each in mutants(prompt("Be kind."), "", "")] == ["inverted", "weakened"]


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        (["survived", "noticed", "no verdict"], "noticed"),
        (["survived", "undecided", "no verdict"], "no verdict"),
        (["survived", "undecided"], "undecided"),
        (["survived", "survived"], "survived"),
    ],
)
def test_outcome_of_several_cases(decisions: list[Outcome], expected: Outcome) -> None:
    assert outcome(decisions) == expected


def test_a_case_without_a_verdict_is_asked_no_further() -> None:
    assert not Tally(failed=1, reason="no key").is_open(1)
    assert Tally(failed=1, reason="no key").decision(1) == "no verdict"


def ended(failing: float, cases: int) -> dict[Tally, float]:
    """Return the answers after which a case that fails with a probability is asked no more."""
    found: dict[Tally, float] = defaultdict(float)
    running = {Tally(): 1.0}
    while running:
        after: dict[Tally, float] = defaultdict(float)
        for tally, share in running.items():
            for one, p in ((Tally(failed=1), failing), (Tally(passed=1), 1 - failing)):
                both = Tally(failed=tally.failed + one.failed, passed=tally.passed + one.passed)
                (after if both.is_open(cases) else found)[both] += share * p
        running = after
    return found


def shares(failing: float, cases: int) -> dict[Outcome, float]:
    """Return the probability of each decision about a case that fails with a probability."""
    found: dict[Outcome, float] = defaultdict(float)
    for tally, share in ended(failing, cases).items():
        found[tally.decision(cases)] += share
    return found


def noticed(failing: float, before: float, cases: int) -> float:
    """Return the probability that a case notices; with the prompt itself it fails with another."""
    total = 0.0
    for tally, share in ended(failing, cases).items():
        if tally.decision(cases) != "noticed":
            continue
        again = tally.answers + FURTHER
        for failed in range(again + 1):
            itself = Tally(failed=failed, passed=again - failed)
            chance = comb(again, failed) * before**failed * (1 - before) ** (again - failed)
            total += share * chance * (tally.against(itself, cases) == "noticed")
    return total


@pytest.mark.parametrize("cases", [1, 2, 5, 20, 60])
def test_no_suite_makes_a_mutant_without_an_effect_count_too_often(cases: int) -> None:
    """However often each case fails: the sum over the cases is at most `cases` of the worst."""
    worst = max(noticed(n / 50, n / 50, cases) for n in range(1, 50))
    assert cases * worst <= FALSE_NOTICE
    assert cases * worst > FALSE_NOTICE / 4  # the test is not blunt for nothing


@pytest.mark.parametrize(
    ("failing", "cases", "least"),
    [(0.5, 5, 0.75), (0.5, 60, 0.5), (0.98, 5, 0.95), (0.98, 60, 0.9)],
)
def test_a_mutant_that_breaks_a_steady_case_is_noticed(
    failing: float, cases: int, least: float
) -> None:
    assert noticed(failing, 0.02, cases) >= least


@pytest.mark.parametrize("cases", [1, 2, 5, 20, 100])
def test_the_errors_are_those_that_are_stated(cases: int) -> None:
    steady, broken = shares(STEADY, cases), shares(BROKEN, cases)
    assert sum(steady.values()) == pytest.approx(1)
    assert 1 - (1 - steady["noticed"]) ** cases <= FALSE_NOTICE
    assert broken["survived"] <= MISSED
    assert steady["survived"] > 0.8
    assert broken["noticed"] > 0.75


@pytest.mark.parametrize(
    ("mutant", "itself", "p_value"),
    [
        (Tally(failed=3), Tally(passed=13), 1 / 560),
        (Tally(failed=3), Tally(failed=13), 1.0),
        (Tally(failed=4, passed=1), Tally(failed=2, passed=13), 0.0139318885),
        (Tally(passed=2), Tally(passed=12), 1.0),
    ],
)
def test_fisher(mutant: Tally, itself: Tally, p_value: float) -> None:
    """As scipy.stats.fisher_exact."""
    assert fails_more_often(mutant, itself) == pytest.approx(p_value)


def test_the_prompt_itself_without_a_verdict_decides_nothing() -> None:
    assert Tally(failed=9).against(Tally(passed=3, reason="429"), 1) == "no verdict"
    assert Tally(failed=9).against(Tally(failed=3, passed=16), 1) == "noticed"
    assert Tally(failed=3).against(Tally(failed=3, passed=10), 1) == "noticed"
    assert Tally(failed=3).against(Tally(failed=3, passed=10), 2) == "undecided"


def test_fewest_answers() -> None:
    assert Tally(passed=FEWEST).decision(1) == "survived"
    assert Tally(passed=FEWEST - 1).decision(1) == "undecided"
    assert FEWEST < MOST
