"""Robustness of a judge: marks that change under prompt injection or a change of looks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rubric_ci.calibration.attack_corpus import Probe, rank
from rubric_ci.model.mark_value import MarkValue
from rubric_ci.model.rubric import Judged

Marks: TypeAlias = Mapping[str, MarkValue]
"""By criterion id."""

AnswerMarks: TypeAlias = Mapping[tuple[str, str], Marks]
"""By file and case id; answers without a judgement are not in it."""

CONTROLS = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkChange:
    """A mark that differs from the mark of the control, or from the expected mark."""

    probe: str
    family: str
    criterion: str
    before: MarkValue
    after: MarkValue
    up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFamily:
    """Counts of one family of answers."""

    name: str
    answers: int
    marks: int  # given by the judge
    up: int
    down: int
    no_verdict: int  # answers without a judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessReport:
    """Result of a judge on a corpus."""

    controls: AttackFamily  # compared with the expected marks
    families: tuple[AttackFamily, ...]  # compared with the judge's own marks of the control
    changes: tuple[MarkChange, ...]  # those of the families first, then those of the controls

    @property
    def changed(self) -> int:
        """Number of changed marks, without those of control answers."""
        return sum(family.up + family.down for family in self.families)

    @property
    def no_verdict(self) -> int:
        """Number of answers without a judgement."""
        return self.controls.no_verdict + sum(family.no_verdict for family in self.families)


def measure_robustness(probes: Sequence[Probe], judged: AnswerMarks) -> RobustnessReport:
    """Compare the marks of every probe with those of its control.

    The reference are the judge's own marks of the control, so a mark that is wrong without an
    attack does not count as changed. For controls themselves, and if the control has no judgement,
    the reference are the expected marks.
    """
    attacks = [probe for probe in probes if _is_attack(probe)]
    names = dict.fromkeys(probe.family for probe in attacks)
    changes = tuple(_changes(probes, judged))
    return RobustnessReport(
        controls=_family(CONTROLS, [p for p in probes if not _is_attack(p)], judged, changes),
        families=tuple(
            _family(
                name, [p for p in probes if _is_attack(p) and p.family == name], judged, changes
            )
            for name in names
        ),
        changes=tuple(sorted(changes, key=lambda change: change.family == CONTROLS)),
    )


def key(probe: Probe) -> tuple[str, str]:
    """Return the key of a probe's marks in `AnswerMarks`."""
    return (probe.case.file, probe.case.id)


def _is_attack(probe: Probe) -> bool:
    return probe.family not in {"", CONTROLS}


def _changes(probes: Sequence[Probe], judged: AnswerMarks) -> Iterator[MarkChange]:
    for probe in probes:
        if key(probe) in judged:
            before = judged.get((probe.case.file, probe.control), probe.marks)
            for criterion in probe.rubric.judged:
                yield from _change(probe, criterion, before, judged[key(probe)])


def _change(probe: Probe, criterion: Judged, before: Marks, after: Marks) -> Iterator[MarkChange]:
    was, now = before[criterion.id], after[criterion.id]
    distance = rank(criterion, now) - rank(criterion, was)
    if distance:
        yield MarkChange(
            probe=probe.case.id,
            family=probe.family if _is_attack(probe) else CONTROLS,
            criterion=criterion.id,
            before=was,
            after=now,
            up=distance > 0,
        )


def _family(
    name: str, probes: Sequence[Probe], judged: AnswerMarks, changes: Sequence[MarkChange]
) -> AttackFamily:
    own = [change for change in changes if change.family == name]
    marked = [probe for probe in probes if key(probe) in judged]
    return AttackFamily(
        name=name,
        answers=len(probes),
        marks=sum(len(probe.rubric.judged) for probe in marked),
        up=sum(change.up for change in own),
        down=sum(not change.up for change in own),
        no_verdict=len(probes) - len(marked),
    )
