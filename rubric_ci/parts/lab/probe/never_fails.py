"""The criteria of a draft that pass every variant of the reference answer."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.parts.lab.probe.all_variants import Marks, Subject, key, mutations, plan
from rubric_ci.parts.lab.probe.figures import Mutation, figures
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.results import Answer, Assessed
from rubric_ci.values.usage import NOTHING_USED, Usage


async def find(
    case: EvalCase, spec: RubricSpec, reference: Assessed, most: int, context: RunContext
) -> tuple[Mapping[str, str], Usage]:
    """Return these criteria, each with the first variant that it passes, and what was used.

    `reference` are the marks of the reference answer, of which `most` variants must be noticed.
    """
    answer = Answer(text=case.reference_answer)
    subject = Subject(case=case, spec=spec, given=answer, criteria=spec.rubric.judged)
    marks = _marks(reference)
    planned = plan([(subject, marks)], most)
    planned = replace(planned, trials=tuple(each for each in planned.trials if each.notice))
    results = await asyncio.gather(
        *(evaluate(case, Answer(text=each.variant.text), spec, context) for each in planned.trials)
    )
    judged = {n: _marks(each) for n, each in enumerate(results) if isinstance(each, Assessed)}
    found: dict[str, list[Mutation]] = {}
    for _, criterion, mutation in mutations(planned, judged, {key(subject): marks}):
        found.setdefault(criterion.id, []).append(mutation)
    blind = {name: own[0].change for name, own in found.items() if figures(own)[2] == "never-fails"}
    return blind, sum((each.usage for each in results), NOTHING_USED)


def _marks(result: Assessed) -> Marks:
    return {each.id: each for each in result.criteria}
