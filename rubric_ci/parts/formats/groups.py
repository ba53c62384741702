"""The criteria and the eval files of a report, each with its cases counted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from rubric_ci.reports import wording
from rubric_ci.reports.html_templates import shared_criterion_anchor
from rubric_ci.reports.wording import CaseStatus
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport, usage_of_sides
from rubric_ci.values.results import Assessed, CaseResult, CriterionResult, with_verdict

Judged: TypeAlias = tuple[Assessed, CriterionResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionGroup:
    """A criterion over all cases that have it: same id, same text."""

    id: str
    text: str
    cases: int
    missed: int
    mean: float  # of the normalised marks

    @property
    def anchor(self) -> str:
        """The anchor of its row, which is also its name in a filter."""
        return shared_criterion_anchor(self.id, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroup:
    file: str
    counts: Mapping[CaseStatus, int]
    mean: float | None  # None: no graded case
    cost_usd: float


def criteria_of(case: CaseResult) -> Iterator[Judged]:
    """Yield the criteria of a case that have a mark, each with its evaluator."""
    for evaluator in case.evaluators:
        if isinstance(evaluator, Assessed):
            yield from ((evaluator, criterion) for criterion in evaluator.criteria)


def criterion_groups(report: RunReport) -> list[CriterionGroup]:
    """Return the criteria of all cases, those that are missed most first."""
    marks: dict[tuple[str, str], list[Judged]] = {}
    for case in report.cases:
        for judged in criteria_of(case):
            marks.setdefault((judged[1].id, judged[1].written), []).append(judged)
    groups = [_group(name, text, each, report) for (name, text), each in marks.items()]
    return sorted(groups, key=lambda group: (-group.missed, group.mean))


def file_groups(report: RunReport) -> list[FileGroup]:
    """Return the eval files, those with the most cases without a pass first."""
    by_file = sorted(report.cases, key=lambda case: case.file)
    groups = [_file(name, [*cases]) for name, cases in groupby(by_file, lambda case: case.file)]
    return sorted(groups, key=lambda group: [-group.counts[each] for each in wording.STATUSES[:3]])


def is_missed(judged: Judged, report: RunReport) -> bool:
    evaluator, criterion = judged
    return evaluator.weight > 0 and criterion.is_missed(report.gate.passing)


def _group(name: str, text: str, marks: list[Judged], report: RunReport) -> CriterionGroup:
    values = [criterion.normalised for _, criterion in marks if criterion.applies]
    return CriterionGroup(
        id=name,
        text=text,
        cases=len(marks),
        missed=sum(is_missed(each, report) for each in marks),
        mean=sum(values) / len(values) if values else 0.0,
    )


def _file(name: str, cases: list[CaseResult]) -> FileGroup:
    scores = [case.score for case in with_verdict(cases)]
    return FileGroup(
        file=name,
        counts=Counter(case.status for case in cases),
        mean=sum(scores) / len(scores) if scores else None,
        cost_usd=sum(usage_of_sides(case).cost_usd for case in cases),
    )


def bar(counts: Sequence[tuple[CaseStatus, int, str]]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the parts of one bar of 100 for the outcomes: kind, start, width and words."""
    total, start = sum(number for _, number, _ in counts), 0.0
    for kind, number, word in counts:
        width = 100 * number / total
        yield kind, f"{start:.2f}", f"{width:.2f}", f"{number:,} {word}"
        start += width
