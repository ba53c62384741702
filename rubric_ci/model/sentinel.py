"""Remembered judgements that are asked for again, to see whether the judge moved."""

from collections.abc import Sequence

from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.mark_value import MarkValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SentinelItem:
    """One criterion of one answer: its remembered mark and the marks of later requests."""

    file: str
    id: str
    evaluator: str
    criterion: str
    text: str  # of the criterion
    answer: str
    mark: MarkValue
    repeats: tuple[MarkValue, ...] = ()  # asked when the reference was measured
    now: tuple[MarkValue, ...] = ()  # asked in this run


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentinel:
    """The judge, checked against a dozen remembered judgements."""

    items: tuple[SentinelItem, ...]
    p_value: float | None = None  # that the judge differs no more than from itself; None: not asked
    moved: bool = False

    @property
    def repeated(self) -> tuple[int, int]:
        """Return how many repeats differ from the remembered marks, of how many."""
        return _differing([(item.mark, item.repeats) for item in self.items])

    @property
    def asked(self) -> tuple[int, int]:
        """Return how many marks of this run differ from the remembered ones, of how many."""
        return _differing([(item.mark, item.now) for item in self.items])


def _differing(marks: Sequence[tuple[MarkValue, Sequence[MarkValue]]]) -> tuple[int, int]:
    each = [mark == other for mark, others in marks for other in others]
    return len(each) - sum(each), len(each)
