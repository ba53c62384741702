"""Environment variables in the configuration: `${{ NAME }}`, for listed variables only."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from rubric_ci.errors import ForbiddenVariable, MissingVariable

PROVIDER_VARIABLES: Final = (
    *("ANTHROPIC_*", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION*"),
    *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_AI_*", "AZURE_API_*"),
    *("AZURE_DEPLOYMENT_NAME", "AZURE_OPENAI_*", "CEREBRAS_*", "COHERE_*", "DEEPSEEK_*"),
    *("FIREWORKS_*", "GEMINI_*", "GOOGLE_API_KEY", "GROQ_*", "HF_TOKEN", "HUGGINGFACE_*"),
    *("LITELLM_*", "MISTRAL_*", "NVIDIA_NIM_*", "OLLAMA_*", "OPENAI_*", "OPENROUTER_*"),
    *("PERPLEXITY*_API_KEY", "TOGETHER*_API_KEY", "VERTEX*", "XAI_*"),
)
"""Variables of model providers: allowed without being listed."""

RUNNER_VARIABLES: Final = ("ACTIONS_*", "GITHUB_*", "RUNNER_*")
"""Variables of the runner, with its tokens: never allowed, even if they are listed."""

_VARIABLE = re.compile(r"\$\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """The environment, and which of its variables a configuration may use."""

    environment: Mapping[str, str]
    listed: tuple[str, ...] = ()  # `env.allow`, as globs
    place: Callable[[str], str] = lambda _: "rubric-ci.yaml"  # file and line that use a variable

    def look_up(self, name: str) -> str:
        """Return the value of a variable; raises ForbiddenVariable or MissingVariable."""
        self._check(name)
        value = self.environment.get(name, "")
        if value == "":
            raise MissingVariable(
                f"the environment variable {name} is not set",
                f"set it, or remove `${{{{ {name} }}}}` from the configuration",
            )
        return value

    def _check(self, name: str) -> None:
        message = f"{self.place(name)} uses `${{{{ {name} }}}}`, which is not allowed"
        if _matches(name.upper(), RUNNER_VARIABLES):
            raise ForbiddenVariable(
                message, "pass the value in a variable that does not belong to the runner"
            )
        if not _matches(name, (*PROVIDER_VARIABLES, *self.listed)):
            raise ForbiddenVariable(
                message,
                f"add {name} to `env.allow` in rubric-ci.yaml; on a pull request, the list of the "
                "base commit holds",
            )


def substitute(value: Any, variables: Variables) -> Any:
    """Return the value with every `${{ NAME }}` replaced, also inside lists, mappings and strings.

    Raises ForbiddenVariable for a variable that is not allowed, MissingVariable for one that is
    unset or empty.
    """
    match value:
        case str():
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


@lru_cache(maxsize=256)
def _matches(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
