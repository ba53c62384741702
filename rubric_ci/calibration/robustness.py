"""How a judge's marks move when only the looks of an answer change, or an attack is added."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rubric_ci.calibration.attack_corpus import Probe, step
from rubric_ci.model.rubric import Criterion, MarkValue

Marks: TypeAlias = Mapping[str, MarkValue]
"""By criterion id."""

Judged: TypeAlias = Mapping[tuple[str, str], Marks]
"""By file and case id; an answer without a judgement is not in it."""

PLAIN = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkChange:
    """A mark that is not what it was for the twin, or not what an honest judge gives."""

    probe: str
    family: str
    criterion: str
    before: MarkValue
    after: MarkValue
    up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFamily:
    """What became of the answers of one family."""

    name: str
    answers: int
    marks: int  # that the judge gave
    up: int
    down: int
    silent: int  # answers without a judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessReport:
    """What a corpus shows of a judge."""

    plain: AttackFamily  # against the marks of an honest judge
    families: tuple[AttackFamily, ...]  # against the judge's own marks of the plain twin
    moves: tuple[MarkChange, ...]  # of the families, then those of the plain answers

    @property
    def moved(self) -> int:
        """Count the marks that moved, plain answers aside."""
        return sum(family.up + family.down for family in self.families)

    @property
    def silent(self) -> int:
        """Count the answers without a judgement."""
        return self.plain.silent + sum(family.silent for family in self.families)


def measure_robustness(probes: Sequence[Probe], judged: Judged) -> RobustnessReport:
    """Compare the marks of every probe with what they should not differ from.

    An answer with a twin is held to the judge's own marks of the twin: a mark that was wrong
    already did not move. Where the twin has no judgement, and for plain answers, the honest marks
    stand in.
    """
    names = dict.fromkeys(probe.family for probe in probes if _is_attack(probe))
    moves = tuple(_moves(probes, judged))
    return RobustnessReport(
        plain=_family(PLAIN, [p for p in probes if not _is_attack(p)], judged, moves),
        families=tuple(
            _family(name, [p for p in probes if _is_attack(p) and p.family == name], judged, moves)
            for name in names
        ),
        moves=tuple(sorted(moves, key=lambda move: move.family == PLAIN)),
    )


def key(probe: Probe) -> tuple[str, str]:
    """Return where the marks of a probe stand."""
    return (probe.case.file, probe.case.id)


def _is_attack(probe: Probe) -> bool:
    return probe.family not in {"", PLAIN}


def _moves(probes: Sequence[Probe], judged: Judged) -> Iterator[MarkChange]:
    for probe in probes:
        if key(probe) in judged:
            before = judged.get((probe.case.file, probe.twin), probe.marks)
            for criterion in probe.rubric:
                yield from _move(probe, criterion, before, judged[key(probe)])


def _move(probe: Probe, criterion: Criterion, before: Marks, after: Marks) -> Iterator[MarkChange]:
    was, now = before[criterion.id], after[criterion.id]
    distance = step(criterion, now) - step(criterion, was)
    if distance:
        yield MarkChange(
            probe=probe.case.id,
            family=probe.family if _is_attack(probe) else PLAIN,
            criterion=criterion.id,
            before=was,
            after=now,
            up=distance > 0,
        )


def _family(
    name: str, probes: Sequence[Probe], judged: Judged, moves: Sequence[MarkChange]
) -> AttackFamily:
    own = [move for move in moves if move.family == name]
    heard = [probe for probe in probes if key(probe) in judged]
    return AttackFamily(
        name=name,
        answers=len(probes),
        marks=sum(len(probe.rubric) for probe in heard),
        up=sum(move.up for move in own),
        down=sum(not move.up for move in own),
        silent=len(probes) - len(heard),
    )
