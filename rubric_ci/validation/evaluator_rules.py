"""Rules of evaluators that a schema cannot express, for data of any shape."""

from collections.abc import Iterator
from typing import Any, Final

from rubric_ci.model.rules import Rule, with_evaluator
from rubric_ci.validation.rubric_rules import criteria_problems
from rubric_ci.yaml_text.problems import WEIGHT_TOTAL, WRONG_TYPE, Path, Problem

EVALUATOR_NAME_DUPLICATE: Final = Rule(
    id="evaluator-name-duplicate",
    meaning=(
        "Reports identify evaluators by name, so names are unique in a list. Inline rubrics have "
        "the name `rubric`."
    ),
    hint="give every evaluator of a list its own name",
    bad=with_evaluator(
        "- {name: check, type: latency, threshold: 9}\n- {name: check, type: cost, budget: 1}"
    ),
    good=with_evaluator(
        "- {name: fast, type: latency, threshold: 9}\n- {name: cheap, type: cost, budget: 1}"
    ),
)


def evaluators_problems(evaluators: Any, path: Path, *, inline: bool) -> Iterator[Problem]:
    """Yield the problems of a list of evaluators; `inline`: rubrics are graded with them."""
    if not isinstance(evaluators, list):
        return
    yield from _same_names(evaluators, path, {"rubric"} if inline else set())
    yield from _no_weight(evaluators, path, inline=inline)
    for index, evaluator in enumerate(evaluators):
        if isinstance(evaluator, dict):
            yield from _evaluator(evaluator, (*path, index))


def _same_names(evaluators: list[Any], path: Path, inline: set[str]) -> Iterator[Problem]:
    taken: dict[str, Path] = dict.fromkeys(inline, ())
    for index, evaluator in enumerate(evaluators):
        name = evaluator.get("name") if isinstance(evaluator, dict) else None
        if not isinstance(name, str):
            continue
        where: Path = (*path, index, "name")
        first = taken.setdefault(name, where)
        if first is not where:
            owner = "an earlier evaluator" if first else "the inline rubrics"
            message = f"the name `{name}` is taken by {owner}"
            yield Problem(EVALUATOR_NAME_DUPLICATE, where, message, first=first)


def _no_weight(evaluators: list[Any], path: Path, *, inline: bool) -> Iterator[Problem]:
    weights = [e.get("weight", 1.0) if isinstance(e, dict) else 1.0 for e in evaluators]
    if weights and not inline and all(weight == 0 for weight in weights):
        yield Problem(WEIGHT_TOTAL, path, "every evaluator has weight 0, so nothing is graded")


def _evaluator(evaluator: dict[str, Any], path: Path) -> Iterator[Problem]:
    from rubric_ci.kinds.table import kind_of  # files without evaluators do not need it

    kind = kind_of(evaluator)
    if kind.criteria:
        yield from criteria_problems(evaluator.get("rubrics"), (*path, "rubrics"))
    if kind.members:
        members = evaluator.get("evaluators")
        yield from evaluators_problems(members, (*path, "evaluators"), inline=False)
    yield from kind.problems(evaluator, path)
    for key in kind.whole:
        yield from _whole(evaluator.get(key), (*path, key))


def _whole(values: Any, path: Path) -> Iterator[Problem]:
    if isinstance(values, dict):
        for name, count in values.items():
            if isinstance(count, float) and count.is_integer():  # others fail the schema
                message = f"`{name}` must be an integer, not {count}"
                yield Problem(WRONG_TYPE, (*path, name), message)
