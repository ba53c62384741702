"""Head's configuration under the policy of the base, and that no setting lacks a row."""

from dataclasses import fields
from typing import Any

import pytest

from rubric_ci.gate.policy.governed import POLICY, governed
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.config import Config, JudgeConfig
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.json_value import JSON
from rubric_ci.values.scope import UntrustedCaps
from rubric_ci.values.targets import CliTarget, Endpoint, LlmTarget, MockTarget, Target


def judge(model: str = "openai/a", **options: JSON) -> JudgeConfig:
    return JudgeConfig(endpoint=Endpoint(model=model, options=options))


def mock(name: str, judge_target: str = "") -> Target:
    return MockTarget(name=name, response="Hi", judge_target=judge_target)


def model(name: str, **options: JSON) -> Target:
    return LlmTarget(name=name, endpoint=Endpoint(model="openai/a", options=options))


def config(*targets: Target, judge: JudgeConfig | None = None) -> Config:
    return Config(judge=judge, targets={target.name: target for target in targets})


BASE = Config(
    judge=judge(),
    gate=GateConfig(fail_on="borderline"),
    rules={"gate-kind": "error"},
    env_allow=("KEY",),
)


def test_the_base_decides_who_judges_and_when_the_gate_fails() -> None:
    head = Config(evals=("a",), judge=judge("openai/b"), env_allow=("*",))
    found = governed(head, BASE, configured=True)
    assert (found.judge, found.gate, found.rules, found.env_allow) == (
        *(BASE.judge, BASE.gate, BASE.rules, BASE.env_allow),
    )
    assert found.evals == ("a",)


@pytest.mark.parametrize(
    ("head", "base", "expected"),
    [
        (mock("t", "new"), mock("t", "j"), "j"),
        (mock("t", "new"), mock("t"), ""),
        (mock("added", "j"), mock("t", "j"), "j"),
        (mock("added", "new"), mock("t", "j"), ""),
    ],
    ids=["another", "first", "known to the base", "new"],
)
def test_the_judge_of_a_target(head: Target, base: Target, expected: str) -> None:
    found = governed(config(head), config(base), configured=True)
    assert found.targets[head.name].judge_target == expected
    assert found.judges == {base.name: base}


def test_a_base_with_targets_only_keeps_their_judges() -> None:
    then = config(mock("t", "j"), model("j", api_base="https://then"))
    now = config(mock("t", "k"), mock("u", "k"), model("j", api_base="https://now"), model("k"))
    found = governed(replace_judge(now), then, configured=False)
    assert found.judge == judge("openai/b")
    assert [found.targets[name].judge_target for name in ("t", "u")] == ["j", "k"]
    assert found.judges == {**now.targets, **then.targets}


def test_a_model_in_place_of_a_command_has_no_connection_of_the_base() -> None:
    """Also the judge's, and that of a target which is no model, are the base's to know."""
    now = config(model("t", api_base="https://now"), model("u", api_key="k"))
    then = config(mock("t"), model("known", api_key="k"), judge=judge(api_base="https://now"))
    found = governed(now, then, configured=True).targets
    assert [target.held for target in found.values() if isinstance(target, LlmTarget)] == [(), ()]
    alone = governed(now, config(mock("t")), configured=True).targets
    held = [target.held for target in alone.values() if isinstance(target, LlmTarget)]
    assert held == [("api_base",), ("api_key",)]


def test_the_server_of_an_agent_counts_after_the_merge() -> None:
    def agent(name: str = "codex", **options: Any) -> Config:
        program = AgentProgram(name=name, model="m", max_turns=3, **options)
        return config(CliTarget(name="t", agent=program))

    def held(now: Config, then: Config) -> tuple[str, ...]:
        target = governed(now, then, configured=True).targets["t"]
        assert isinstance(target, CliTarget)
        return target.held

    own: dict[str, Any] = {"base_url": "https://now", "args": ("--x",)}
    assert held(agent(), config()) == ()
    assert held(agent(**own), config()) == ("args", "base_url")
    assert held(agent(**own), agent(base_url="https://now")) == ("args",)
    assert held(agent(**own), agent(**own)) == ()
    assert held(agent("qwen", **own), agent(**own)) == ("args", "base_url")


def replace_judge(of: Config) -> Config:
    return Config(judge=judge("openai/b"), targets=of.targets)


CODEX, CLAUDE = (AgentProgram(name=name) for name in ("codex", "claude-code"))


def start(
    price: float | None = None, agent: AgentProgram | None = None, name: str = "t"
) -> CliTarget:
    return CliTarget(name=name, agent=agent, cost_per_run=price)


@pytest.mark.parametrize(
    ("head", "base", "expected"),
    [
        pytest.param(start(0), [start(0.5)], 0.5, id="lowered"),
        pytest.param(start(2), [start(0.5)], 0.5, id="raised"),
        pytest.param(start(), [start(0.5)], 0.5, id="removed"),
        pytest.param(start(0), [start()], None, id="written"),
        pytest.param(start(0, CODEX), [start(0.5, CODEX)], 0.5, id="of an agent"),
        pytest.param(start(0, CODEX), [start(agent=CODEX)], None, id="written for an agent"),
        pytest.param(start(0, CODEX, "new"), [start(0.5, CODEX)], 0.5, id="an agent, renamed"),
        pytest.param(
            start(0, CODEX, "new"), [start(0.5, CODEX), start(2, CODEX, "b")], 2, id="the dearest"
        ),
        pytest.param(
            start(0, CODEX, "new"), [start(0.5, CODEX), start(agent=CODEX, name="b")], None,
            id="one is not known",
        ),
        pytest.param(start(0.1, name="new"), [start(0.5)], 0.1, id="a new command"),
        pytest.param(start(0.1, CODEX), [start(0.5)], 0.1, id="an agent for a command"),
        pytest.param(start(0.1, CODEX), [start(0.5, CLAUDE)], 0.1, id="another agent"),
        pytest.param(start(0.1), [mock("t")], 0.1, id="a command for an answer"),
    ],
)  # fmt: skip
def test_the_price_of_a_start_is_the_bases(
    head: CliTarget, base: list[Target], expected: float | None
) -> None:
    """A change could void a limit in dollars; its own price counts for a new program."""
    found = governed(config(head), config(*base), configured=True).targets[head.name]
    assert isinstance(found, CliTarget)
    assert found.cost_per_run == expected


NOT_POLICY = {"evals", "compare", "targets", "judges"}


def test_every_other_key_of_the_configuration_is_policy() -> None:
    """A new key must be decided on: it is taken from the base, or listed above."""
    base = Config(
        judge=JudgeConfig(endpoint=Endpoint(model="m")),
        gate=GateConfig(min_kappa=0.5),
        regression=RegressionConfig(variants=False),
        rules={"gate-kind": "off"},
        env_allow=("MINE",),
        untrusted=UntrustedCaps(max_cases=3),
        shared_rubrics={"safe": "{}"},
    )
    found = governed(Config(), base, configured=True)
    names = {each.name for each in fields(Config)} - NOT_POLICY
    assert {name: getattr(found, name) for name in names} == {
        name: getattr(base, name) for name in names
    }
    assert [name for name in names if getattr(base, name) == getattr(Config(), name)] == []
    assert names == POLICY
