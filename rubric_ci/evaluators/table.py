"""All types of evaluators; schemas/eval.schema.json has their settings.

NOTE: `validate` needs this table, and nothing of a run: a type's file is imported when it is used.
"""

from collections import ChainMap
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from rubric_ci.evaluators.kind import Evaluator, Kind, Written
from rubric_ci.values.parts import Offers
from rubric_ci.values.written_keys import read_keys

if TYPE_CHECKING:
    from rubric_ci.values.evals import EvaluatorSpec, RubricSpec


@cache
def _imported(package: str, name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(import_module(f"{package}.{module}"), function)


def late(package: str, name: str) -> Callable[..., Any]:
    """Return `module.function` of a package, which is imported when it is called."""

    def call(*given: Any) -> Any:
        return _imported(package, name)(*given)

    return call


def spec_reader(package: str, name: str) -> "Callable[[Written], EvaluatorSpec]":
    """Return a reader of `module.Spec`, which has its written keys and no further fields."""
    return lambda written: read_keys(
        _imported(package, name), written.data, span=written.span("name")
    )


_late: Final = partial(late, __package__)

_CORE: Final[Mapping[str, Kind]] = {
    "rubric": Kind(
        _late("written_criteria.read_rubric"),
        assess=_late("rubric.rubric"),
        expected=_late("rubric.expected"),
        criteria=True,
        means=True,
    ),
    "llm_judge": Kind(
        _late("llm_judge.read_llm_judge"),
        assess=_late("llm_judge.assess"),
        expected=_late("llm_judge.expected"),
        criteria=True,
        means=True,
    ),
    "code_judge": Kind(_late("code_judge.read_code_judge"), assess=_late("code_judge.code_judge")),
}
KINDS: Final[Mapping[str, Kind]] = ChainMap(cast("Any", _CORE), cast("Any", Offers("evaluators")))


_NONE: Final = Kind(_late(""))
_INLINE: Final = _late("written_criteria.inline")


def kind_of(evaluator: Evaluator) -> Kind:
    """Return the row of an evaluator of any data; a type that is unknown has no rules."""
    written = evaluator.get("type")
    return KINDS.get(written, _NONE) if isinstance(written, str) else _NONE


def read_evaluator(written: Written) -> "EvaluatorSpec":
    kind = KINDS[written.data["type"]]
    if kind.members:
        numbers = range(len(written.data["evaluators"]))
        members = tuple(read_evaluator(written.inside("evaluators", number)) for number in numbers)
        written = written._replace(members=members)
    return kind.read(written)


def inline(name: str, written: Written, turn: int = 0) -> "RubricSpec":
    """Return the spec of `rubrics` of a case or, with a number, of a turn."""
    spec: RubricSpec = _INLINE(name, written, turn)
    return spec
