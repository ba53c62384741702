"""What the labour of grading may use of the world, handed in by the command."""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.llm_calls import Ask
from rubric_ci.model.scoring import DEFAULT_THRESHOLDS, Thresholds

if TYPE_CHECKING:
    from asyncio import Lock


class JudgementCache(Protocol):
    """Valid replies of judges, kept from run to run."""

    def get(self, key: str) -> str | None:
        """Return the reply that was kept under a key."""

    def put(self, key: str, text: str) -> None:
        """Keep a reply that was usable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """One value for every target and evaluator of a run."""

    call_model: Ask  # to a model: live, recorded or replayed, within the budget
    root: Path  # of the repository
    environment: Mapping[str, str]
    judge: JudgeConfig | None = None
    cache: JudgementCache | None = None  # None: every judgement is asked for afresh
    thresholds: Thresholds = DEFAULT_THRESHOLDS
    in_flight: "MutableMapping[str, Lock]" = field(default_factory=dict)  # by the memory's key
