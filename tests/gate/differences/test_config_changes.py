"""The settings that differ, which of two values is weaker, and the notes of a report."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.differences.config_changes import change_notes, policy_changes
from rubric_ci.values.agent_program import AgentProgram, JudgeCommand
from rubric_ci.values.changes import Direction
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.config import Config, JudgeConfig
from rubric_ci.values.gate import GateConfig, Group
from rubric_ci.values.scope import UntrustedCaps
from rubric_ci.values.scoring import Thresholds
from rubric_ci.values.targets import CliTarget, Endpoint, LlmTarget
from tests.gate.policy.test_governed import config, judge, mock, model


def judged(of: JudgeConfig | None = None, **facts: Any) -> Config:
    return Config(judge=of or judge(), **facts)


UNTRUSTED = UntrustedCaps(max_cost_usd=5, max_cases=9)
CHANGES: dict[str, tuple[Config, list[tuple[str, str, str]]]] = {
    "judge": (
        judged(judge("openai/b", api_base="https://b")),
        [("judge.api_base", "", "https://b"), ("judge.model", "openai/a", "openai/b")],
    ),
    "secret": (judged(judge(api_key="sk-1")), [("judge.api_key", "***", "***")]),
    "tokens": (judged(judge(max_tokens=9)), [("judge.max_tokens", "", "9")]),
    "gate": (judged(gate=GateConfig(min_kappa=0.5)), [("gate.min_kappa", "", "0.5")]),
    "the default of a rule": (judged(rules={"gate-kind": "warning"}), []),
    "rules": (judged(rules={"gate-kind": "off"}), [("rules.gate-kind", "warning", "off")]),
    "untrusted": (
        judged(untrusted=UNTRUSTED),
        [("untrusted.max_cases", "50", "9"), ("untrusted.max_cost_usd", "1.0", "5")],
    ),
    "env": (judged(env_allow=("A", "B")), [("env.allow", "", "A, B")]),
    "long": (judged(judge(seed="x\n" * 100)), [("judge.seed", "", ("x " * 60) + "…")]),
    "as long as is shown": (judged(judge(seed="x" * 120)), [("judge.seed", "", "x" * 120)]),
    "one character more": (judged(judge(seed="x" * 121)), [("judge.seed", "", "x" * 120 + "…")]),
}


@pytest.mark.parametrize(("head", "expected"), CHANGES.values(), ids=CHANGES)
def test_changes(head: Config, expected: list[tuple[str, str, str]]) -> None:
    found = list(policy_changes(head, Config(judge=judge())))
    assert [(each.key, each.before, each.after) for each in found] == expected


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        *(("api_base", "1"), ("base_url", "1"), ("api_key", "***"), ("client_secret", "***")),
        *(("organization", "***"), ("headers", "***"), ("MY_KEY", "***"), ("my_secret", "***")),
        *(("my_token", "***"), ("my_password", "***"), ("keyboard", "1"), ("max_tokens", "1")),
        *(("input_cost_per_token", "1"), ("secret_word", "1")),
    ],
)
def test_options_that_are_secret_are_not_shown(option: str, shown: str) -> None:
    endpoint = Endpoint(model="openai/a", options={option: 1})
    found = list(policy_changes(judged(JudgeConfig(endpoint=endpoint)), judged()))
    unset = "***" if shown == "***" else ""
    assert [(each.key, each.before, each.after) for each in found] == [
        (f"judge.{option}", unset, shown)
    ]


def test_only_targets_that_judge_are_policy() -> None:
    then = config(mock("t", "j"), model("j", seed=1), model("m", seed=1))
    now = config(mock("t", "j"), model("j", seed=2), model("m", seed=2))
    assert [change.key for change in policy_changes(now, then)] == ["targets.j.seed"]


COMMAND = JudgeCommand(cli="codex", model="m", argv=("a", "b"), env=("TOKEN",))

EVERY_KEY = GateConfig(
    fail_on="never",
    thresholds=Thresholds(passing=0.9, borderline=0.5),
    min_kappa=0.5,
    min_pass_rate=0.25,
    groups={"a": Group(min_pass_rate=0.75)},
    max_waivers=3,
    targets=("x", "y"),
    on_weaker_grading="fail",
    on_changed_grading="review",
    require_rubrics=True,
    require_verdict=True,
)
SET: dict[str, tuple[Config, list[tuple[str, str, str, str | None]]]] = {
    "gate": (
        Config(gate=EVERY_KEY),
        [
            ("gate.fail_on", "fail", "never", "gate"),
            ("gate.groups.a.min_pass_rate", "", "0.75", "gate"),
            ("gate.max_waivers", "", "3", "gate"),
            ("gate.min_kappa", "", "0.5", "gate"),
            ("gate.min_pass_rate", "", "0.25", "gate"),
            ("gate.on_changed_grading", "note", "review", "gate"),
            ("gate.on_weaker_grading", "note", "fail", "gate"),
            ("gate.require_rubrics", "False", "True", "gate"),
            ("gate.require_verdict", "False", "True", "gate"),
            ("gate.targets", "", "x, y", "gate"),
            ("gate.thresholds.borderline", "0.6", "0.5", "gate"),
            ("gate.thresholds.pass", "0.8", "0.9", "gate"),
        ],
    ),
    "regression": (
        Config(regression=RegressionConfig(variants=False, repeated="note")),
        [
            ("regression.repeated", "broken", "note", "gate"),
            ("regression.variants", "True", "False", "gate"),
        ],
    ),
    "a judge": (
        Config(judge=replace(judge(seed=1), votes=3, canary=True)),
        [
            ("judge.canary", "", "True", "judge"),
            ("judge.model", "", "openai/a", "judge"),
            ("judge.seed", "", "1", "judge"),
            ("judge.votes", "", "3", "judge"),
        ],
    ),
    "a command that judges": (
        Config(judge=JudgeConfig(endpoint=Endpoint(model="codex", command=COMMAND))),
        [
            ("judge.cli", "", "codex", "judge"),
            ("judge.command", "", "a, b", "judge"),
            ("judge.env", "", "TOKEN", "judge"),
            ("judge.model", "", "m", "judge"),
        ],
    ),
    "rules and names": (
        Config(rules={"gate-kind": "off"}, env_allow=("A",)),
        [("env.allow", "", "A", None), ("rules.gate-kind", "warning", "off", "rule")],
    ),
    "a target that is judged": (
        config(mock("t", "j"), model("j", seed=1)),
        [
            ("targets.j.model", "", "openai/a", "judge"),
            ("targets.j.seed", "", "1", "judge"),
            ("targets.t.judge_target", "", "j", "judge"),
        ],
    ),
}


@pytest.mark.parametrize(("head", "expected"), SET.values(), ids=SET)
def test_every_setting_set(head: Config, expected: list[tuple[str, str, str, str | None]]) -> None:
    """Beside a configuration without any: its values, and what a change of it is."""
    found = policy_changes(head, Config())
    assert [(each.key, each.before, each.after, each.kind) for each in found] == expected


def test_the_connection_of_a_target_that_both_have() -> None:
    """Where a model is asked decides no verdict; a new model, or another's, has none to keep."""
    other = Endpoint(model="deepseek/a", options={"api_base": "https://d"})
    then = config(
        *(model("m", api_base="https://a"), mock("k"), model("moved", api_base="https://a")),
        judge=judge(),
    )
    now = config(
        *(model("m", api_base="https://b", seed=2), mock("k"), model("new", api_base="https://c")),
        LlmTarget(name="moved", endpoint=other),
        judge=judge(),
    )
    assert [(each.key, each.kind) for each in policy_changes(now, then)] == [
        ("targets.m.api_base", "target")
    ]


def test_the_price_of_a_start() -> None:
    """It is listed for a program that both have."""
    codex = AgentProgram(name="codex")
    then = config(CliTarget(name="t", cost_per_run=0.5), CliTarget(name="a"), mock("m"))
    now = config(
        *(CliTarget(name="t", cost_per_run=0.1), CliTarget(name="new", cost_per_run=1)),
        *(CliTarget(name="a", agent=codex, cost_per_run=1), CliTarget(name="m", cost_per_run=1)),
    )
    found = [(each.key, each.before, each.after, each.kind) for each in policy_changes(now, then)]
    assert found == [("targets.t.cost_per_run", "0.5", "0.1", "target")]


def gate(**settings: Any) -> Config:
    return Config(gate=GateConfig(**settings))


def rule(**rules: str) -> Config:
    return Config(rules={name.replace("_", "-"): word for name, word in rules.items()})


WEAKER: dict[str, tuple[Config, Config]] = {
    "fail on fewer verdicts": (gate(fail_on="borderline"), gate(fail_on="fail")),
    "fail on what the change broke": (gate(), gate(fail_on="regression")),
    "never fail": (gate(fail_on="regression"), gate(fail_on="never")),
    "threshold of pass": (gate(), gate(thresholds=Thresholds(passing=0.79))),
    "threshold of borderline": (gate(), gate(thresholds=Thresholds(borderline=0.5))),
    "kappa lowered": (gate(min_kappa=0.6), gate(min_kappa=0.5)),
    "kappa removed": (gate(min_kappa=-1.0), gate()),
    "a rate that tolerates failures": (gate(), gate(min_pass_rate=0.99)),
    "rate lowered": (gate(min_pass_rate=1.0), gate(min_pass_rate=0.99)),
    "a group that tolerates failures": (gate(), gate(groups={"a": Group(min_pass_rate=0.9)})),
    "group removed beside a rate": (
        gate(min_pass_rate=0.5, groups={"a": Group(min_pass_rate=0.1)}),
        gate(min_pass_rate=0.5),
    ),
    "more waivers": (gate(max_waivers=10), gate(max_waivers=11)),
    "any number of waivers": (gate(max_waivers=10), gate()),
    "no better than another target": (gate(better_than="a"), gate()),
    "weaker grading allowed": (gate(on_weaker_grading="fail"), gate()),
    "no review": (gate(on_changed_grading="review"), gate()),
    "a review": (gate(on_changed_grading="fail"), gate(on_changed_grading="review")),
    "no rubrics required": (gate(require_rubrics=True), gate()),
    "no verdict required": (gate(require_verdict=True), gate()),
    "repeated answers noted": (Config(), Config(regression=RegressionConfig(repeated="note"))),
    "rule below its default": (Config(), rule(unknown_key="warning")),
    "rule off": (Config(), rule(gate_kind="off")),
    "rule back to its default": (rule(gate_kind="error"), Config()),
    "evidence not checked": (
        Config(judge=replace(judge(), evidence="strict")),
        Config(judge=judge()),
    ),
    "canary off": (Config(judge=replace(judge(), canary=True)), Config(judge=judge())),
}


@pytest.mark.parametrize(("base", "head"), WEAKER.values(), ids=WEAKER)
def test_the_weaker_of_two_values(base: Config, head: Config) -> None:
    assert directions(head, base) == ["weaker"]
    assert directions(base, head) == ["stronger"]
    assert directions(base, base) == []


def directions(head: Config, base: Config) -> list[Direction]:
    return [change.direction for change in policy_changes(head, base)]


CHANGED: dict[str, tuple[Config, Config]] = {
    "model": (Config(judge=judge()), Config(judge=judge("openai/b"))),
    "votes": (Config(judge=judge()), Config(judge=replace(judge(), votes=3))),
    "no judge": (Config(judge=JudgeConfig(endpoint=judge().endpoint)), Config()),
    "variants": (Config(), Config(regression=RegressionConfig(variants=False))),
    "variables": (Config(), Config(env_allow=("A",))),
}


@pytest.mark.parametrize(("base", "head"), CHANGED.values(), ids=CHANGED)
def test_neither_is_certain(base: Config, head: Config) -> None:
    assert {*directions(head, base), *directions(base, head)} == {"changed"}


def test_a_rule_that_is_not_known() -> None:
    assert directions(rule(of_another_version="off"), Config()) == ["changed"]


def test_a_value_beyond_the_120_characters_that_are_shown() -> None:
    long = "x" * 200
    [change] = policy_changes(Config(judge=judge(seed=f"{long}a")), Config(judge=judge(seed=long)))
    assert change.before == change.after == f"{'x' * 120}…"


def test_the_notes_of_a_report() -> None:
    changes = list(policy_changes(gate(min_kappa=0.5), Config()))
    assert change_notes("Policy", changes) == (
        "Policy",
        "Policy change, in effect after the merge: gate.min_kappa: (none) → 0.5",
    )
    removed = list(policy_changes(Config(), gate(min_kappa=0.5)))
    assert change_notes("Policy", removed)[1].endswith("gate.min_kappa: 0.5 → (none)")
    assert change_notes("Policy", []) == ()
