"""Environment variables and secrets in the configuration; `${{ NAME }}` needs a listed variable."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rubric_ci.errors import ForbiddenVariable, MissingVariable
from rubric_ci.text.command_lines_and_variables import (
    VARIABLE,
    is_of_provider,
    names,
    why_forbidden,
)
from rubric_ci.text.redact import is_secret_name
from rubric_ci.values.agent_names_and_credentials import CREDENTIALS
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass

_OF_A_WORKFLOW = re.compile(r"\$\{\{\s*((?:secrets|env|vars)\.([A-Za-z_][A-Za-z0-9_]*))\s*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """The environment, and which of its variables a configuration may use."""

    environment: Mapping[str, str]
    listed: tuple[str, ...] = ()  # `env.allow`, as globs
    place: Callable[[str], str] = lambda _: "rubric-ci.yaml"  # file and line that use a variable
    advice: Callable[[str], str] = lambda _: ""  # where a job sets a variable

    def look_up(self, name: str) -> str:
        """Return the value of a variable; raises ForbiddenVariable or MissingVariable."""
        self._check(name)
        value = self.environment.get(name, "")
        if value == "":
            raise MissingVariable(
                f"the environment variable {name} is not set",
                self.advice(name)
                or f"set it, or remove `${{{{ {name} }}}}` from the configuration",
            )
        return value

    def _check(self, name: str) -> None:
        hint = why_forbidden(name, self.listed)
        if not hint:
            return
        message = f"{self.place(name)} uses `${{{{ {name} }}}}`, which is not allowed"
        raise ForbiddenVariable(message, hint)


def substitute(value: Any, variables: Variables) -> Any:
    """Return the value with every `${{ NAME }}` replaced, also inside lists, mappings and strings.

    Raises ForbiddenVariable for a variable that is not allowed, MissingVariable for one that is
    unset or empty.
    """
    match value:
        case str():
            if foreign := _OF_A_WORKFLOW.search(value):
                message = (
                    f"`{foreign[1]}` is a name of workflows; here, `${{{{ NAME }}}}` is a variable"
                )
                raise MissingVariable(message, f"did you mean `${{{{ {foreign[2]} }}}}`?")
            return VARIABLE.sub(lambda found: variables.look_up(found[1]), value)
        case list() | tuple():
            return type(value)(substitute(item, variables) for item in value)
        case Mapping():
            return {key: substitute(item, variables) for key, item in value.items()}
        case _:
            return value


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
    judges = config.judge.endpoints if config.judge else ()
    options = [each.options for each in judges]
    commands = [each.command for each in judges if each.command]
    given = {name for each in commands for name in (*each.env, *CREDENTIALS.get(each.cli, ()))}
    secret = {name: value for name, value in environment.items() if value and is_secret_name(name)}
    chosen = secret.keys() & {*names(options), *given} or filter(is_of_provider, secret)
    return {name: secret[name] for name in sorted(chosen)}


def _sources(config: Config) -> Iterator[Any]:
    for endpoint in config.judge.endpoints if config.judge else ():
        yield endpoint.options
        if command := endpoint.command:
            yield list(command.argv)
    for target in config.targets.values():
        yield target.with_variables


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
