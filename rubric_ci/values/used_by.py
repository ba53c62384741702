"""Usage of each target and judge of a run, from which the next run is estimated."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.usage import Usage

Role: TypeAlias = Literal["target", "judge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedBy:
    """The usage of the answers of a target, or of the marks of a judge, in a run."""

    role: Role
    name: str  # of the target; of a judge: its model
    model: str = ""  # that answered; empty: a program
    answers: int  # with usage, that were asked for; of a judge: answers that it marked
    usage: Usage
    timed: int = 0  # answers whose duration is known
    seconds: float = 0.0  # of those, together

    def __add__(self, other: "UsedBy") -> "UsedBy":
        """Sum the counts of the same target or judge."""
        return UsedBy(
            role=self.role,
            name=self.name,
            model=self.model,
            answers=self.answers + other.answers,
            usage=self.usage + other.usage,
            timed=self.timed + other.timed,
            seconds=round(self.seconds + other.seconds, 3),
        )


class Accounts:
    """The use of each target and judge so far."""

    def __init__(self) -> None:
        self._every: list[UsedBy] = []

    def add(
        self, role: Role, name: str, usage: Usage, model: str = "", seconds: float | None = None
    ) -> None:
        """Count one answer, or one answer that was marked; nothing for a cached one."""
        used, timed = bool(usage.calls or usage.cost_usd), seconds is not None
        if name and (used or timed):
            one = UsedBy(
                role=role,
                name=name,
                model=model,
                answers=int(used),
                usage=usage,
                timed=int(timed),
                seconds=seconds or 0.0,
            )
            self._every.append(one)

    def list(self) -> tuple[UsedBy, ...]:
        """Return the sum of each, sorted."""
        return merged(self._every)


def merged(every: Iterable[UsedBy]) -> tuple[UsedBy, ...]:
    """Return the sum of each target and judge, sorted."""
    found: dict[tuple[Role, str, str], UsedBy] = {}
    for each in every:
        key = each.role, each.name, each.model
        found[key] = found[key] + each if key in found else each
    return tuple(found[key] for key in sorted(found))
