"""`calibration.json`: the agreement of one judge and prompt with people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from itertools import combinations
from math import fsum
from typing import Literal, TypeAlias

from rubric_ci.parts.lab.agreement import (
    Agreement,
    DrawGamma,
    MarkPair,
    agreement,
    disagreement,
    flips,
    mark_text,
    pair,
)
from rubric_ci.parts.lab.labels import TEST, TUNE, AnswerKey, Label, LabelledAnswer, Split
from rubric_ci.text.p_values_and_intervals import SIGNIFICANT, p_value
from rubric_ci.values.answers import identity
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.report import JudgeInfo
from rubric_ci.values.rubric import Judged, marked_kind
from rubric_ci.values.scoring import MarkValue

VERSION = 3  # 1 pooled the criteria; 2 counted drawn labels and answers of one case as others

Key: TypeAlias = tuple[str, str, str]
"""File, id of the criterion, its text: equal criteria of several cases are counted as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLabel:
    labelled: LabelledAnswer
    marks: Mapping[str, MarkValue]  # the judge's, by criterion id
    votes: Mapping[str, Sequence[MarkValue]]  # if there are several
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
class ModeChoice:
    """The mode of `judge.mode: auto`, by the agreement in both modes."""

    chosen: Literal["batched", "isolated"]
    batched: Agreement
    isolated: Agreement
    p_value: float  # of equal disagreement with people


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    judge: JudgeInfo
    overall: Agreement
    criteria: tuple[CriterionAgreement, ...]
    differences: tuple[Difference, ...]
    flips: float | None  # over votes; None: there was one vote
    no_verdict: int  # number of labelled answers without a judgement
    split: Split = TEST
    people: Agreement | None = None  # of several people among themselves; None: one person
    disagreement: Mapping[str, float] = field(default_factory=dict)  # with people, by case
    modes: ModeChoice | None = None  # None: one mode was measured
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
        flips=flips([panel for each in judged for panel in each.votes.values()]),
        no_verdict=no_verdict,
        split=TEST if all(each.labelled.label.split in {None, TEST} for each in judged) else TUNE,
        people=_between_people(judged, draw),
        disagreement=disagreement(every),
        work=agreement(of_work, draw) if of_work else None,
    )


def by_mode(batched: Calibration, isolated: Calibration) -> Calibration:
    """Return the calibration in the mode of `auto`: isolated if batching costs agreement."""
    lost = [
        batched.disagreement[case] - isolated.disagreement[case] for case in batched.disagreement
    ]
    loses = is_loss(lost)
    choice = ModeChoice(
        chosen="isolated" if loses else "batched",
        batched=batched.overall,
        isolated=isolated.overall,
        p_value=_p_value(lost),
    )
    return replace(isolated if loses else batched, modes=choice)


def is_loss(lost: Sequence[float]) -> bool:
    """Return True if the disagreement that batching adds to the cases is not chance.

    A paired permutation test over the cases, which are independent of each other.
    """
    return fsum(lost) > 0 and _p_value(lost) <= SIGNIFICANT


def _p_value(lost: Sequence[float]) -> float:
    most = max(map(abs, lost)) or 1.0
    return p_value([each / most for each in lost])


def to_json(calibration: Calibration) -> JSON:
    return {
        "version": VERSION,
        "split": calibration.split,
        "judge": asdict(calibration.judge),
        "overall": _agreement(calibration.overall),
        "flips": _rounded(calibration.flips),
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
        "people": _agreement(calibration.people) if calibration.people else None,
        **({"work": _agreement(calibration.work)} if calibration.work else {}),
        **({"modes": _modes(calibration.modes)} if calibration.modes else {}),
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
        weight=label.weight,
    )


def _between_people(judged: Sequence[JudgedLabel], draw: DrawGamma) -> Agreement | None:
    """Return the agreement of each two people on the answers that both labelled."""
    answers: dict[AnswerKey, list[LabelledAnswer]] = {}
    for each in sorted(judged, key=lambda each: each.labelled.label.by or ""):
        answers.setdefault(each.labelled.label.key, []).append(each.labelled)
    pairs = [
        found
        for labelled in answers.values()
        for one, other in combinations(labelled, 2)
        for found in _pairs_of_people(one, other)
    ]
    return agreement(pairs, draw) if pairs else None


def _pairs_of_people(one: LabelledAnswer, other: LabelledAnswer) -> Iterator[MarkPair]:
    for criterion in one.spec.rubric.judged:
        if criterion.id in one.label.marks and criterion.id in other.label.marks:
            mark = other.label.marks[criterion.id]
            yield _pair(one.label, criterion, mark, "\n".join(_key(one, criterion)))


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


def _modes(found: ModeChoice) -> JSON:
    return {
        "chosen": found.chosen,
        "p": _rounded(found.p_value),
        "batched": _agreement(found.batched),
        "isolated": _agreement(found.isolated),
    }


def _agreement(found: Agreement) -> JSON:
    return {
        "n": found.n,
        "accuracy": _rounded(found.accuracy),
        "kappa": _rounded(found.kappa),
        "interval": [_rounded(end) for end in found.interval] if found.interval else None,
        "sensitivity": _rounded(found.sensitivity),
        "specificity": _rounded(found.specificity),
        "leniency": _rounded(found.leniency),
        "confusion": [
            {"person": person, "judge": judge, "n": n}
            for (person, judge), n in sorted(found.confusion.items())
        ],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
