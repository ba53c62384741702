"""The directions of trials and tags: what lets a failing case pass more often is weaker."""

from dataclasses import replace
from math import comb

import pytest

from rubric_ci.gate.differences.case_changes import case_changes, changes_of
from rubric_ci.gate.differences.move import narrowed
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.config import Config
from rubric_ci.values.evals import EvalCase, TrialRule
from rubric_ci.values.gate import GateConfig, Group
from rubric_ci.values.messages import FilePart, MediaPart, Message, Role, TextPart
from tests.cases import build_case, text_message
from tests.pictures import media, png

POLICY = Config(
    gate=GateConfig(groups={"smoke": Group(min_pass_rate=0.9), "strict": Group(min_pass_rate=1.0)})
)


def changes(now: EvalCase, then: EvalCase) -> list[GradingChange]:
    return list(case_changes([now], {(now.file, now.id): then}, POLICY))


def rule(passes: int, count: int) -> TrialRule | None:
    return TrialRule(count=count, passes=passes) if count else None


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        ((4, 5), (1, 1), "weaker"),
        ((4, 5), (3, 5), "weaker"),
        ((4, 5), (5, 5), "stronger"),
        ((4, 5), (4, 6), "weaker"),
        ((4, 5), (8, 10), "weaker"),
        ((1, 1), (2, 2), "stronger"),
        ((1, 5), (1, 1), "stronger"),
        ((0, 0), (3, 3), "stronger"),
        ((0, 0), (1, 5), "weaker"),
        ((4, 5), (0, 0), "weaker"),
        ((1, 5), (0, 0), "stronger"),
        ((0, 0), (1, 1), "weaker"),
    ],
)
def test_trials(then: tuple[int, int], now: tuple[int, int], expected: str) -> None:
    [change] = changes(build_case(trials=rule(*now)), build_case(trials=rule(*then)))
    assert (change.kind, change.direction) == ("trials", expected)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.8, 0.95])
def test_a_stronger_rule_never_passes_more_often(share: float) -> None:
    rules = [(passes, count) for count in range(1, 7) for passes in range(1, count + 1)]
    for then in rules:
        for now in rules:
            found = changes(build_case(trials=rule(*now)), build_case(trials=rule(*then)))
            if [change.direction for change in found] == ["stronger"]:
                assert passing(share, *now) <= passing(share, *then)


def passing(share: float, passes: int, count: int) -> float:
    """Return the probability that at least `passes` of `count` trials pass."""
    return sum(
        comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(passes, count + 1)
    )


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        ((), ("smoke",), ["weaker:  → smoke"]),
        (("smoke",), (), ["weaker: smoke → "]),
        ((), ("strict",), ["stronger:  → strict"]),
        (("strict",), (), ["weaker: strict → "]),
        ((), ("safety",), ["stronger:  → safety"]),
        (("safety",), (), ["weaker: safety → "]),
        ((), ("other",), []),
    ],
)
def test_tags(then: tuple[str, ...], now: tuple[str, ...], expected: list[str]) -> None:
    found = changes(build_case(tags=now), build_case(tags=then))
    assert [f"{each.direction}: {each.before} → {each.after}" for each in found] == expected


MOVED = [
    ("a.yaml", [("weaker", "a.yaml (chosen)", "b.yaml (not chosen)")]),
    ("b.yaml", [("stronger", "a.yaml (not chosen)", "b.yaml (chosen)")]),
    ("yaml", []),
]


@pytest.mark.parametrize(("words", "told"), MOVED)
def test_a_case_that_moved_to_an_unchosen_file(words: str, told: list[tuple[str, ...]]) -> None:
    was, case = replace(build_case(), file="a.yaml"), replace(build_case(), file="b.yaml")
    found = changes_of(case, was, POLICY, lambda each: words in each.file)
    assert [(each.direction, each.before, each.after) for each in found] == told


def test_a_case_that_moved_and_has_other_tags_is_told_once() -> None:
    was, case = (
        replace(build_case(), file="a.yaml"),
        replace(build_case(tags=("x",)), file="b.yaml"),
    )
    [change] = changes_of(case, was, POLICY, lambda each: each.file == "a.yaml")
    assert (change.kind, change.direction) == ("tag", "weaker")


def test_a_new_case() -> None:
    [change] = case_changes([build_case()], {}, POLICY)
    assert (change.kind, change.direction, change.after) == ("case", "stronger", "added")


ASSISTANT = text_message("Yes", role="assistant")


@pytest.mark.parametrize(
    "now",
    [
        replace(ASSISTANT, role="tool"),
        replace(ASSISTANT, name="helper"),
        text_message("No", role="assistant"),
        replace(ASSISTANT, tool_calls=({"name": "look"},)),
    ],
)
def test_expected_messages(now: Message) -> None:
    then = build_case(expected_messages=(ASSISTANT,))
    [change] = changes(build_case(expected_messages=(now,)), then)
    assert (change.kind, change.direction, change.about) == (
        "reference",
        "changed",
        f"{then.id}: expected_messages",
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, ["a"], "weaker"),
        (["a"], None, "stronger"),
        (["a", "b"], ["a"], "weaker"),
        (["a"], ["b", "a"], "stronger"),
        (["a"], ["b"], "changed"),
        (["a", "b"], ["b", "a"], "changed"),
    ],
)
def test_files_of_a_case(before: list[str] | None, after: list[str] | None, expected: str) -> None:
    assert narrowed(before, after) == expected


@pytest.mark.parametrize("flag", [True, False])
def test_a_file_becomes_a_guideline(flag: bool) -> None:
    def with_file(guideline: bool) -> EvalCase:
        part = FilePart("notes.md", "Use tabs", guideline=guideline)
        return build_case(input_messages=(Message(role="user", parts=(TextPart("Go"), part)),))

    [change] = changes(with_file(flag), with_file(not flag))
    words = ("input", "guideline") if flag else ("guideline", "input")
    assert (change.kind, change.direction, change.before, change.after) == (
        "case", "changed", *words,
    )  # fmt: skip


def test_variables_are_told_as_such_unless_the_question_has_them() -> None:
    case = build_case(vars={"days": 30})
    edited = replace(case, vars={"days": 60})
    [change] = changes(edited, case)
    told = (change.about, change.before, change.after)
    assert told == ("one: variables", '{"days": 30}', '{"days": 60}')
    asks = Message(role="user", parts=(TextPart("Within 60 days?"),))
    assert [each.about for each in changes(replace(edited, input_messages=(asks,)), case)] == [
        "one: question"
    ]


@pytest.mark.parametrize(
    ("messages", "role", "kind"),
    [("input_messages", "user", "case"), ("expected_messages", "assistant", "reference")],
)
def test_another_picture_is_another_question(messages: str, role: Role, kind: str) -> None:
    def showing(colour: tuple[int, int, int]) -> EvalCase:
        shot = media("shots/cart.png", png(4, 3, colour))
        return build_case(**{messages: (Message(role=role, parts=(MediaPart(shot),)),)})

    now, then = showing((0, 0, 0)), showing((9, 9, 9))
    before, after = ((*each.media, *each.reference_media)[0].digest[:12] for each in (then, now))
    [change] = changes(now, then)
    assert (change.kind, change.direction) == (kind, "changed")
    assert (change.before, change.after) == (f"shots/cart.png {before}", f"shots/cart.png {after}")
    assert changes(now, showing((0, 0, 0))) == []
