"""Environment variables and secrets in the configuration; `${{ NAME }}` needs a listed variable."""

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from rubric_ci.errors import ForbiddenVariable, MissingVariable
from rubric_ci.text.redact import is_secret_name
from rubric_ci.values.config import CliTarget, Config, LlmTarget, RunnerTarget
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.model_facts import CREDENTIALS

PROVIDER_VARIABLES: Final = (
    *("ANTHROPIC_*", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION*"),
    *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_AD_TOKEN"),
    *("AZURE_AI_*", "AZURE_API_*"),
    *("AZURE_DEPLOYMENT_NAME", "AZURE_OPENAI_*", "CEREBRAS_*", "COHERE_*", "DEEPSEEK_*"),
    *("FIREWORKS_*", "GEMINI_*", "GOOGLE_API_KEY", "GROQ_*", "HF_TOKEN", "HUGGINGFACE_*"),
    *("LITELLM_*", "MISTRAL_*", "NVIDIA_NIM_*", "OLLAMA_*", "OPENAI_*", "OPENROUTER_*"),
    *("PERPLEXITY*_API_KEY", "TOGETHER*_API_KEY", "VERTEX*", "XAI_*"),
)
"""Variables of model providers: allowed without being listed."""

RUNNER_VARIABLES: Final = ("ACTIONS_*", "GITHUB_*", "RUNNER_*")
"""Variables of the runner, with its tokens: never allowed, even if they are listed."""

_VARIABLE = re.compile(r"\$\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
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
        if is_of_runner(name):
            hint = "pass the value in a variable that does not belong to the runner"
        elif not _matches(name, (*PROVIDER_VARIABLES, *self.listed)):
            hint = (
                f"add {name} to `env.allow` in rubric-ci.yaml; on a pull request, the list of the "
                "base commit holds"
            )
        else:
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
            return _VARIABLE.sub(lambda found: variables.look_up(found[1]), value)
        case list() | tuple():
            return type(value)(substitute(item, variables) for item in value)
        case Mapping():
            return {key: substitute(item, variables) for key, item in value.items()}
        case _:
            return value


def names(value: Any) -> Iterator[str]:
    """Yield the variables that a value refers to."""
    match value:
        case str():
            yield from _VARIABLE.findall(value)
        case list() | tuple():
            for item in value:
                yield from names(item)
        case Mapping():
            for item in value.values():
                yield from names(item)


def is_of_provider(name: str) -> bool:
    """Return True for a variable of a model provider."""
    return _matches(name, PROVIDER_VARIABLES)


def is_of_runner(name: str) -> bool:
    """Return True for a variable of the runner."""
    return _matches(name.upper(), RUNNER_VARIABLES)


@lru_cache(maxsize=256)
def _matches(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


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
    """Yield everything in which variables are substituted."""
    for endpoint in config.judge.endpoints if config.judge else ():
        yield endpoint.options
        if command := endpoint.command:
            yield list(command.argv)
    for target in config.targets.values():
        if isinstance(target, LlmTarget):
            yield target.endpoint.options
        elif isinstance(target, CliTarget):
            yield (target.command_template, target.cwd, target.healthcheck)
        elif isinstance(target, RunnerTarget):
            yield (target.command_template, target.only, target.cwd)


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
