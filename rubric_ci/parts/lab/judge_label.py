"""`rubric-ci judge label`: a person marks answers in the terminal, criterion by criterion.

Every mark is written to the file at once. The judge's marks, the weight and the gate are not shown,
so that labels are independent of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Final, Literal, TypeAlias, assert_never

import click

from rubric_ci.errors import CannotConfigure, CannotFindEvals, ExitCode
from rubric_ci.evaluators.assertions.marking import is_of_text
from rubric_ci.files.project.loaded_project import load_project, open_project, show_problems
from rubric_ci.gate.report.report_file import check_ours, read_report
from rubric_ci.models.judge.prompt_parts import NOTHING, Part, parts_of
from rubric_ci.models.judge.reply import is_allowed
from rubric_ci.parts.lab.agreement import mark_text
from rubric_ci.parts.lab.labels import (
    ANOTHER,
    AnswerKey,
    Label,
    copies_of,
    read_labels,
    write_labels,
)
from rubric_ci.services.publish_files import copies_in, keep_copies
from rubric_ci.system.output_and_masking import is_interactive
from rubric_ci.text.escape import log_line, log_text
from rubric_ci.text.numbers import plural
from rubric_ci.values.answers import KeptAnswer, answer_of, identity
from rubric_ci.values.command_settings import LabelSettings
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.media import COPIES, answer_pictures
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult
from rubric_ci.values.rubric import Check, Chosen, Judged, Levelled, Scored, condition_text
from rubric_ci.values.scales import scale
from rubric_ci.values.scoring import CANNOT_ASSESS, NOT_APPLICABLE, MarkValue
from rubric_ci.values.trace import CaseTrace, SeenPart

_HERE: Final = Path()


def screen(
    question: "Question",
    *,
    place: str,
    previous: MarkValue | None,
    unfolded: bool = False,
    copies: Path = _HERE,
) -> Iterator[str]:
    """Yield the lines of the screen; `place` is the progress, `previous` the mark given before.

    The work of an agent is folded: a line says how much there is, and a key shows it.
    """
    case, criterion, answer = question.case, question.criterion, question.kept.answer
    work = _work(question.kept)
    yield f"{log_line(case.file)}: {log_line(case.id)}  ({place})"
    yield from _block("Question", case.question)
    yield from _block("Expected outcome", case.expected_outcome)
    yield from _block("Reference answer", case.reference_answer)
    yield from _block("Answer", answer or "(empty)")
    files = (f"{each.path}: {(copies / each.file).as_posix()}" for each in question.kept.media)
    yield from _block("Images and documents of the answer", "\n".join(files))
    if unfolded:
        for part in work:
            yield from _block(part.heading, part.text)
    elif work:
        yield ""
        yield f"Work: {', '.join(_counts(question.kept))}"
    yield from _block(f"Criterion {log_line(criterion.id)}", _criterion_text(criterion))
    yield ""
    if previous is not None:
        yield f"Marked before: {mark_text(previous, fault=criterion.fault)}"
    fold = f" · w {'fold' if unfolded else 'show'} the work" if work else ""
    unknown = " · c cannot assess" if is_allowed(criterion, CANNOT_ASSESS) else ""
    unknown += " · x does not apply" if is_allowed(criterion, NOT_APPLICABLE) else ""
    yield f"{_keys(criterion)}{unknown}{fold} · s skip · b back · q quit"


def _work(kept: KeptAnswer) -> Sequence[Part]:
    if kept.trace is None:
        return ()
    answer = answer_of(kept)
    in_folder: tuple[SeenPart, ...] = ("file_changes", "files") if answer.work else ()
    parts = parts_of(answer, ("tool_calls", *in_folder))
    return [part for part in parts if part.text != NOTHING]


def _counts(kept: KeptAnswer) -> Iterator[str]:
    trace = kept.trace or CaseTrace()
    calls = len(trace.steps) + trace.left_out
    failed = sum(bool(step.error) for step in trace.steps)
    counts = {
        "tool call": calls,
        "changed file": len(kept.file_changes),
        "kept file": len(trace.files),
    }
    for noun, count in counts.items():
        if count:
            more = f" ({failed} failed)" if noun == "tool call" and failed else ""
            yield f"{plural(count, noun)}{more}"


def _block(title: str, text: str) -> Iterator[str]:
    if text.strip():
        yield ""
        yield f"{title}:"
        yield indent(log_text(text).strip("\n"), "  ")


def _criterion_text(criterion: Judged) -> str:
    condition = condition_text(criterion.applies_if)
    applies = f"Applies only if: {condition}" if condition else ""
    return "\n".join(filter(None, (criterion.text, *scale(criterion), applies)))


def _keys(criterion: Judged) -> str:
    match criterion:
        case Check():
            yes = "present" if criterion.fault else "satisfied"
            return f"y {yes} · n not {yes}"
        case Scored():
            return "0 to 10, then Enter"
        case Levelled():
            return f"{', '.join(str(s.level) for s in criterion.levels)}, then Enter"
        case Chosen():
            names = (f"{n} {each.name}" for n, each in enumerate(criterion.choices, 1))
            return f"{', '.join(names)}, then Enter"
        case _:
            assert_never(criterion)


Choice: TypeAlias = MarkValue | Literal["skip", "back", "quit", "work"]

_PLAIN_KEYS: Mapping[str, Choice] = {
    "c": CANNOT_ASSESS,
    "x": NOT_APPLICABLE,
    "s": "skip",
    "b": "back",
    "q": "quit",
    "w": "work",
}
_CHECK_KEYS: Mapping[str, Choice] = {"y": True, "n": False}
_ESCAPES = ("\x1b", "\x00", "\xe0")  # prefixes of arrow and function keys
_ENTER, _ERASE = ("\r", "\n"), ("\x7f", "\b")


def read_mark(criterion: Judged, keys: Iterator[str]) -> Choice:
    if isinstance(criterion, Check):
        known = {**_known(criterion), **_CHECK_KEYS}
        while (key := next(keys)) not in known:
            click.echo("\a", nl=False)
        return known[key]
    return _read_number(criterion, keys)


def _known(criterion: Judged) -> Mapping[str, Choice]:
    """Return the keys that are no marks, and `c` where the criterion allows it."""
    return {
        key: each
        for key, each in _PLAIN_KEYS.items()
        if key not in "cx" or is_allowed(criterion, each)
    }


def key_presses() -> Iterator[str]:
    """Yield the pressed keys one by one; one read can return several."""
    while True:
        try:
            chunk = click.getchar()
        except EOFError:
            chunk = "q"
        if not chunk.startswith(_ESCAPES):
            yield from chunk


def _read_number(criterion: Judged, keys: Iterator[str]) -> Choice:
    """Read a number and Enter, or one of the plain keys."""
    typed, known = "", _known(criterion)
    while (key := next(keys)) not in known:
        if key in _ENTER and (mark := _typed(criterion, typed)) is not None:
            return mark
        typed = _edited(typed, key)
        click.echo(f"\r{typed:<8}", nl=False)
    return known[key]


def _typed(criterion: Judged, typed: str) -> MarkValue | None:
    """Return the mark of a typed number, of choices the one in that place."""
    try:
        number = int(typed)
    except ValueError:
        return None
    if isinstance(criterion, Chosen):
        names = [each.name for each in criterion.choices]
        return names[number - 1] if 0 < number <= len(names) else None
    return number if is_allowed(criterion, number) else None


def _edited(typed: str, key: str) -> str:
    if key in _ERASE:
        return typed[:-1]
    if key in _ENTER:
        return ""  # not a mark of this criterion: start again
    return typed + key if key.isdecimal() or (key == "-" and not typed) else typed


_Labels: TypeAlias = dict[AnswerKey, Label]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    case: EvalCase
    spec: RubricSpec
    kept: KeptAnswer
    criterion: Judged

    @property
    def key(self) -> AnswerKey:
        return (self.case.file, self.case.id, self.spec.name, identity(self.kept))


def questions_of(report: RunReport, cases: Sequence[EvalCase]) -> list[Question]:
    """Return a question for every criterion of every answer in the report."""
    known = {case.key: case for case in cases}
    return [
        Question(case=case, spec=spec, kept=_subject(result, spec), criterion=criterion)
        for result in report.cases
        if result.answered and result.key in known
        for case in [known[result.key]]
        for spec in case.rubrics
        for criterion in spec.rubric.judged
    ]


def _subject(result: CaseResult, spec: RubricSpec) -> KeptAnswer:
    """Return the subject of a rubric: the answer, with its work if a criterion is about that."""
    if not spec.is_about_work and is_of_text(spec.rubric):
        return KeptAnswer(answer=result.answer, media=answer_pictures(result.media))
    return KeptAnswer(
        answer=result.answer,
        trace=result.trace,
        file_changes=result.file_changes,
        media=answer_pictures(result.media),
    )


def label_answers(questions: Sequence[Question], path: Path) -> int:
    """Ask until every question has a mark or the person quits; return the number of marks."""
    known = read_labels(path) if path.exists() else ()
    labels = {each.key: each for each in known}
    keys = key_presses()
    marks = [_mark(question, labels) for question in questions]
    at = next((n for n, mark in enumerate(marks) if mark is None), len(questions))
    unfolded = False
    while at < len(questions):
        question = questions[at]
        mark = _mark(question, labels)
        place = f"{at + 1:,} of {len(questions):,}"
        copies = copies_of(path)
        click.clear()
        shown = screen(question, place=place, previous=mark, unfolded=unfolded, copies=copies)
        click.echo("\n".join(shown))
        match read_mark(question.criterion, keys):
            case "quit":
                break
            case "work":
                unfolded = not unfolded
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


def _mark(question: Question, labels: _Labels) -> MarkValue | None:
    label = labels.get(question.key)
    return label.marks.get(question.criterion.id) if label else None


def _add(question: Question, mark: MarkValue, labels: _Labels) -> None:
    empty = Label(
        file=question.case.file,
        id=question.case.id,
        evaluator=question.spec.name,
        answer=question.kept.answer,
        trace=question.kept.trace,
        file_changes=question.kept.file_changes,
        media=question.kept.media,
        marks={},
    )
    label = labels.get(question.key, empty)
    marks = {**label.marks, question.criterion.id: mark}
    labels[question.key] = replace(label, marks=marks)


def label(settings: LabelSettings) -> ExitCode:
    """Ask for the marks that are missing until all are given or the person quits."""
    if not is_interactive():
        raise CannotConfigure(
            "label needs a terminal: it reads key presses",
            "run it by hand; `rubric-ci judge calibrate` reads the labels anywhere",
        )
    report = read_report(settings.report)
    check_ours(report, settings.report)
    loaded = load_project(settings.paths, open_project(settings.config))
    show_problems(loaded.diagnostics)
    cases = loaded.cases
    if report.covers:
        click.echo(f"{log_line(str(settings.report))} covers {report.covers}", err=True)
    questions = questions_of(report, cases)
    if not questions:
        raise CannotFindEvals(
            f"{settings.report} has no answer to a case with rubrics of these files",
            "`rubric-ci run` writes the report whose answers are marked",
        )
    pictures = (each for question in questions for each in question.kept.media)
    read = copies_in(settings.report.parent / COPIES)
    keep_copies(pictures, read, copies_of(settings.labels), ANOTHER)
    _show_end(label_answers(questions, settings.labels), len(questions), settings.labels)
    return ExitCode.OK


def _show_end(marked: int, total: int, path: Path) -> None:
    click.echo(log_line(f"{marked:,} of {total:,} marks are in {path}"))
    click.echo(
        f"`rubric-ci judge calibrate {log_line(str(path))}` compares them with the judge's"
        if marked == total
        else "run the same command again to continue"
    )
