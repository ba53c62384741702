"""Let a person mark answers in the terminal, criterion by criterion; every mark is kept at once."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, TypeGuard

import click

from rubric_ci.calibration import label_ui, labels
from rubric_ci.calibration.label_ui import Choice, key_presses, read_mark
from rubric_ci.calibration.labels import Label
from rubric_ci.errors import (
    CannotConfigure,
    CannotFindEvals,
    CannotWriteFile,
    ExitCode,
    InvalidInput,
)
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.options import LabelSettings
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Errored, Graded
from rubric_ci.model.rubric import Criterion, MarkValue
from rubric_ci.project import discovery
from rubric_ci.project.loaded_project import load_project, show_problems
from rubric_ci.reports import json_format
from rubric_ci.text.escape import log_line

Key: TypeAlias = tuple[str, str, str, str]
"""File, case id, evaluator, answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One criterion of one answer."""

    case: EvalCase
    spec: RubricSpec
    answer: str
    criterion: Criterion

    @property
    def key(self) -> Key:
        """Tell whose marks these are."""
        return (self.case.file, self.case.id, self.spec.name, self.answer)


def label(settings: LabelSettings) -> ExitCode:
    """Ask for what is not marked yet until all is, or the person stops."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CannotConfigure(
            "label needs a terminal: a person presses the keys",
            "run it by hand; `rubric-ci calibrate` reads the labels anywhere",
        )
    opened = load_project(settings.paths, settings.config)
    show_problems(opened.diagnostics)
    cases = [case for file in opened.files for case in file.cases]
    questions = _questions(cases, _read_report(settings.report))
    if not questions:
        raise CannotFindEvals(
            f"{settings.report} has no answer to a case with rubrics of these files",
            "`rubric-ci run` writes the report whose answers are marked here",
        )
    kept = _read_labels(settings.labels)
    _ask_all(questions, kept, settings.labels)
    _show_end(questions, kept, settings.labels)
    return ExitCode.OK


def _questions(cases: Sequence[EvalCase], report: RunReport) -> list[Question]:
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


def _has_answer(result: CaseResult) -> TypeGuard[Graded | Errored]:
    # An errored case has one where the judge failed, none where the target did.
    return isinstance(result, Graded) or (isinstance(result, Errored) and bool(result.answer))


def _ask_all(questions: Sequence[Question], kept: dict[Key, Label], path: Path) -> None:
    keys = key_presses()
    at = next((n for n, q in enumerate(questions) if _known(q, kept) is None), len(questions))
    while at < len(questions):
        question = questions[at]
        match _ask(question, f"{at + 1} of {len(questions)}", _known(question, kept), keys):
            case "quit":
                return
            case "back":
                at = max(0, at - 1)
            case "skip":
                at += 1
            case mark:
                _keep(question, mark, kept, path)
                at += 1


def _ask(question: Question, place: str, known: MarkValue | None, keys: Iterator[str]) -> Choice:
    click.clear()
    click.echo(
        label_ui.render(
            question.case, question.answer, question.criterion, place=place, known=known
        )
    )
    return read_mark(question.criterion, keys)


def _known(question: Question, kept: Mapping[Key, Label]) -> MarkValue | None:
    label = kept.get(question.key)
    return label.marks.get(question.criterion.id) if label else None


def _keep(question: Question, mark: MarkValue, kept: dict[Key, Label], path: Path) -> None:
    file, case, evaluator, answer = question.key
    empty = Label(file=file, id=case, evaluator=evaluator, answer=answer, marks={})
    was = kept.get(question.key, empty)
    kept[question.key] = replace(was, marks={**was.marks, question.criterion.id: mark})
    try:
        discovery.write_text(path, labels.dump(kept.values()))
    except OSError as error:
        raise CannotWriteFile(
            f"{path}: cannot keep the labels: {error.strerror}", "choose another file with --labels"
        ) from error


def _read_labels(path: Path) -> dict[Key, Label]:
    if not path.exists():
        return {}
    found, problems = labels.parse(str(path), discovery.read_text(path))
    if problems:
        show_problems(problems)
        raise InvalidInput(f"{path} has problems", "mend or remove those lines")
    return {(each.file, each.id, each.evaluator, each.answer): each for each in found}


def _read_report(path: Path) -> RunReport:
    return json_format.read(discovery.read_text(path), str(path))


def _show_end(questions: Sequence[Question], kept: Mapping[Key, Label], path: Path) -> None:
    marked = sum(_known(question, kept) is not None for question in questions)
    click.clear()
    click.echo(log_line(f"{marked} of {len(questions)} marks are in {path}"))
    click.echo(
        f"`rubric-ci calibrate {log_line(str(path))}` compares them with the judge's"
        if marked == len(questions)
        else "run the same command again to go on"
    )
