"""A labelling session in the terminal; every mark is written to the file at once."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeGuard

import click

from rubric_ci.calibration import label_ui
from rubric_ci.calibration.label_file import read_labels, write_labels
from rubric_ci.calibration.label_ui import Choice, key_presses, read_mark
from rubric_ci.calibration.labels import Draw, Label, Split
from rubric_ci.calibration.sample import CaseKey
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.mark_value import MarkValue
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Errored, Graded
from rubric_ci.model.rubric import Judged

AnswerKey: TypeAlias = tuple[str, str, str, str]
"""File, case id, evaluator, answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Who labels, what for, and which answers were drawn at random."""

    path: Path
    by: str | None = None
    split: Split | None = None
    draws: Mapping[CaseKey, Draw] | None = None  # None: every answer is labelled


_Labels: TypeAlias = dict[tuple[AnswerKey, str | None], Label]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One criterion of one answer."""

    case: EvalCase
    spec: RubricSpec
    answer: str
    criterion: Judged

    @property
    def key(self) -> AnswerKey:
        """Return the key of the label that holds this mark."""
        return (self.case.file, self.case.id, self.spec.name, self.answer)


def questions_of(
    report: RunReport, cases: Sequence[EvalCase], drawn: Container[CaseKey] | None = None
) -> list[Question]:
    """Return a question for every criterion of every answer in the report, or of those drawn."""
    known = {(case.file, case.id): case for case in cases}
    return [
        Question(case=case, spec=spec, answer=result.answer, criterion=criterion)
        for result in report.cases
        if _has_answer(result) and (result.file, result.id) in known
        if drawn is None or (result.file, result.id) in drawn
        for case in [known[result.file, result.id]]
        for spec in case.evaluators
        if isinstance(spec, RubricSpec)
        for criterion in spec.rubric.judged
    ]


def label_answers(questions: Sequence[Question], session: Session) -> int:
    """Ask until every question has a mark or the person quits; return the number of marks."""
    labels = _by_key(session.path)
    _add_draws(questions, session, labels)
    keys = key_presses()
    marks = [_mark(question, session, labels) for question in questions]
    at = next((n for n, mark in enumerate(marks) if mark is None), len(questions))
    while at < len(questions):
        question = questions[at]
        mark = _mark(question, session, labels)
        match _ask(question, f"{at + 1:,} of {len(questions):,}", mark, keys):
            case "quit":
                break
            case "back":
                at = max(0, at - 1)
            case "skip":
                at += 1
            case mark:
                _add(question, mark, session, labels)
                write_labels(session.path, labels.values())
                at += 1
    click.clear()
    return sum(_mark(question, session, labels) is not None for question in questions)


def _has_answer(result: CaseResult) -> TypeGuard[Graded | Errored]:
    # An errored case has an answer if the judge failed, none if the target failed.
    return isinstance(result, Graded) or (isinstance(result, Errored) and bool(result.answer))


def _by_key(path: Path) -> _Labels:
    found = read_labels(path) if path.exists() else ()
    return {((each.file, each.id, each.evaluator, each.answer), each.by): each for each in found}


def _add_draws(questions: Sequence[Question], session: Session, labels: _Labels) -> None:
    """Keep the draw with answers that this person labelled before they were drawn."""
    changed = False
    for question in questions:
        label = labels.get((question.key, session.by))
        draw = _draw_of(question, session)
        if label and draw and label.draw is None:
            labels[question.key, session.by] = replace(label, draw=draw)
            changed = True
    if changed:
        write_labels(session.path, labels.values())


def _draw_of(question: Question, session: Session) -> Draw | None:
    return (session.draws or {}).get((question.case.file, question.case.id))


def _ask(question: Question, place: str, mark: MarkValue | None, keys: Iterator[str]) -> Choice:
    click.clear()
    click.echo(
        label_ui.render(
            question.case, question.answer, question.criterion, place=place, previous=mark
        )
    )
    return read_mark(question.criterion, keys)


def _mark(
    question: Question,
    session: Session,
    labels: Mapping[tuple[AnswerKey, str | None], Label],
) -> MarkValue | None:
    label = labels.get((question.key, session.by))
    return label.marks.get(question.criterion.id) if label else None


def _add(question: Question, mark: MarkValue, session: Session, labels: _Labels) -> None:
    file, case, evaluator, answer = question.key
    empty = Label(
        file=file,
        id=case,
        evaluator=evaluator,
        answer=answer,
        marks={},
        split=session.split,
        by=session.by,
        draw=_draw_of(question, session),
    )
    label = labels.get((question.key, session.by), empty)
    marks = {**label.marks, question.criterion.id: mark}
    labels[question.key, session.by] = replace(label, marks=marks)
