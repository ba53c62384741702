"""Judge variants of answers: the figures of each criterion, and the criteria that never fail."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

import click

from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.parts.lab.calibration.rejudge import (
    AnswerToJudge,
    Judging,
    NotJudged,
    rejudge,
    show_not_judged,
)
from rubric_ci.parts.lab.probe.all_variants import Marks, Plan, Subject, key, mutations, plan
from rubric_ci.parts.lab.probe.figures import CriterionFigures, Measured, Mutation, figures
from rubric_ci.text import numbers
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.results import Answer, Assessed
from rubric_ci.values.rubric import Check, Chosen, Judged, Levelled, Scored
from rubric_ci.values.usage import NOTHING_USED, Usage


def measure(subjects: Sequence[Subject], judging: Judging, most: int) -> Measured:
    """Judge the answers of the subjects, which is free where the cache has it, then variants.

    At most `most` variants must be noticed by one criterion of an answer.
    """
    click.echo(f"judging {numbers.plural(len(subjects), 'answer')} as they are", err=True)
    controls, lost = _judged([_answer(each, each.given, judging) for each in subjects], judging)
    pairs = [(subjects[n], marks) for n, marks in controls.items()]
    planned = plan(pairs, most)
    click.echo(f"judging {numbers.plural(len(planned.trials), 'variant')} of them", err=True)
    marks, missing = _judged(
        [
            _answer(each.subject, each.variant.of(each.subject.given), judging)
            for each in planned.trials
        ],
        judging,
    )
    rows = list(mutations(planned, marks, {key(each): found for each, found in pairs}))
    return Measured(
        criteria=tuple(_criteria(rows, [each for each, _ in pairs], planned)),
        mutations=tuple(mutation for _, _, mutation in rows),
        answers=len(pairs),
        variants=len(marks),
        not_judged=lost + missing,
    )


def _judged(answers: Sequence[AnswerToJudge], judging: Judging) -> tuple[Mapping[int, Marks], int]:
    """Return the marks by position, and how many answers have none."""
    if not answers:
        return {}, 0
    result = rejudge(answers, judging)
    show_not_judged(answers, result)
    found = {n: each for n, each in enumerate(result.marks) if not isinstance(each, NotJudged)}
    return found, len(answers) - len(found)


def _answer(subject: Subject, answer: Answer, judging: Judging) -> AnswerToJudge:
    return AnswerToJudge(case=subject.case, spec=subject.spec, answer=answer, judge=judging.judge)


def _criteria(
    rows: Sequence[tuple[Subject, Judged, Mutation]], subjects: Sequence[Subject], planned: Plan
) -> Iterator[CriterionFigures]:
    """Yield the figures by place in the eval files: cases can share a criterion."""
    places: dict[tuple[str, int, str], list[tuple[Subject, Judged]]] = {}
    for subject in subjects:
        for criterion in subject.criteria:
            place = (subject.case.file, criterion.span.line, criterion.id)
            places.setdefault(place, []).append((subject, criterion))
    found: dict[tuple[str, int, str], list[Mutation]] = {}
    for subject, criterion, mutation in rows:
        place = (subject.case.file, criterion.span.line, criterion.id)
        found.setdefault(place, []).append(mutation)
    for place, users in sorted(places.items()):
        own = found.get(place, [])
        noticed, unmoved, word = figures(own)
        criterion = users[0][1]
        cases = dict.fromkeys(subject.case.id for subject, _ in users)
        why = [planned.untested.get((place[0], case, place[2]), "") for case in cases]
        yield CriterionFigures(
            file=place[0],
            line=place[1],
            case=next(iter(cases)) if len(cases) == 1 else "",
            id=place[2],
            text=criterion.template or criterion.text,
            required=_gates(criterion),
            noticed=noticed,
            unmoved=unmoved,
            word=word,
            missed=tuple(each for each in own if not each.right),
            untested=next(filter(None, why), "") if not noticed.of else "",
        )


def _gates(criterion: Judged) -> bool:
    match criterion:
        case Check():
            return criterion.required
        case Scored():
            return criterion.required_min_score is not None
        case Levelled():
            return criterion.required_min_level is not None
        case Chosen():
            return criterion.required or bool(criterion.required_choices)
        case _:
            assert_never(criterion)


async def never_failing(
    case: EvalCase, spec: RubricSpec, reference: Assessed, most: int, context: RunContext
) -> tuple[Mapping[str, str], Usage]:
    """Return these criteria, each with the first variant that it passes, and what was used.

    `reference` are the marks of the reference answer, of which `most` variants must be noticed.
    """
    answer = Answer(text=case.reference_answer)
    subject = Subject(case=case, spec=spec, given=answer, criteria=spec.rubric.judged)
    marks = _marks_by_id(reference)
    planned = plan([(subject, marks)], most)
    planned = replace(planned, trials=tuple(each for each in planned.trials if each.notice))
    results = await asyncio.gather(
        *(evaluate(case, Answer(text=each.variant.text), spec, context) for each in planned.trials)
    )
    judged = {n: _marks_by_id(each) for n, each in enumerate(results) if isinstance(each, Assessed)}
    found: dict[str, list[Mutation]] = {}
    for _, criterion, mutation in mutations(planned, judged, {key(subject): marks}):
        found.setdefault(criterion.id, []).append(mutation)
    blind = {name: own[0].change for name, own in found.items() if figures(own)[2] == "never-fails"}
    return blind, sum((each.usage for each in results), NOTHING_USED)


def _marks_by_id(result: Assessed) -> Marks:
    return {each.id: each for each in result.criteria}
