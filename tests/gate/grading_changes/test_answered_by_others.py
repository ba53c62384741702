"""Cases that another target answers: one change for each file and pair of targets."""

from dataclasses import replace

import pytest

from rubric_ci.gate.grading_changes.all_changes import target_changes
from rubric_ci.values.config import Config
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.targets import MockTarget

CONFIG = Config(targets={name: MockTarget(name=name, response=name) for name in "xyz"})


def case(name: str, target: str, file: str = "a.yaml") -> EvalCase:
    line = ord(name)
    span = Span(line=line, column=1, end_line=line, end_column=2)
    return EvalCase(id=name, file=file, span=span, target=target)


def test_one_change_for_each_file_and_pair_of_targets() -> None:
    rows = [
        ("a", "x", "y", "a.yaml"),
        ("b", "x", "y", "a.yaml"),
        ("c", "x", "y", "a.yaml"),
        ("d", "x", "y", "b.yaml"),
        ("e", "z", "y", "a.yaml"),
        ("f", "x", "z", "a.yaml"),
        ("g", "x", "x", "a.yaml"),
        ("h", "x", "unknown", "a.yaml"),
    ]
    pairs = [(case(name, now, file), case(name, then, file)) for name, then, now, file in rows]
    found = [
        (each.about, each.file, each.line, each.before[:1], each.after[:1])
        for each in target_changes(pairs, lambda _: CONFIG, lambda _: CONFIG)
    ]
    assert found == [
        ("a and 2 more", "a.yaml", 97, "x", "y"),
        ("d", "b.yaml", 100, "x", "y"),
        ("e", "a.yaml", 101, "z", "y"),
        ("f", "a.yaml", 102, "x", "z"),
    ]


def test_two_cases() -> None:
    pairs = [(case(name, "y"), case(name, "x")) for name in "ab"]
    [found] = target_changes(pairs, lambda _: CONFIG, lambda _: CONFIG)
    assert (found.kind, found.about) == ("target", "a and 1 more")


@pytest.mark.parametrize(
    ("deciding", "direction"), [(("x", "z"), "weaker"), (("x", "y"), "changed"), ((), "changed")]
)
def test_a_case_leaves_the_targets_that_decide(deciding: tuple[str, ...], direction: str) -> None:
    base = replace(CONFIG, gate=GateConfig(targets=deciding))
    pairs = [(case("a", "y"), case("a", "x"))]
    [found] = target_changes(pairs, lambda _: CONFIG, lambda _: base)
    assert found.direction == direction
