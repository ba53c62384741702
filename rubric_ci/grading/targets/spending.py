"""The cost of starting a target's program: reserved in the budget before it, counted after it."""

from dataclasses import replace

from rubric_ci.errors import NoVerdict
from rubric_ci.models.agents import AGENTS
from rubric_ci.values.context import RunContext, Start, StartPrice
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import CliTarget, Target
from rubric_ci.values.usage import Usage


def price_of(target: Target) -> StartPrice | None:
    """Return the highest cost of a start; None: it is not a call that the caps count."""
    if target.agent is None and target.cost_per_run is None:
        return None
    agent = target.agent
    obeys = agent is not None and bool(AGENTS[agent.name].cap)
    limits = [target.cost_per_run, agent.max_cost_usd if agent and obeys else None]
    most = min((limit for limit in limits if limit is not None), default=None)
    return StartPrice(target=target.name, most=most, obeys=obeys)


def model_of(target: Target) -> str:
    """Return the model that answers; empty: a program, or nothing that is asked."""
    return target.endpoint.model if target.endpoint else ""


async def started(target: CliTarget, context: RunContext, start: Start) -> Answer:
    """Return the answer of one start, which counts as a call; raises OverBudget before it."""
    price = price_of(target)
    if price is None:
        return await context.allowance.spend(StartPrice(target=target.name, counts=False), start)

    async def counted(most: float | None) -> Answer:
        try:
            given = await start(most)
        except NoVerdict as error:
            raise error.with_usage(_as_call(error.usage, target)) from None
        return replace(given, usage=_as_call(given.usage, target))

    return await context.allowance.spend(price, counted)


def _as_call(used: Usage, target: CliTarget) -> Usage:
    """Return the usage of one call: its own figure, else the target's, else unknown."""
    if used.cost_usd or used.calls:
        return replace(used, calls=1)
    if target.cost_per_run is None:
        return replace(used, calls=1, unpriced_calls=1)
    return replace(used, calls=1, cost_usd=target.cost_per_run)
