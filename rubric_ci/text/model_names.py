"""The provider in the name of a model: which one is missing or misspelt, and which is meant."""

from collections.abc import Collection
from typing import Final, NamedTuple

from rubric_ci.text.suggestions import did_you_mean, nearest

_LIKELY: Final = {
    **dict.fromkeys(("gpt-", "chatgpt-", "o1", "o3", "o4-"), "openai"),
    "claude-": "anthropic",
    "gemini-": "gemini",
    **dict.fromkeys(("mistral-", "codestral-"), "mistral"),
    "deepseek-": "deepseek",
    "command-r": "cohere",
    "grok-": "xai",
}
"""The provider of model names that start so."""
COMMON: Final = (
    *("openai", "anthropic", "azure", "azure_ai", "bedrock", "bedrock_converse", "vertex_ai"),
    *("gemini", "mistral", "codestral", "deepseek", "cohere", "cohere_chat", "groq", "ollama"),
    *("ollama_chat", "openrouter", "together_ai", "fireworks_ai", "hosted_vllm", "huggingface"),
    *("litellm_proxy", "perplexity", "xai", "zai", "sagemaker", "sagemaker_chat", "watsonx"),
)
"""Providers that a misspelt one may mean."""
ALIASES: Final = {"azure-openai": "azure", "google": "gemini", "google-gemini": "gemini"}
"""Names of providers in other tools' files, and their names here."""


class Misnamed(NamedTuple):
    """The mistake in the name of a model, and the name that is meant ("": it is not known)."""

    message: str
    meant: str
    hint: str


def misnamed(model: str, providers: Collection[str], *, served: bool = False) -> Misnamed | None:
    """Return the fault of a model's provider; None: it is one of `providers`.

    `served` is True for a model with its own host, which has OpenAI's format then.
    """
    provider, slash, rest = model.partition("/")
    if not slash:
        begun = (_LIKELY[start] for start in _LIKELY if model.startswith(start))
        likely = "openai" if served else next(begun, "")
        meant = f"{likely}/{model}" if likely else ""
        message = f"the model `{model}` has no provider"
    elif provider in COMMON or provider in providers:
        return None
    else:
        close = nearest(provider, COMMON)
        meant = f"{close}/{rest}" if close else ""
        message = f"`{provider}` is not a known provider"
    example = f"write `provider/model`, such as `openai/{rest or model}`"
    return Misnamed(message, meant, did_you_mean(meant) or example)
