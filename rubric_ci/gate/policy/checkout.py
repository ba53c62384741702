"""Whose policy a command follows: the base's on a pull request in CI, else the checkout's own."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

import click

from rubric_ci.errors import CannotConfigure, CannotReadPolicy
from rubric_ci.files.parsing.env_vars import Variables, substitute
from rubric_ci.files.project.change import NO_OPTIONS, BaseOptions, Change
from rubric_ci.files.project.loaded_project import LoadedProject, open_project
from rubric_ci.files.project.project import Project
from rubric_ci.files.validation.problem_formats import headline
from rubric_ci.gate.differences.config_changes import ConfigChange, change_notes, policy_changes
from rubric_ci.gate.policy.governed import endpoints
from rubric_ci.gate.policy.policy_source import find_policy, under
from rubric_ci.models.llm.allowed_hosts import exchange_hosts, hosts_of
from rubric_ci.text.escape import log_line
from rubric_ci.values.config import Config
from rubric_ci.values.formats_and_defaults import CALIBRATION
from rubric_ci.values.hosts import AllowedHosts, host_of


def open_under_policy(
    config: Path | None, options: BaseOptions = NO_OPTIONS
) -> tuple[Project, Change]:
    """Open the project under its policy, and what it is compared with.

    Raises CannotReadPolicy as `under_policy` does.
    """
    project = open_project(config)
    change = Change(project.root, options)
    return under_policy(project, change), change


def under_policy(project: Project, change: Change) -> Project:
    """Return the project under its policy.

    Raises CannotReadPolicy if the policy cannot be read or has errors.
    """
    policy = find_policy(project, change)
    if policy is None:
        return project
    loaded = policy.own_config
    if loaded.config is None:
        raise CannotReadPolicy(
            f"the configuration of {policy.origin} has problems: {headline(loaded.diagnostics[0])}",
            "merge a repair of that file first, without this check",
        )
    return under(project, policy)


def policy_notes(loaded: LoadedProject) -> tuple[str, ...]:
    """Return the policy as a report shows it: its origin, and the settings of the change."""
    if loaded.project.policy is None:
        return ()
    policy = loaded.project.policy.project
    if not policy.config_name:
        return (f"{policy.origin} has no configuration: this change sets judge, gate and rules",)
    title = f"Policy (judge, gate, rules, calibration) is taken from {policy.origin}"
    by_key: dict[str, ConfigChange] = {}
    for pair in config_pairs(loaded, policy):
        for change in policy_changes(*pair):
            by_key.setdefault(change.key, change)
    changes = [*by_key.values()]
    then, now = policy.files.read(CALIBRATION), loaded.project.files.read(CALIBRATION)
    if then != now:
        before = "" if then is None else "as in the base"
        after = "" if now is None else "as in this change"
        changes.append(ConfigChange(key=CALIBRATION, before=before, after=after))
    return change_notes(title, changes)


def show_policy(loaded: LoadedProject) -> None:
    for note in policy_notes(loaded):
        click.echo(log_line(note), err=True)


def allowed_hosts(
    loaded: LoadedProject, given: Sequence[str], environment: Mapping[str, str]
) -> AllowedHosts | None:
    """Return the hosts that are given, else the base's; None: every host.

    The base's are the hosts of its models and of the health checks of its targets.
    """
    policy = loaded.project.policy.project if loaded.project.policy else None
    if given:
        return AllowedHosts(hosts=frozenset(given), providers=False)
    if policy is None or not policy.config_name:
        return None
    configs = (then for _, then in config_pairs(loaded, policy))
    hosts = frozenset(chain.from_iterable(_hosts(each, environment) for each in configs)) - {""}
    return AllowedHosts(hosts=hosts, providers=True, checkout=str(loaded.project.root))


def _hosts(config: Config, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the hosts of models and health checks; none where a variable is not set."""
    variables = Variables(environment=environment, listed=config.env_allow)
    for endpoint in endpoints(config):
        with suppress(CannotConfigure):
            options = substitute(endpoint.options, variables)
            yield from hosts_of(replace(endpoint, options=options)) | exchange_hosts(endpoint)
    for target in config.targets.values():
        if check := target.healthcheck:
            with suppress(CannotConfigure):
                yield host_of(substitute(check.url, variables))


def config_pairs(loaded: LoadedProject, base: Project) -> list[tuple[Config, Config]]:
    """Return the configurations that serve the root or an eval file, here and at a base."""
    own = loaded.project.own
    names = ("any", *(file.path for file in loaded.files))
    served = [(own.policy_for(name), base.policy_for(name)) for name in names]
    return [*{(id(now), id(then)): (now, then) for now, then in served}.values()]
