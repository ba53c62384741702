"""What a start costs: which targets have a price, and what is counted after it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.errors import CannotAnswer
from rubric_ci.grading.targets import command
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.context import StartPrice
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import CliTarget, MockTarget, Target
from rubric_ci.values.usage import Usage
from tests.cases import build_context

CLAUDE = CliTarget(name="a", agent=AgentProgram(name="claude-code"))
LIMITED = CliTarget(name="a", agent=AgentProgram(name="claude-code", max_cost_usd=0.2))
CODEX = CliTarget(name="a", agent=AgentProgram(name="codex"), cost_per_run=0.5)
COMMAND = CliTarget(name="a", command_template="run")


@pytest.mark.parametrize(
    ("target", "price"),
    [
        (CLAUDE, StartPrice(target="a", obeys=True)),
        (LIMITED, StartPrice(target="a", most=0.2, obeys=True)),
        (replace(LIMITED, cost_per_run=0.5), StartPrice(target="a", most=0.2, obeys=True)),
        (replace(LIMITED, cost_per_run=0.1), StartPrice(target="a", most=0.1, obeys=True)),
        (CODEX, StartPrice(target="a", most=0.5)),
        (COMMAND, None),
        (MockTarget(name="a", response="b"), None),
    ],
)
def test_the_price_of_a_start(target: Target, price: StartPrice | None) -> None:
    assert command.price_of(target) == price


@pytest.mark.parametrize(
    ("target", "used", "counted"),
    [
        (CLAUDE, Usage(cost_usd=0.1), Usage(calls=1, cost_usd=0.1)),
        (CLAUDE, Usage(), Usage(calls=1, unpriced_calls=1)),
        (CODEX, Usage(), Usage(calls=1, cost_usd=0.5)),
        (CODEX, Usage(calls=1), Usage(calls=1)),
        (COMMAND, Usage(cost_usd=0.1), Usage(cost_usd=0.1)),
    ],
)
@pytest.mark.parametrize("fails", [False, True])
def test_a_start_counts_also_if_it_fails(
    tmp_path: Path, target: CliTarget, used: Usage, counted: Usage, fails: bool
) -> None:
    async def start(_: float | None) -> Answer:
        if fails:
            raise CannotAnswer("down", used)
        return Answer(text="ok", usage=used)

    async def usage() -> Usage:
        try:
            return (await command.started(target, build_context(tmp_path), start)).usage
        except CannotAnswer as error:
            return error.usage

    assert asyncio.run(usage()) == counted
