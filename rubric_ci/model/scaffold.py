"""Providers and kinds of target that `rubric-ci init` offers."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

TargetKind: TypeAlias = Literal["model", "command", "recorded"]
TARGET_KINDS: Final[tuple[TargetKind, ...]] = ("model", "command", "recorded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider of models, with a model to start with and the variable of its key."""

    model: str
    key: str = ""  # empty: the server needs none


PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "openai": Provider(model="openai/gpt-4.1-mini", key="OPENAI_API_KEY"),
        "anthropic": Provider(model="anthropic/claude-haiku-4-5", key="ANTHROPIC_API_KEY"),
        "gemini": Provider(model="gemini/gemini-2.5-flash", key="GEMINI_API_KEY"),
        "ollama": Provider(model="ollama_chat/llama3.1"),
    }
)
