"""The texts that a target is given with each case: a prompt file, an Agent Skill."""

from typing import Literal

from rubric_ci.values.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    """The messages that a model target gets before a case's messages, or instead of them."""

    path: str  # of the prompt file, relative to the repository root
    messages: tuple[tuple[Literal["system", "user", "assistant"], str], ...]  # role and template
    takes_input: bool  # `{{ input }}` stands for the messages of the case, which are not sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """An Agent Skill that a target is given: a folder with `SKILL.md`."""

    path: str  # relative to the repository root
    text: str  # of `SKILL.md`
