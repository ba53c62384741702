"""`${{ NAME }}`: the environment variables that a text names, and which a configuration may use."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

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

VARIABLE: Final = re.compile(r"\$\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


def names(value: Any) -> Iterator[str]:
    """Yield the variables that a value refers to."""
    match value:
        case str():
            yield from VARIABLE.findall(value)
        case list() | tuple():
            for item in value:
                yield from names(item)
        case Mapping():
            for item in value.values():
                yield from names(item)


def is_of_provider(name: str) -> bool:
    return _matches(name, PROVIDER_VARIABLES)


def is_of_runner(name: str) -> bool:
    return _matches(name.upper(), RUNNER_VARIABLES)


@lru_cache(maxsize=256)
def _matches(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def why_forbidden(name: str, listed: tuple[str, ...]) -> str:
    """Return the advice for a variable that a configuration may not use; "": it may."""
    if is_of_runner(name):
        return "pass the value in a variable that does not belong to the runner"
    if _matches(name, (*PROVIDER_VARIABLES, *listed)):
        return ""
    return (
        f"add {name} to `env.allow` in rubric-ci.yaml; on a pull request, the list of the "
        "base commit holds"
    )
