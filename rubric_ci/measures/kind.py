"""What an evaluator without a judge is: how its settings are read, and how it measures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from rubric_ci.model.diagnostics import Span
from rubric_ci.model.evals import EvalCase, MeasuringSpec
from rubric_ci.model.references import Lookup
from rubric_ci.model.results import Answer, Assessment
from rubric_ci.text.redact import Redactor
from rubric_ci.yaml_text.problems import Path
from rubric_ci.yaml_text.source import Placed


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An evaluator as an eval file that `validate` accepts has it."""

    source: Placed
    path: Path
    data: dict[str, Any]
    lookup: Lookup

    def span(self, *keys: str | int) -> Span:
        """Return the place of a setting."""
        return Span(*self.source.locate((*self.path, *keys)))


class Common(TypedDict):
    """The settings that every evaluator has."""

    name: str
    weight: float
    span: Span


def common(written: Written) -> Common:
    """Return the settings that every evaluator has."""
    name, weight = written.data["name"], float(written.data.get("weight", 1.0))
    return Common(name=name, weight=weight, span=written.span("name"))


@dataclass(frozen=True, slots=True)
class Kind:
    """One type of evaluator."""

    read: Callable[[Written], MeasuringSpec]
    measure: Callable[[EvalCase, Answer, Any, Redactor], Assessment]
