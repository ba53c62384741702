"""`calibration.json`: the agreement of one judge and prompt with people."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from rubric_ci.calibration.agreement import (
    Agreement,
    Pair,
    Resample,
    agreement,
    flips,
    pair,
    self_agreement,
)
from rubric_ci.calibration.labels import LabelledAnswer
from rubric_ci.model.evals import JSON
from rubric_ci.model.report import JudgeInfo
from rubric_ci.model.rubric import Criterion, MarkValue

VERSION = 1

Key: TypeAlias = tuple[str, str, str]
"""File, id of the criterion, its text: equal criteria of several cases are counted as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLabel:
    """A labelled answer, with the judge's marks and votes."""

    labelled: LabelledAnswer
    marks: Mapping[str, MarkValue]  # the judge's, by criterion id
    votes: Mapping[str, Sequence[MarkValue]]  # if there are several


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionAgreement:
    """Agreement on one criterion."""

    file: str
    id: str
    kind: str
    agreement: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Agreement of a judge with people."""

    judge: JudgeInfo
    overall: Agreement
    criteria: tuple[CriterionAgreement, ...]
    self_agreement: float | None  # over votes; None: there was one vote
    flips: float | None
    no_verdict: int  # number of labelled answers without a judgement


def calibrate(
    judged: Sequence[JudgedLabel], judge: JudgeInfo, resample: Resample, no_verdict: int = 0
) -> Calibration:
    """Compare all marks that person and judge gave; there must be at least one."""
    groups: dict[Key, list[Pair]] = {}
    kinds: dict[Key, str] = {}
    for each in judged:
        for criterion in each.labelled.spec.rubric:
            if criterion.id in each.labelled.label.marks:
                key = (each.labelled.case.file, criterion.id, _criterion_key(criterion))
                groups.setdefault(key, []).append(_pair(each, criterion))
                kinds[key] = criterion.kind
    votes = [panel for each in judged for panel in each.votes.values()]
    return Calibration(
        judge=judge,
        overall=agreement([p for pairs in groups.values() for p in pairs], resample),
        criteria=tuple(
            CriterionAgreement(
                file=key[0], id=key[1], kind=kinds[key], agreement=agreement(pairs, resample)
            )
            for key, pairs in groups.items()
        ),
        self_agreement=self_agreement(votes),
        flips=flips(votes),
        no_verdict=no_verdict,
    )


def to_json(calibration: Calibration, other: Calibration | None = None) -> JSON:
    """Return the content of `calibration.json`; `other` is the same judge in the other mode."""
    return {
        "version": VERSION,
        "judge": asdict(calibration.judge),
        **_measures(calibration),
        "criteria": [
            {"file": c.file, "id": c.id, "kind": c.kind, **_agreement(c.agreement)}
            for c in calibration.criteria
        ],
        "other_mode": {"judge": asdict(other.judge), **_measures(other)} if other else None,
    }


def calibration_warnings(
    calibration: JSON, judge: JudgeInfo, min_kappa: float | None = None
) -> tuple[str, ...]:
    """Return why a calibration does not apply to this judge, or () if it does."""
    was = calibration.get("judge", {}) if isinstance(calibration, dict) else {}
    if not was or calibration.get("version") != VERSION:
        return ("the calibration cannot be read by this version",)
    differing = [
        f"{name} was {was.get(name)!r} and is {now!r}"
        for name, now in asdict(judge).items()
        if was.get(name) != now
    ]
    if differing:
        return (f"the judge is not the one that was calibrated: {'; '.join(differing)}",)
    kappa = calibration.get("overall", {}).get("kappa")
    if min_kappa is None or (kappa is not None and kappa >= min_kappa):
        return ()
    shown = "undefined" if kappa is None else f"{kappa:.2f}"
    return (f"its agreement with people is kappa {shown}, below the required {min_kappa:g}",)


def _pair(each: JudgedLabel, criterion: Criterion) -> Pair:
    label = each.labelled.label
    case = f"{label.file}\n{label.id}\n{label.answer}"
    return pair(criterion, case, label.marks[criterion.id], each.marks[criterion.id])


def _criterion_key(criterion: Criterion) -> str:
    return f"{criterion.kind}\n{criterion.text}"


def _measures(calibration: Calibration) -> JSON:
    return {
        "overall": _agreement(calibration.overall),
        "self_agreement": _rounded(calibration.self_agreement),
        "flips": _rounded(calibration.flips),
        "silent": calibration.no_verdict,
    }


def _agreement(found: Agreement) -> JSON:
    return {
        "n": found.n,
        "accuracy": _rounded(found.accuracy),
        "kappa": _rounded(found.kappa),
        "interval": [_rounded(end) for end in found.interval] if found.interval else None,
        "leniency": _rounded(found.leniency),
        "confusion": [
            {"person": person, "judge": judge, "n": n}
            for (person, judge), n in sorted(found.confusion.items())
        ],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
