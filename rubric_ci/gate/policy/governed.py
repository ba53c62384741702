"""The head's configuration under the policy of the base.

Policy is what the table of effects says. Every option of a target that can name a file, a
credential, an endpoint or a header comes from the base too, as one set: from the target of the
same name, or from another model of the same provider.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from rubric_ci.gate.differences.config_changes import FREE, connection, judge_targets
from rubric_ci.gate.differences.effect_of_each_key import CONFIG
from rubric_ci.values.agent_program import AgentProgram
from rubric_ci.values.config import Config
from rubric_ci.values.json_value import JSON
from rubric_ci.values.targets import Endpoint, Target

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
    return replace(head, targets=targets, judges=base.targets, **taken)


def with_known_prices(head: Config, base: Config, is_listed: Callable[[str], bool]) -> Config:
    """Return the configuration without prices that a change sets for models of known price."""
    known = tuple(endpoints(base))
    targets = {
        name: target.having(endpoint=priced(own, known, is_listed))
        if (own := target.endpoint)
        else target
        for name, target in head.targets.items()
    }
    return replace(head, targets=targets)


def _connected(target: Target, base: Config) -> Target:
    then = base.targets.get(target.name)
    if target.starts_program:
        held = held_options(target.agent, then.agent if then else None) if target.agent else ()
        return price_held(target, base).having(held=held)
    if target.endpoint is None:
        return target
    connect = _service if target.endpoint.http else _model
    return connect(target, target.endpoint, then, endpoints(base))


def endpoints(config: Config) -> Iterator[Endpoint]:
    if config.judge:
        yield from config.judge.endpoints
    for target in config.targets.values():
        if target.endpoint:
            yield target.endpoint


def _judged_as(target: Target, base: Config) -> Target:
    """Return the target with the judge that the base gives it; a new one may use a known judge."""
    if then := base.targets.get(target.name):
        return replace(target, judge_target=then.judge_target)
    known = target.judge_target in judge_targets(base)
    return target if known else replace(target, judge_target="")


def priced(
    endpoint: Endpoint, known: Iterable[Endpoint], is_listed: Callable[[str], bool]
) -> Endpoint:
    """Return a model of the head with known prices: a change could void a limit in dollars.

    Known are the base's prices for the same model, else the list's. The head's own count for a
    model that neither has.
    """
    base = [_prices(each) for each in known if each.model == endpoint.model and _prices(each)]
    if not base and not is_listed(endpoint.model):
        return endpoint
    own = _prices(endpoint)
    others = {key: value for key, value in endpoint.options.items() if key not in own}
    options = {**others, **(base[0] if base else {})}
    return replace(endpoint, options=options)


def price_held(target: Target, base: Config) -> Target:
    """Return a program of the head with the price of a start that the base has for it, or none.

    A program is known by the target's name, an agent also by its own. The head's price counts for
    one that the base does not start.
    """
    same = [each for each in base.targets.values() if each.credential_of == target.credential_of]
    known = [each for each in same if each.name == target.name] or (same if target.agent else [])
    if not known:
        return target
    prices = [each.cost_per_run for each in known if each.cost_per_run is not None]
    return target.having(cost_per_run=max(prices) if len(prices) == len(known) else None)


def _prices(endpoint: Endpoint) -> Mapping[str, JSON]:
    return {key: value for key, value in endpoint.options.items() if "_cost_per_" in key}


def held_options(agent: AgentProgram, base: AgentProgram | None) -> tuple[str, ...]:
    """Return the options that could send the credential of an agent elsewhere, if they are new."""
    options = {"args": agent.args, "base_url": agent.base_url}
    same = base is not None and base.name == agent.name
    return tuple(
        name
        for name, value in options.items()
        if value and not (same and getattr(base, name) == value)
    )


def _model(
    target: Target, endpoint: Endpoint, base: Target | None, known: Iterable[Endpoint]
) -> Target:
    """Return a model of the head with the connection of the base.

    `base` is the target of the same name, `known` are all models of the base. A connection that
    the base does not have is held back: the target must not be asked.
    """
    own = connection(endpoint)
    if base and base.endpoint and base.endpoint.provider == endpoint.provider:
        return _at(target, endpoint, connection(base.endpoint))
    same = (each for each in known if each.provider == endpoint.provider)
    if not own or any(connection(each) == own for each in same):
        return target
    return target.having(held=tuple(sorted(own)))


def _service(
    target: Target, endpoint: Endpoint, base: Target | None, known: Iterable[Endpoint]
) -> Target:
    """Return a service of the head with the hosts, the headers and the variables of the base.

    One that the head starts is asked at an address of this machine, which is no host of the
    change. A deployed server of the base is not asked in its place, and its headers are not sent.
    """
    was = base.endpoint if base and base.endpoint and base.endpoint.http else None
    now, then = target.program, base.program if base else None
    own = connection(endpoint)
    if now is None and was and then is None:
        return _at(target, endpoint, connection(was))
    if now is None:
        is_known = any(each.http and connection(each) == own for each in known)
        return target.having(held=() if is_known else tuple(sorted(own)))
    address = {"api_base": own["api_base"]}
    if was and then:
        headers = {k: v for k, v in connection(was).items() if k != "api_base"}
        asked = _at(target, endpoint, {**address, **headers})
        return asked.having(program=replace(now, env=then.env))
    held = (*sorted(own.keys() - address.keys()), *(["env"] if now.env else []))
    return _at(target, endpoint, own).having(held=held)


def _at(target: Target, endpoint: Endpoint, where: Mapping[str, JSON]) -> Target:
    free = {key: value for key, value in endpoint.options.items() if key in FREE}
    return target.having(endpoint=replace(endpoint, options={**free, **where}))
