"""`calibration.json`: the agreement of one judge and prompt with people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TypeAlias

from rubric_ci.parts.lab.agreement import Agreement, DrawGamma, MarkPair, agreement, mark_text, pair
from rubric_ci.parts.lab.labels import Label, LabelledAnswer
from rubric_ci.values.answers import identity
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.report import JudgeInfo
from rubric_ci.values.rubric import Judged, marked_kind
from rubric_ci.values.scoring import MarkValue

VERSION = 4

Key: TypeAlias = tuple[str, str, str]
"""File, id of the criterion, its text: equal criteria of several cases are counted as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLabel:
    labelled: LabelledAnswer
    marks: Mapping[str, MarkValue]  # the judge's, by criterion id
    reasons: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionAgreement:
    file: str
    id: str
    kind: str
    agreement: Agreement
    evaluator: str  # of the first labelled answer
    cases: tuple[str, ...]  # that have this criterion, in the order of the labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A criterion of an answer that person and judge marked differently."""

    file: str
    case: str
    criterion: str
    person: str
    judge: str
    reason: str  # the judge's


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    judge: JudgeInfo
    overall: Agreement
    criteria: tuple[CriterionAgreement, ...]
    differences: tuple[Difference, ...]
    no_verdict: int  # number of labelled answers without a judgement
    work: Agreement | None = None  # on criteria about work; None: no label is about work


def calibrate(
    judged: Sequence[JudgedLabel], judge: JudgeInfo, draw: DrawGamma, no_verdict: int = 0
) -> Calibration:
    """Compare all marks that person and judge gave; there must be at least one."""
    groups: dict[Key, list[tuple[JudgedLabel, Judged]]] = {}
    for each, criterion in marked(judged):
        groups.setdefault(_key(each.labelled, criterion), []).append((each, criterion))
    pairs = {
        key: [
            _pair(each.labelled.label, criterion, each.marks[criterion.id], "\n".join(key))
            for each, criterion in marks
        ]
        for key, marks in groups.items()
    }
    every = [pair for some in pairs.values() for pair in some]
    of_work = [
        pair
        for key, marks in groups.items()
        if marks[0][0].labelled.spec.is_about_work
        for pair in pairs[key]
    ]
    return Calibration(
        judge=judge,
        overall=agreement(every, draw),
        criteria=tuple(
            _on_criterion(marks, agreement(pairs[key], draw)) for key, marks in groups.items()
        ),
        differences=tuple(_differences(judged)),
        no_verdict=no_verdict,
        work=agreement(of_work, draw) if of_work else None,
    )


def to_json(calibration: Calibration) -> JSON:
    return {
        "version": VERSION,
        "judge": asdict(calibration.judge),
        "overall": _agreement(calibration.overall),
        "silent": calibration.no_verdict,
        "criteria": [
            {
                "file": c.file,
                "cases": c.cases,
                "id": c.id,
                "kind": c.kind,
                **_agreement(c.agreement),
            }
            for c in calibration.criteria
        ],
        **({"work": _agreement(calibration.work)} if calibration.work else {}),
        "differences": [asdict(each) for each in calibration.differences],
    }


def marked(judged: Sequence[JudgedLabel]) -> Iterator[tuple[JudgedLabel, Judged]]:
    """Yield the criteria that a person marked, answer by answer."""
    for each in judged:
        for criterion in each.labelled.spec.rubric.judged:
            if criterion.id in each.labelled.label.marks:
                yield each, criterion


def _on_criterion(
    marks: Sequence[tuple[JudgedLabel, Judged]], found: Agreement
) -> CriterionAgreement:
    each, criterion = marks[0]
    return CriterionAgreement(
        file=each.labelled.case.file,
        id=criterion.id,
        kind=criterion.kind,
        agreement=found,
        evaluator=each.labelled.label.evaluator,
        cases=tuple(dict.fromkeys(each.labelled.case.id for each, _ in marks)),
    )


def _pair(label: Label, criterion: Judged, other: MarkValue, name: str) -> MarkPair:
    return pair(
        criterion,
        f"{label.case}\n{identity(label)}",
        label.marks[criterion.id],
        other,
        name=name,
        case=label.case,
    )


def _differences(judged: Sequence[JudgedLabel]) -> Iterator[Difference]:
    for each, criterion in marked(judged):
        label = each.labelled.label
        person, judge = label.marks[criterion.id], each.marks[criterion.id]
        if person != judge:
            yield Difference(
                file=label.file,
                case=label.id,
                criterion=criterion.id,
                person=mark_text(person, fault=criterion.fault),
                judge=mark_text(judge, fault=criterion.fault),
                reason=each.reasons.get(criterion.id, ""),
            )


def _key(labelled: LabelledAnswer, criterion: Judged) -> Key:
    text = f"{marked_kind(criterion)}\n{criterion.template or criterion.text}"
    return labelled.case.file, criterion.id, text


def _agreement(found: Agreement) -> JSON:
    return {
        "n": found.n,
        "accuracy": _rounded(found.accuracy),
        "kappa": _rounded(found.kappa),
        "interval": [_rounded(end) for end in found.interval] if found.interval else None,
        "sensitivity": _rounded(found.sensitivity),
        "specificity": _rounded(found.specificity),
        "leniency": _rounded(found.leniency),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
