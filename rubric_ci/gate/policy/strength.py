"""The weaker value of each setting, and the options of targets under the policy of a base.

Every option that is not free can name a file, a credential, an endpoint or a header. These come
from the base, as one set: from the target of the same name, or from another model of the same
provider.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.changes import Direction, compared
from rubric_ci.values.config import CliTarget, Config, Endpoint, LlmTarget
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON

ALL_PASS: Final = 0.999999  # the rate of a gate without rates; a written 1 is stronger
FREE: Final = frozenset(
    (
        *("frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens"),
        *("metadata", "min_p", "modalities", "n", "parallel_tool_calls", "prediction"),
        *("presence_penalty", "reasoning_effort", "repetition_penalty", "response_format", "seed"),
        *("service_tier", "stop", "stop_sequences", "store", "temperature", "thinking"),
        *("tool_choice", "tools", "top_k", "top_logprobs", "top_p", "user", "verbosity"),
        *("input_cost_per_token", "output_cost_per_token"),
        *("input_cost_per_second", "output_cost_per_second"),
    )
)
"""Options that are sent as data, or are prices. An option that is not listed is the base's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A setting with another value at the head; None: it is not set."""

    before: JSON
    after: JSON
    base: Config
    head: Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How the values of a setting compare."""

    weaker: str  # what makes it weaker, for the documentation; empty: nothing is known
    direction: Callable[[Move], Direction]


UNKNOWN: Final = Order(weaker="", direction=lambda _: "changed")


def words(*weakest_first: JSON) -> Order:
    """Return the order of a list of values; others are not comparable."""

    def direction(move: Move) -> Direction:
        if move.before not in weakest_first or move.after not in weakest_first:
            return "changed"
        before, after = (weakest_first.index(value) for value in (move.before, move.after))
        return compared(before, after)

    shown = " < ".join(f"`{str(word).lower()}`" for word in weakest_first)
    return Order(weaker=f"moves to the left in {shown}", direction=direction)


def minimum() -> Order:
    """Return the order of a minimum; without one, nothing is demanded."""
    return Order(
        weaker="lowered or removed",
        direction=lambda move: compared(*_numbers(move, unset=float("-inf"))),
    )


def maximum() -> Order:
    """Return the order of a maximum; without one, anything is allowed."""

    def direction(move: Move) -> Direction:
        before, after = _numbers(move, unset=float("inf"))
        return compared(-before, -after)

    return Order(weaker="raised or removed", direction=direction)


def demand() -> Order:
    """Return the order of a demand that is made or not; its content is not comparable."""
    return Order(
        weaker="removed",
        direction=lambda move: compared(move.before is not None, move.after is not None),
    )


def chosen() -> Order:
    """Return the order of names that choose cases; without one, every case is chosen."""
    return Order(
        weaker="a name is dropped; added where there was none, so that other cases do not count",
        direction=lambda move: _of_sets(move.before, move.after),
    )


def left_out() -> Order:
    """Return the order of names that leave cases out."""
    return Order(
        weaker="a name is added",
        direction=lambda move: _of_sets(move.after or [], move.before or []),
    )


def _of_sets(before: JSON, after: JSON) -> Direction:
    """Return `weaker` if the second set is part of the first; None has every name."""
    if before is None or after is None:
        return "weaker" if before is None else "stronger"
    was, now = set(before), set(after)
    if now <= was or was <= now:
        return compared(len(was), len(now))
    return "changed"


def pass_rate() -> Order:
    """Return the order of the pass rate of all cases: without one, no case may fail."""
    return Order(
        weaker="lowered; added below 1, so that failures are tolerated",
        direction=lambda move: compared(*_numbers(move, unset=ALL_PASS)),
    )


def group_rate() -> Order:
    """Return the order of the pass rate of a group.

    Where all cases have a rate, a group's rate is a further demand; else its cases may not fail
    without it.
    """

    def direction(move: Move) -> Direction:
        whole = {move.head.gate.min_pass_rate, move.base.gate.min_pass_rate} - {None}
        return compared(*_numbers(move, unset=0.0 if whole else ALL_PASS))

    return Order(
        weaker="lowered; added below 1 or, where all cases have a rate, removed",
        direction=direction,
    )


def _numbers(move: Move, *, unset: float) -> tuple[float, float]:
    before, after = (
        float(value) if isinstance(value, int | float) else unset
        for value in (move.before, move.after)
    )
    return before, after


def connection(endpoint: Endpoint) -> Mapping[str, JSON]:
    """Return the options of a model that are the base's to set."""
    return {key: value for key, value in endpoint.options.items() if key not in FREE}


def priced(
    target: LlmTarget, known: Iterable[Endpoint], is_listed: Callable[[str], bool]
) -> LlmTarget:
    """Return a target of the head with known prices: a change could void a limit in dollars.

    Known are the base's prices for the same model, else the list's. The head's own count for a
    model that neither has.
    """
    endpoint = target.endpoint
    base = [_prices(each) for each in known if each.model == endpoint.model and _prices(each)]
    if not base and not is_listed(endpoint.model):
        return target
    others = {key: value for key, value in endpoint.options.items() if not _is_price(key)}
    options = {**others, **(base[0] if base else {})}
    return replace(target, endpoint=replace(endpoint, options=options))


def price_held(target: CliTarget, base: Config) -> CliTarget:
    """Return a program of the head with the price of a start that the base has for it, or none.

    A program is known by the target's name, an agent also by its own. The head's price counts for
    one that the base does not start.
    """
    commands = (each for each in base.targets.values() if isinstance(each, CliTarget))
    same = [each for each in commands if program(each) == program(target)]
    known = [each for each in same if each.name == target.name] or (same if target.agent else [])
    if not known:
        return target
    prices = [each.cost_per_run for each in known if each.cost_per_run is not None]
    return replace(target, cost_per_run=max(prices) if len(prices) == len(known) else None)


def program(target: CliTarget) -> str:
    """Return the name of the agent that is started; "": a command is."""
    return target.agent.name if target.agent else ""


def _prices(endpoint: Endpoint) -> Mapping[str, JSON]:
    return {key: value for key, value in endpoint.options.items() if _is_price(key)}


def _is_price(option: str) -> bool:
    return "_cost_per_" in option


def provider(endpoint: Endpoint) -> str:
    """Return the owner of a credential: `openai` for `openai/gpt-5`, `gpt` for `gpt-5`."""
    name, slash, _ = endpoint.model.partition("/")
    return name if slash else name.partition("-")[0]


def held_options(agent: AgentProgram, base: AgentProgram | None) -> tuple[str, ...]:
    """Return the options that could send the credential of an agent elsewhere, if they are new."""
    options = {"args": agent.args, "base_url": agent.base_url}
    same = base is not None and base.name == agent.name
    return tuple(
        name
        for name, value in options.items()
        if value and not (same and getattr(base, name) == value)
    )


def connected(target: LlmTarget, base: LlmTarget | None, known: Iterable[Endpoint]) -> LlmTarget:
    """Return a target of the head with the connection of the base.

    `base` is the target of the same name, `known` are all models of the base. A connection that
    the base does not have is held back: the target must not be asked.
    """
    endpoint, own = target.endpoint, connection(target.endpoint)
    if base and provider(base.endpoint) == provider(endpoint):
        free = {key: value for key, value in endpoint.options.items() if key in FREE}
        options = {**free, **connection(base.endpoint)}
        return replace(target, endpoint=replace(endpoint, options=options))
    same = (each for each in known if provider(each) == provider(endpoint))
    if not own or any(connection(each) == own for each in same):
        return target
    return replace(target, held=tuple(sorted(own)))
