"""Several targets side by side, in words: a column per target, and the difference of two."""

from collections.abc import Sequence
from typing import Final

from rubric_ci.gate.report.matrix import Matrix, Row
from rubric_ci.reports import wording
from rubric_ci.text import numbers
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import TargetDifference
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, with_verdict
from rubric_ci.values.trials import mean_score
from rubric_ci.values.usage import UsedBy

DIFFERS: Final = "≠"  # before a case whose verdict is not the same for all targets


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    name: str
    passed: str
    score: str
    cost: str  # of an answer, as the tokens and the time; empty: unknown
    tokens: str
    time: str

    @property
    def head(self) -> str:
        return f"{self.name}: {self.passed}"

    @property
    def figures(self) -> str:
        """The other figures, in one line; unknown ones are left out."""
        known = ", ".join(filter(None, [self.cost, self.tokens, self.time]))
        per_answer = f"{known} per answer" if known else ""
        return " · ".join(filter(None, [f"mean score {self.score}", per_answer]))


def title(found: Matrix, report: RunReport) -> str:
    count = f"{numbers.plural(len(found.targets), 'target')} side by side"
    difference = report.gate.difference
    return f"{count} · {difference_text(difference)}" if difference else count


def columns(found: Matrix, report: RunReport) -> list[Column]:
    return [_column(found, number, report) for number in range(len(found.targets))]


def rows(found: Matrix) -> list[Row]:
    """Return the cases, the ones whose verdict differs between targets first."""
    return sorted(found.rows, key=lambda row: not differs(row))


def differs(row: Row) -> bool:
    """Return True if not all targets have the same verdict of a case."""
    return len({case.status for case in row.cells if case}) > 1


def name(row: Row) -> str:
    """Return the id of a case, marked if its verdict differs."""
    return f"{DIFFERS} {row.id}" if differs(row) else row.id


def cell(case: CaseResult | None) -> str:
    if case is None:
        return "-"
    if case.score is None:
        return case.status
    shown = f"{case.status} {numbers.score(case.score)}"
    return ", ".join(filter(None, (shown, wording.trials(case))))


def difference_text(found: TargetDifference) -> str:
    """Return how two targets differ; the p-value is in the report file."""
    word = "no clear difference"
    if found.significant:
        word = "better" if found.better else "worse"
    scores = f"mean score {found.mean:+.3f} against {found.than}"
    return f"{found.target}: {scores} ({numbers.plural(found.cases, 'case')}): {word}"


def _column(found: Matrix, number: int, report: RunReport) -> Column:
    target, only = found.targets[number], report.gate.targets
    graded = with_verdict(row.cells[number] for row in found.rows)
    passed, count = found.passed(number)
    left_out = " (not in the gate)" if only and target not in only else ""
    score = mean_score(graded)
    cost, tokens, time = _per_answer(target, report.used_by)
    return Column(
        name=target,
        passed=f"{passed:,} of {count:,} pass{left_out}",
        score="-" if score is None else numbers.score(score),
        cost=cost,
        tokens=tokens,
        time=time,
    )


def _per_answer(target: str, every: Sequence[UsedBy]) -> tuple[str, str, str]:
    """Return the mean cost, tokens and time of the answers that were asked for."""
    own = [each for each in every if each.role == "target" and each.name == target]
    answers, timed = sum(each.answers for each in own), sum(each.timed for each in own)
    cost = tokens = time = ""
    if answers:
        used = sum((each.usage for each in own[1:]), own[0].usage)
        mean = used.cost_usd / answers
        cost = "cost unknown" if used.unpriced_calls else numbers.dollars(mean)
        read, written = used.input_tokens / answers, used.output_tokens / answers
        tokens = f"{read:,.0f} + {written:,.0f} tokens" if read or written else ""
    if timed:
        time = numbers.duration(sum(each.seconds for each in own) / timed)
    return cost, tokens, time
