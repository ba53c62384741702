"""The head's configuration under the policy of the base.

Policy is what the table of effects says. Every option of a target that can name a file, a
credential, an endpoint or a header comes from the base too, as one set: from the target of the
same name, or from another model of the same provider.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from rubric_ci.gate.differences.connection import (
    FREE,
    connection,
    judge_targets,
    program,
    provider,
)
from rubric_ci.gate.differences.effects import CONFIG
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.config import CliTarget, Config, Endpoint, LlmTarget, Target
from rubric_ci.values.json_value import JSON
from rubric_ci.values.service import ServiceTarget

POLICY: Final = frozenset(row.pattern.split(".")[0] for row in CONFIG if row.effect == "policy")
"""Fields of the configuration that are the base's as a whole."""


def governed(head: Config, base: Config, *, configured: bool) -> Config:
    """Return head's configuration under the policy of the base.

    `configured` is False if the base has no configuration, which leaves the judges of its targets.
    """
    targets = {name: _judged_as(target, base) for name, target in head.targets.items()}
    if not configured:
        kept = {**head.targets, **{name: targets[name] for name in targets.keys() & base.targets}}
        return replace(head, targets=kept, judges={**head.targets, **base.targets})
    taken: dict[str, Any] = {name: getattr(base, name) for name in POLICY}
    targets = {name: _connected(target, base) for name, target in targets.items()}
    mode = base.auto_mode  # part of `judge`
    return replace(head, targets=targets, judges=base.targets, auto_mode=mode, **taken)


def with_known_prices(head: Config, base: Config, is_listed: Callable[[str], bool]) -> Config:
    """Return the configuration without prices that a change sets for models of known price."""
    known = tuple(endpoints(base))
    targets = {
        name: priced(target, known, is_listed) if isinstance(target, LlmTarget) else target
        for name, target in head.targets.items()
    }
    return replace(head, targets=targets)


def _connected(target: Target, base: Config) -> Target:
    then = base.targets.get(target.name)
    if isinstance(target, CliTarget):
        known = then.agent if isinstance(then, CliTarget) else None
        held = held_options(target.agent, known) if target.agent else ()
        return replace(price_held(target, base), held=held)
    if not isinstance(target, LlmTarget):
        return target
    return connected(target, then if isinstance(then, LlmTarget) else None, endpoints(base))


def endpoints(config: Config) -> Iterator[Endpoint]:
    """Yield the models of a configuration: the judge and the targets."""
    if config.judge:
        yield from config.judge.endpoints
    for target in config.targets.values():
        if isinstance(target, LlmTarget):
            yield target.endpoint


def _judged_as(target: Target, base: Config) -> Target:
    """Return the target with the judge that the base gives it; a new one may use a known judge."""
    if then := base.targets.get(target.name):
        return replace(target, judge_target=then.judge_target)
    known = target.judge_target in judge_targets(base)
    return target if known else replace(target, judge_target="")


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


def _prices(endpoint: Endpoint) -> Mapping[str, JSON]:
    return {key: value for key, value in endpoint.options.items() if _is_price(key)}


def _is_price(option: str) -> bool:
    return "_cost_per_" in option


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
    if isinstance(target, ServiceTarget):
        return _service(target, base if isinstance(base, ServiceTarget) else None, known)
    endpoint, own = target.endpoint, connection(target.endpoint)
    if base and provider(base.endpoint) == provider(endpoint):
        free = {key: value for key, value in endpoint.options.items() if key in FREE}
        options = {**free, **connection(base.endpoint)}
        return replace(target, endpoint=replace(endpoint, options=options))
    same = (each for each in known if provider(each) == provider(endpoint))
    if not own or any(connection(each) == own for each in same):
        return target
    return replace(target, held=tuple(sorted(own)))


def _service(
    target: ServiceTarget, base: ServiceTarget | None, known: Iterable[Endpoint]
) -> ServiceTarget:
    """Return a service of the head with the hosts, the headers and the variables of the base.

    One that the head starts is asked at an address of this machine, which is no host of the
    change. A deployed server of the base is not asked in its place, and its headers are not sent.
    """
    now, then = target.program, base.program if base else None
    own = connection(target.endpoint)
    if now is None and base and then is None:
        return _at(target, connection(base.endpoint))
    if now is None:
        is_known = any(each.http and connection(each) == own for each in known)
        return replace(target, held=() if is_known else tuple(sorted(own)))
    address = {"api_base": own["api_base"]}
    if base and then:
        headers = {k: v for k, v in connection(base.endpoint).items() if k != "api_base"}
        return replace(_at(target, {**address, **headers}), program=replace(now, env=then.env))
    held = (*sorted(own.keys() - address.keys()), *(["env"] if now.env else []))
    return replace(_at(target, own), held=held)


def _at(target: ServiceTarget, where: Mapping[str, JSON]) -> ServiceTarget:
    """Return a service that is asked elsewhere."""
    free = {key: value for key, value in target.endpoint.options.items() if key in FREE}
    return replace(target, endpoint=replace(target.endpoint, options={**free, **where}))
