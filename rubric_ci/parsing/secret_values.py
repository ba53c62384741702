"""The secret values of a configuration: key options, and the values of `${{ NAME }}`."""

from collections.abc import Iterator, Mapping
from typing import Any

from rubric_ci.model.config import CliTarget, Config, LlmTarget
from rubric_ci.model.judge_cli import CREDENTIALS
from rubric_ci.parsing.env_vars import is_of_provider, names
from rubric_ci.text.redact import is_secret_name

_PUBLIC = frozenset({"CI", "HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "TMPDIR", "USER"})
_OF_THE_RUNNER = ("GITHUB_", "RUNNER_")


def written(config: Config) -> Iterator[str]:
    """Yield the values of key options and of header fields that authenticate."""
    for value in _sources(config):
        yield from _keys(value)


def substituted(config: Config, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of `${{ NAME }}`; facts of the runner, such as its folders, are public."""
    for value in _sources(config):
        yield from (environment.get(name, "") for name in names(value) if not _is_public(name))


def credential(config: Config, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables that hold the judge's credential; {} if there is none.

    They are the variables that its options name, else the variables of model providers.
    """
    options = config.judge.endpoint.options if config.judge else {}
    command = config.judge.endpoint.command if config.judge else None
    given = {*command.env, *CREDENTIALS.get(command.cli, ())} if command else set()
    secret = {name: value for name, value in environment.items() if value and is_secret_name(name)}
    chosen = secret.keys() & {*names(options), *given} or filter(is_of_provider, secret)
    return {name: secret[name] for name in sorted(chosen)}


def _sources(config: Config) -> Iterator[Any]:
    """Yield everything in which variables are substituted."""
    if config.judge:
        yield config.judge.endpoint.options
        if command := config.judge.endpoint.command:
            yield list(command.argv)
    for target in config.targets.values():
        if isinstance(target, LlmTarget):
            yield target.endpoint.options
        elif isinstance(target, CliTarget):
            yield (target.command_template, target.cwd, target.healthcheck)


def _keys(value: Any) -> Iterator[str]:
    match value:
        case Mapping():
            for name, item in value.items():
                if isinstance(item, str) and is_secret_name(str(name)) and not any(names(item)):
                    yield from (item, item.rpartition(" ")[2])  # "Bearer KEY"
                yield from _keys(item)
        case list() | tuple():
            for item in value:
                yield from _keys(item)


def _is_public(name: str) -> bool:
    known = name in _PUBLIC or name.startswith(_OF_THE_RUNNER)
    return known and not is_secret_name(name)
