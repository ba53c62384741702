"""A labelling session in the terminal; every mark is written to the file at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeGuard

import click

from rubric_ci.calibration import label_ui
from rubric_ci.calibration.label_file import read_labels, write_labels
from rubric_ci.calibration.label_ui import Choice, key_presses, read_mark
from rubric_ci.calibration.labels import Label
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Errored, Graded
from rubric_ci.model.rubric import Criterion, MarkValue

AnswerKey: TypeAlias = tuple[str, str, str, str]
"""File, case id, evaluator, answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One criterion of one answer."""

    case: EvalCase
    spec: RubricSpec
    answer: str
    criterion: Criterion

    @property
    def key(self) -> AnswerKey:
        """Return the key of the label that holds this mark."""
        return (self.case.file, self.case.id, self.spec.name, self.answer)


def questions_of(report: RunReport, cases: Sequence[EvalCase]) -> list[Question]:
    """Return a question for every criterion of every answer in the report."""
    known = {(case.file, case.id): case for case in cases}
    return [
        Question(case=case, spec=spec, answer=result.answer, criterion=criterion)
        for result in report.cases
        if _has_answer(result) and (result.file, result.id) in known
        for case in [known[result.file, result.id]]
        for spec in case.evaluators
        if isinstance(spec, RubricSpec)
        for criterion in spec.rubric
    ]


def label_answers(questions: Sequence[Question], path: Path) -> int:
    """Ask until every question has a mark or the person quits; return the number of marks."""
    labels = _by_key(path)
    keys = key_presses()
    at = next((n for n, q in enumerate(questions) if _mark(q, labels) is None), len(questions))
    while at < len(questions):
        question = questions[at]
        match _ask(question, f"{at + 1} of {len(questions)}", _mark(question, labels), keys):
            case "quit":
                break
            case "back":
                at = max(0, at - 1)
            case "skip":
                at += 1
            case mark:
                _add(question, mark, labels)
                write_labels(path, labels.values())
                at += 1
    click.clear()
    return sum(_mark(question, labels) is not None for question in questions)


def _has_answer(result: CaseResult) -> TypeGuard[Graded | Errored]:
    # An errored case has an answer if the judge failed, none if the target failed.
    return isinstance(result, Graded) or (isinstance(result, Errored) and bool(result.answer))


def _by_key(path: Path) -> dict[AnswerKey, Label]:
    found = read_labels(path) if path.exists() else ()
    return {(each.file, each.id, each.evaluator, each.answer): each for each in found}


def _ask(question: Question, place: str, mark: MarkValue | None, keys: Iterator[str]) -> Choice:
    click.clear()
    click.echo(
        label_ui.render(question.case, question.answer, question.criterion, place=place, known=mark)
    )
    return read_mark(question.criterion, keys)


def _mark(question: Question, labels: Mapping[AnswerKey, Label]) -> MarkValue | None:
    label = labels.get(question.key)
    return label.marks.get(question.criterion.id) if label else None


def _add(question: Question, mark: MarkValue, labels: dict[AnswerKey, Label]) -> None:
    file, case, evaluator, answer = question.key
    empty = Label(file=file, id=case, evaluator=evaluator, answer=answer, marks={})
    label = labels.get(question.key, empty)
    labels[question.key] = replace(label, marks={**label.marks, question.criterion.id: mark})
