"""Criteria of four kinds, their marks, the value of each mark, and the score of a rubric."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, TypeAlias, assert_never

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.json_value import JSON
from rubric_ci.values.scoring import (
    ASSERTION,
    CHECKLIST,
    CHOICES,
    DEFAULT_THRESHOLDS,
    LEVELS,
    NOT_APPLICABLE,
    SCORE_RANGE,
    MarkValue,
    Score,
    Thresholds,
    Weighed,
    rubric_score,
    verdict,
)
from rubric_ci.values.written_keys import Key

_OUTCOME: Final[dict[str, Any]] = {"name": "expected_outcome", "aliases": {"description": "older"}}
_CRITERIA: Final[dict[str, Any]] = {
    "name": "criteria",
    "aliases": {"expected_outcome": "other", "description": "other"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    value: MarkValue
    reasoning: str = ""
    evidence: str = ""  # a quote from the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedAnswer:
    """An answer with its marks, which the judge is shown as marked before."""

    answer: Annotated[str, Key.of("testAnswer")]
    question: Annotated[str, Key("May I return it?")] = ""
    """Question that was asked."""
    marks: Annotated[Mapping[str, MarkValue], Key.of("exampleMarks")]
    why: Annotated[str, Key('"will" is a promise')] = ""
    """Why it is marked so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkTest:
    """An answer and, by criterion, the marks of which a judge must give it one."""

    name: Annotated[str, Key.of("testName")]
    answer: Annotated[str, Key.of("testAnswer")]
    marks: Annotated[Mapping[str, tuple[MarkValue, ...]], Key.of("testMarks")]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Criterion:
    id: Annotated[str, Key("worst-case")]
    """Name of the criterion, unique in its list. Without it, `rubric-<n>`."""
    text: Annotated[str, Key("Names the worst case and its time", **_OUTCOME)] = ""
    """Statement that the judge checks. Optional with `score_ranges`, `levels` or `choices`; the
    text of an assertion in reports."""
    # of a fault, the penalty
    weight: Annotated[float, Key.of("criterionWeight", aliases={"penalty": "#penalty"})] = 1.0
    tags: Annotated[tuple[str, ...], Key(["safety"])] = ()
    """Tags of the criterion. One with the tag `safety` cannot be waived."""
    applies_if: Annotated["Condition | None", Key.of("appliesIf")] = None
    template: str = ""  # the text with its variables, of which a row has the values; empty: none
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class _YesOrNo(_Criterion):
    """Satisfied or not; or a fault, which is present or not."""

    required: Annotated[bool, Key(False)] = True
    """Gate of a checklist criterion or an assertion: if it is not satisfied, the case fails, with
    any score. Of a penalty, if the fault is present; then the default is `false`."""
    fault: bool = False

    def normalise(self, mark: Mark) -> float:
        """Return 1 for satisfied, or for a fault that is not present, else 0."""
        return float((mark.value is True) is not self.fault)

    def gates(self, mark: Mark) -> bool:
        return self.required and not self.normalise(mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(_YesOrNo):
    kind: ClassVar[str] = CHECKLIST


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRange:
    """The meaning of the scores `low..high` (both inclusive, within 0..10)."""

    low: Annotated[
        int,
        Key(
            [0, 5],
            name="score_range",
            title="Bounds",
            type="array",
            minItems=2,
            maxItems=2,
            items={"type": "integer", "minimum": 0, "maximum": 10},
            to=lambda bounds, _: bounds[0],
        ),
    ]
    """Lowest and highest score of the range, both included."""
    high: Annotated[int, Key(name="score_range", to=lambda bounds, _: bounds[1])]
    text: Annotated[str, Key("Correct, with small omissions", **_OUTCOME)]
    """Description of an answer with such a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored(_Criterion):
    """Scored 0..10; the ranges define the scores."""

    kind: ClassVar[str] = SCORE_RANGE
    fault: ClassVar[bool] = False

    # ascending, without overlap, covering 0..10
    ranges: Annotated[tuple[ScoreRange, ...], Key.of("scoreRanges", name="score_ranges")]
    required_min_score: Annotated[int | None, Key(7, minimum=0, maximum=10)] = None
    """Gate of a criterion with `score_ranges`: a lower score fails the case, with any total."""

    def normalise(self, mark: Mark) -> float:
        """Return score / 10; a mark that is no score counts 0."""
        return 0.0 if isinstance(mark.value, str) else mark.value / 10

    def gates(self, mark: Mark) -> bool:
        return _below(self.required_min_score, mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    level: Annotated[int, Key(4)]
    """Number of the level. Levels need not be contiguous."""
    name: Annotated[str, Key("Good", type="string")] = ""
    """Short name of the level."""
    text: Annotated[str, Key("Accurate with small omissions", **_CRITERIA)]
    """Description of an answer of this level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levelled(_Criterion):
    kind: ClassVar[str] = LEVELS
    fault: ClassVar[bool] = False

    # ascending, at least two, distinct, not always contiguous
    levels: Annotated[tuple[Level, ...], Key.of("levels")]
    required_min_level: Annotated[int | None, Key(3)] = None
    """Gate of a criterion with `levels`: a lower level fails the case, with any total."""

    def normalise(self, mark: Mark) -> float:
        """Return (level - min) / (max - min); a mark that is no level counts 0."""
        if isinstance(mark.value, str):
            return 0.0
        low, high = self.levels[0].level, self.levels[-1].level
        return (mark.value - low) / (high - low)

    def gates(self, mark: Mark) -> bool:
        return _below(self.required_min_level, mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the answers without an order that a judge names."""

    name: Annotated[str, Key("escalate", name="choice")]
    """Name of the choice, which the judge answers with."""
    score: Annotated[float, Key.of("choiceScore")]  # of a fault, its severity
    text: Annotated[str, Key("Hands the customer over to a person", name="criteria")] = ""
    """Description of an answer of this choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen(_Criterion):
    """One of the declared choices; of a fault, how severe it is."""

    kind: ClassVar[str] = CHOICES

    # as declared, at least two, with distinct names
    choices: Annotated[tuple[Choice, ...], Key.of("choices")]
    required_choices: Annotated[
        tuple[str, ...], Key(["refund", "escalate"], minItems=1, uniqueItems=True)
    ] = ()
    """Gate of a criterion with `choices`: any other choice fails the case, with any total."""
    required: bool = False  # of a fault: it must not be present
    fault: bool = False

    def normalise(self, mark: Mark) -> float:
        """Return the score of the choice, of a fault 1 - its severity; cannot_assess counts 0."""
        found = next((each.score for each in self.choices if each.name == mark.value), 0.0)
        return 1 - found if self.fault else found

    def gates(self, mark: Mark) -> bool:
        if self.required_choices:
            return mark.value not in self.required_choices
        return self.required and self.normalise(mark) < 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion(_YesOrNo):
    """Holds or not, without a judge; `evaluators/assertions/` says what the keys mean."""

    kind: ClassVar[str] = ASSERTION

    key: str  # of the table
    value: JSON
    negated: Annotated[bool, Key(True, name="not")] = False
    """Inverts an assertion, also for an answer that is not JSON."""
    ignore_case: Annotated[bool, Key(True)] = False
    """Compares the texts of an assertion without regard to case."""
    exact: Annotated[bool, Key(True)] = False
    """Compares the text as it is: white space at its ends counts, and JSON in a code fence is not
    JSON."""
    field: Annotated[str, Key("total.amount")] = ""
    """Field of a JSON answer that an assertion is about: a dotted path or a JSON Pointer. Without
    it, the whole answer."""

    @property
    def rule(self) -> str:
        """All that decides the mark, as JSON."""
        options = {
            "not": self.negated,
            "ignore_case": self.ignore_case,
            "exact": self.exact,
            "field": self.field,
        }
        given = {key: value for key, value in options.items() if value}
        return json.dumps({self.key: self.value, **given}, ensure_ascii=False)


Judged: TypeAlias = Check | Scored | Levelled | Chosen
"""A criterion as a judge marks it."""

Criterion: TypeAlias = Judged | Assertion


@dataclass(frozen=True, slots=True, kw_only=True)
class ByJudge:
    """The judge decides whether a criterion applies."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ByAnswer:
    """A criterion applies where an assertion holds."""

    assertion: Assertion


@dataclass(frozen=True, slots=True, kw_only=True)
class ByMark:
    """A criterion applies where another one of the list has this mark."""

    criterion: Annotated[str, Key("refuses")]
    """Id of another criterion of the list, without a condition; with `is`."""
    mark: Annotated[MarkValue, Key(True, name="is", type=["boolean", "integer", "string"])]
    """Mark of the other criterion with which this one applies."""


Condition: TypeAlias = ByJudge | ByAnswer | ByMark
"""When a criterion applies; one by tag or variable is decided when the file is read."""


def condition_text(condition: Condition | None) -> str:
    """Return a condition in words; empty: there is none."""
    match condition:
        case None:
            return ""
        case ByJudge():
            return condition.text
        case ByAnswer():
            return condition.assertion.text
        case ByMark(mark=bool() as mark):
            return f"`{condition.criterion}` is {str(mark).lower()}"
        case ByMark():
            return f"`{condition.criterion}` is {condition.mark}"
        case _:
            assert_never(condition)


@dataclass(frozen=True)
class Rubric:
    """Criteria with unique ids and a weight or a penalty above 0; none, if none of them applies."""

    criteria: tuple[Criterion, ...]

    def __iter__(self) -> Iterator[Criterion]:
        return iter(self.criteria)

    def __len__(self) -> int:
        return len(self.criteria)

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        return tuple([c for c in self.criteria if not isinstance(c, Assertion)])

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        """The assertions among the criteria, and those that decide whether one applies."""
        own = [c for c in self.criteria if isinstance(c, Assertion)]
        conditions = [c.applies_if for c in self.criteria if c.applies_if]
        return (*own, *[each.assertion for each in conditions if isinstance(each, ByAnswer)])

    @property
    def is_branching(self) -> bool:
        """True if marks decide which criteria apply."""
        return any(isinstance(c.applies_if, ByJudge | ByMark) for c in self.criteria)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Exactly one mark per criterion of a rubric, each in range; see `models/judge/reply.py`."""

    marks: Mapping[str, Mark]  # by criterion id
    reasoning: str = ""  # about the answer as a whole

    def __getitem__(self, criterion_id: str) -> Mark:
        return self.marks[criterion_id]


def score(
    rubric: Rubric, judgement: Judgement, thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> Score:
    """Return the score of the marks; a missed gate fails the case at any score."""
    return score_of(applying(rubric, settled(rubric, judgement)), thresholds)


def applying(rubric: Rubric, settled: Judgement) -> list[tuple[Criterion, Mark]]:
    """Return the criteria that apply, with their marks in a settled judgement."""
    marks = settled.marks
    return [(c, marks[c.id]) for c in rubric.criteria if marks[c.id].value != NOT_APPLICABLE]


def score_of(applying: Sequence[tuple[Criterion, Mark]], thresholds: Thresholds) -> Score:
    """Return the score of the criteria that apply."""
    value = rubric_score([weighed(*each) for each in applying])
    gated_by = tuple([c.id for c, mark in applying if c.gates(mark)])
    return Score(value=value, verdict=verdict(value, gated_by, thresholds), gated_by=gated_by)


def renamed(criterion: Criterion, prefix: str) -> Criterion:
    """Return a criterion with a prefix before its id and the id that its condition names."""
    needs = criterion.applies_if
    if isinstance(needs, ByMark):
        needs = replace(needs, criterion=f"{prefix}{needs.criterion}")
    return replace(criterion, id=f"{prefix}{criterion.id}", applies_if=needs)


def settled(rubric: Rubric, judgement: Judgement) -> Judgement:
    """Return the judgement with the criteria that do not apply by the mark of another one."""
    marks = dict(judgement.marks)
    conditional = [criterion for criterion in rubric.criteria if criterion.applies_if]
    for criterion in conditional:
        needs = criterion.applies_if
        if isinstance(needs, ByMark) and not equal_marks(
            got := marks[needs.criterion].value, needs.mark
        ):
            reasoning = f"It applies if {condition_text(needs)}, which is {str(got).lower()}"
            marks[criterion.id] = Mark(value=NOT_APPLICABLE, reasoning=reasoning)
    return Judgement(marks, judgement.reasoning) if conditional else judgement


def equal_marks(mark: MarkValue, other: MarkValue) -> bool:
    """Return True for equal marks: `true` is not 1."""
    return (isinstance(mark, bool), mark) == (isinstance(other, bool), other)


def marked_kind(criterion: Criterion) -> str:
    """Return the kind as part of a criterion's identity: a fault is another demand."""
    return f"{criterion.kind} of a fault" if criterion.fault else criterion.kind


def weighed(criterion: Criterion, mark: Mark) -> Weighed:
    """Return a criterion with its mark, as the score takes it."""
    return Weighed(criterion.weight, criterion.normalise(mark), criterion.fault)


def _below(minimum: int | None, mark: Mark) -> bool:
    if minimum is None:
        return False
    return isinstance(mark.value, str) or mark.value < minimum
