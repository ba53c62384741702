"""Providers and kinds of target that `rubric-ci init` offers."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from rubric_ci.model import defaults

TargetKind: TypeAlias = Literal["model", "command", "recorded"]
TARGET_KINDS: Final[tuple[TargetKind, ...]] = ("model", "command", "recorded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider of models, with a model to start with and the variable of its key."""

    model: str
    key: str = ""  # empty: the server needs none
    priced: bool = True  # False: no known price, so a maximum cost cannot be enforced


PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "openai": Provider(model=defaults.MODEL_JUDGE, key="OPENAI_API_KEY"),
        "anthropic": Provider(model=defaults.MODEL_SMALL_CLAUDE, key="ANTHROPIC_API_KEY"),
        "gemini": Provider(model=defaults.MODEL_GEMINI, key="GEMINI_API_KEY"),
        "ollama": Provider(model="ollama_chat/llama3.1", priced=False),
    }
)
