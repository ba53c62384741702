"""All types of evaluators; schemas/eval.schema.json has their settings.

NOTE: `validate` needs this table, and none of the specs: what reads and measures is imported late.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from rubric_ci.evaluators import code_judge, composite, field_rules, llm_judge
from rubric_ci.evaluators.kind import Evaluator, Kind, Written

if TYPE_CHECKING:
    from rubric_ci.model.evals import EvaluatorSpec


def _late(name: str) -> Callable[..., Any]:
    """Return `module.function` of this package, which is imported when it is called."""

    def call(*given: Any) -> Any:
        module, _, function = name.partition(".")
        return getattr(import_module(f"{__package__}.{module}"), function)(*given)

    return call


KINDS: Final[Mapping[str, Kind]] = {
    "rubric": Kind(_late("rubric.read"), criteria=True, means=True),
    "llm_judge": Kind(
        llm_judge.read,
        criteria=True,
        means=True,
        prompts=llm_judge.prompts,
        scripts=llm_judge.scripts,
    ),
    "code_judge": Kind(code_judge.read, problems=code_judge.problems, scripts=code_judge.scripts),
    "composite": Kind(
        composite.read,
        members=True,
        problems=composite.problems,
        prompts=composite.prompts,
        scripts=composite.scripts,
    ),
    "field_accuracy": Kind(
        _late("field_accuracy.read"),
        _late("field_accuracy.field_accuracy"),
        means=True,
        problems=field_rules.problems,
        problems_of_file=field_rules.problems_of_file,
    ),
    "tool_trajectory": Kind(
        _late("tool_trajectory.read"), _late("tool_trajectory.tool_trajectory"), whole=("minimums",)
    ),
    "latency": Kind(_late("usage_limits.read_latency"), _late("usage_limits.latency")),
    "cost": Kind(_late("usage_limits.read_cost"), _late("usage_limits.cost")),
    "token_usage": Kind(_late("usage_limits.read_token_usage"), _late("usage_limits.token_usage")),
}


_NONE: Final = Kind(_late(""))


def kind_of(evaluator: Evaluator) -> Kind:
    """Return the row of an evaluator of any data; a type that is unknown has no rules."""
    written = evaluator.get("type")
    return KINDS.get(written, _NONE) if isinstance(written, str) else _NONE


def read(written: Written) -> "EvaluatorSpec":
    """Return the spec of an evaluator that `validate` accepts."""
    kind = KINDS[written.data["type"]]
    if kind.members:
        numbers = range(len(written.data["evaluators"]))
        members = tuple(read(written.inside("evaluators", number)) for number in numbers)
        written = written._replace(members=members)
    return kind.read(written)
