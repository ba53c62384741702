"""Label files: marks that a person gave to recorded answers.

A line of JSON has the keys `{"file", "id", "evaluator", "answer", "marks"}`; for criteria about
work also `"trace"` and `"file_changes"`, and of an answer with images `"media"`, as a report has
them. It contains the answer, so that labels stay valid when answers are recorded again. Missing
marks are left out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeAlias

from rubric_ci.errors import InvalidInput
from rubric_ci.files.parsing import typed_json
from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.files.project import working_tree
from rubric_ci.files.project.loaded_project import show_problems
from rubric_ci.models.judge.reply import is_allowed
from rubric_ci.values.answers import identity
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Diagnostic, Severity, Span
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import Picture
from rubric_ci.values.scoring import MarkValue
from rubric_ci.values.trace import CaseTrace, FileChange

_KEYS = ("file", "id", "evaluator", "answer", "marks")
_WORK = ("trace", "file_changes", "media")

AnswerKey: TypeAlias = tuple[str, str, str, str]
"""File, case id, evaluator, and the answer with its work (`values.answers.identity`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    file: str  # the eval file, as reports name it
    id: str  # of the case
    evaluator: str
    answer: str
    marks: Mapping[str, MarkValue]  # by criterion id
    trace: CaseTrace | None = None  # None: no criterion is about work
    file_changes: tuple[FileChange, ...] = ()
    media: tuple[Picture, ...] = ()  # of the answer

    @property
    def key(self) -> AnswerKey:
        return self.file, self.id, self.evaluator, identity(self)

    @property
    def case(self) -> str:
        """The case of the answer: answers of one case are not independent."""
        return f"{self.file}\n{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledAnswer:
    label: Label
    case: EvalCase
    spec: RubricSpec


def dump(labels: Iterable[Label]) -> str:
    return "".join(
        json.dumps({key: _value(label, key) for key in _keys(label)}, ensure_ascii=False) + "\n"
        for label in labels
    )


def parse(path: str, text: str) -> tuple[tuple[Label, ...], tuple[Diagnostic, ...]]:
    labels: list[Label] = []
    problems: list[Diagnostic] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            label = _label(line)
            if isinstance(label, str):
                problems.append(_problem(path, number, label))
            else:
                labels.append(label)
    return tuple(labels), tuple(problems)


def match(
    path: str, labels: Sequence[Label], cases: Sequence[EvalCase]
) -> tuple[tuple[LabelledAnswer, ...], tuple[Diagnostic, ...]]:
    """Return each label with its case and rubric, and the problems of labels that do not match."""
    known = {case.key: case for case in cases}
    matched: list[LabelledAnswer] = []
    problems: list[Diagnostic] = []
    for number, label in enumerate(labels, 1):
        case = known.get((label.file, label.id))
        specs = case.rubrics if case else ()
        spec = next((each for each in specs if each.name == label.evaluator), None)
        if not case or not spec:
            what = f"evaluator {label.evaluator!r} with rubrics" if case else "such case"
            text = f"{label.file}: {label.id}: there is no {what}"
            problems.append(_problem(path, number, text))
            continue
        wrong = list(_wrong_marks(label, spec))
        problems.extend(_problem(path, number, text) for text in wrong)
        if not wrong:
            matched.append(LabelledAnswer(label=label, case=case, spec=spec))
    return tuple(matched), tuple(problems)


def _keys(label: Label) -> tuple[str, ...]:
    return (*_KEYS, *(key for key in _WORK if getattr(label, key) not in (None, ())))


def _value(label: Label, key: str) -> JSON:
    value = getattr(label, key)
    match value:
        case CaseTrace():
            return asdict(value)
        case (FileChange() | Picture(), *_):
            return [asdict(each) for each in value]
    return value


def _label(line: str) -> Label | str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return "is not JSON"
    if problem := next(_problems(value), ""):
        return problem
    try:
        work = _work(value)
    except Mismatch as error:
        return f"trace, file_changes and media must have the form of a report: {error}"
    return Label(**{**value, **work})


def _work(value: Mapping[str, JSON]) -> Mapping[str, Any]:
    kinds = {
        "trace": CaseTrace,
        "file_changes": tuple[FileChange, ...],
        "media": tuple[Picture, ...],
    }
    written = {name: json.dumps(value[name]) for name in _WORK if name in value}
    return {name: typed_json.value_of(kinds[name], text) for name, text in written.items()}


def _problems(value: JSON) -> Iterator[str]:
    """Yield the problems of a line's data; later checks rely on earlier ones."""
    if not isinstance(value, dict) or value.keys() - set(_WORK) != set(_KEYS):
        yield f"a label has the keys {', '.join(_KEYS)}, and may have {', '.join(_WORK)}"
        return
    if not all(isinstance(value[key], str) for key in _KEYS[:-1]):
        yield "file, id, evaluator and answer must be texts"
    if not isinstance(value["marks"], dict):
        yield "marks must be an object, criterion id to mark"


def _wrong_marks(label: Label, spec: RubricSpec) -> Iterator[str]:
    criteria = {criterion.id: criterion for criterion in spec.rubric.judged}
    for name, value in label.marks.items():
        place = f"{label.file}: {label.id}: {name}"
        if name not in criteria:
            yield f"{place}: there is no such criterion"
        elif not is_allowed(criteria[name], value):
            shown = json.dumps(value, ensure_ascii=False)
            yield f"{place}: {shown} is not a mark of a {criteria[name].kind}"


def _problem(path: str, line: int, text: str) -> Diagnostic:
    return Diagnostic(
        rule="label",
        severity=Severity.ERROR,
        file=path,
        span=Span(line, 1, line, 1),
        message=text,
        hint="fix or remove the line, or mark the answer again with `rubric-ci judge label`",
    )


ANOTHER: Final = "choose another file with --labels"


def read_labels(path: Path) -> tuple[Label, ...]:
    """Return the labels of a file; show its problems and raise InvalidInput if there are any."""
    found, problems = parse(
        str(path), working_tree.read_text(path, written_by="rubric-ci judge label")
    )
    if problems:
        show_problems(problems)
        raise InvalidInput(f"{path} has problems", "fix or remove those lines")
    return found


def copies_of(path: Path) -> Path:
    """Return the folder with the images of labelled answers, which is committed with the labels."""
    return path.with_name(f"{path.stem}-media")


def write_labels(path: Path, found: Iterable[Label]) -> None:
    """Write the labels, atomically."""
    working_tree.write_text(path, dump(found), "the labels", ANOTHER)
