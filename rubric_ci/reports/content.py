"""The content of a report, as blocks in the order of reading, for comment, summary and terminal.

The verdict, the failure that matters most, the counts and what the comparison found, a table of
what did not pass, changes to the grading, then the details of each case, notes, and one line about
the run.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.report.decision import gate_state
from rubric_ci.gate.report.matrix import Matrix, matrix
from rubric_ci.gate.waivers import waiver_report as waivers
from rubric_ci.reports import case_blocks, per_target, summary, usage_text, wording
from rubric_ci.reports.blocks import (
    Block,
    Facts,
    Folded,
    Heading,
    Line,
    Listed,
    Row,
    Span,
    Spans,
    Table,
    joined,
    place,
    plain,
)
from rubric_ci.reports.case_blocks import LONGEST, LONGEST_NAME
from rubric_ci.reports.usage_text import report_notes
from rubric_ci.text import escape, numbers
from rubric_ci.values.gate import is_held_against
from rubric_ci.values.report import RunReport, case_names
from rubric_ci.values.results import CaseResult, Graded, with_verdict

MOST_LINES: Final = 100  # of a list of notes or waivers
MOST_CHANGES: Final = 20  # to the grading
FEW_NOTES: Final = 3  # are not folded
MOST_WARNINGS: Final = 10  # a judge that misquotes does so in every case
_LONGEST_MISSES: Final = 70  # characters in a cell: two lines of a comment; the details have all


def top(report: RunReport) -> Iterator[Block]:
    """Yield the verdict, the worst failure, the counts, how cases differ, and what to do."""
    heading, counts = verdict(report)
    yield heading
    if worst := most_urgent(report):
        yield from _first_failure(worst, report)
    yield counts
    told = [*phrases.other_kind_lines(report), *phrases.limits(report)] if report.comparison else []
    if told:
        yield Listed(lines=tuple(map(plain, told)))
    if fixes := summary.fixes(report):
        yield Line(spans=(Span(text="To do: ", style="strong"), Span(text=f"{'; '.join(fixes)}.")))


def verdict(report: RunReport) -> tuple[Heading, Line]:
    """Return the verdict and the counts."""
    heading = Heading(tone=summary.tone(report), text=summary.heading(report))
    return heading, Line(spans=plain(*_counts(report)))


def _counts(report: RunReport) -> Iterator[str]:
    if report.comparison and report.comparison.compared:
        undecided = gate_state(report) == "no-verdict" or not summary.is_by_comparison(report)
        yield phrases.compared_with(report) if undecided else ""
        yield phrases.counts(report)
    else:
        yield ", ".join(f"{number:,} {word}" for _, number, word in wording.counts(report.totals))
        # A mean over targets says nothing.
        score = None if matrix(report.cases) else report.totals.score
        yield "" if score is None else f"average score {numbers.score(score)}"
    yield summary.by_tag(report)
    yield from summary.limits(report)


def most_urgent(report: RunReport) -> Graded | None:
    """Return the graded case to look at first; None: no case is held against the run."""
    held = [case for case in report.cases if is_held_against(case, report.gate)]
    found = next(iter(wording.by_attention(held, report.gate)), None)
    return found if isinstance(found, Graded) else None


def _first_failure(case: Graded, report: RunReport) -> Iterator[Block]:
    first = next(iter(wording.misses(case, report)), None)
    asked = phrases.why(case) if case.change == "broken" else phrases.asked_words(case)
    criterion = first.criterion if first else None
    if first and criterion:
        name = wording.missed_name(first, LONGEST_NAME)
        said = name if criterion.fault else f"{'Misses' if asked else 'misses'} “{name}”"
        where = place(criterion.file or case.file, criterion.line)
    else:
        said = wording.reason(case)
        where = place(case.file, first.evaluator.line if first else case.line)
    about = joined([_name(case, report), plain(". ".join(filter(None, [asked, said])))])
    yield Line(spans=(*about, Span(text=" ("), where, Span(text=")")))
    if differs := case_blocks.differs(case, LONGEST, titled=False):
        yield differs
    if criterion and (quoted := case_blocks.quoted(criterion, LONGEST)):
        yield quoted


def _name(case: CaseResult, report: RunReport) -> Spans:
    name = numbers.shortened(case_names(report)(case), LONGEST_NAME)
    return (Span(text=name, style="strong", file=case.file, line=case.line),)


def table(report: RunReport) -> Table:
    """Return a row for each case that did not pass, then one for those that did.

    It has no rows if every case passes: the counts say so.
    """
    name = case_names(report)
    compared = report.comparison is not None
    heads = ["", "Case", "Score", *(["Before → now"] if compared else []), "Misses"]
    red = [case.change == "broken" or case.status != "pass" for case in report.cases]
    shown = [case for case, is_red in zip(report.cases, red, strict=True) if is_red]
    missed = [case for case in shown if case.status not in {"errored", "skipped"}]
    rows = [_row(case, report) for case in wording.by_attention(missed, report.gate)]
    lost = [case for case in report.cases if case.status == "errored"]
    for reason, same in wording.grouped((case.reason, case) for case in lost):
        about = plain(numbers.shortened(" ".join(reason.split()), LONGEST))
        who = _name(same[0], report)
        if len(same) > 1:
            names = numbers.listed([numbers.shortened(name(c), LONGEST_NAME) for c in same])
            who = plain(f"{len(same):,} cases: {names}")
        empty = ((),) * (2 if compared else 1)
        rows.append(Row(status="errored", cells=(who, *empty, about)))
    passed = len(report.cases) - len(shown)
    if rows and passed:
        said = f"{numbers.plural(passed, 'case')} {'passes' if passed == 1 else 'pass'}"
        rows.append(Row(status="pass", cells=(plain(said), *((),) * (len(heads) - 2))))
    return Table(heads=tuple(map(plain, heads[1:])), rows=tuple(rows))


def _row(case: CaseResult, report: RunReport) -> Row:
    score = numbers.score(case.score) if case.score is not None else ""
    cells = [_name(case, report), plain(score)]
    if report.comparison:
        moved = phrases.movement(case) if case.change == "broken" else ""
        cells.append(plain(moved or phrases.in_words(case)))
    status = "fail" if case.change == "broken" and case.status == "pass" else case.status
    return Row(status=status, cells=(*cells, _misses(case, report)))


def _misses(case: CaseResult, report: RunReport) -> Spans:
    """Return the criteria and evaluators that a case misses, and its trials."""
    if not isinstance(case, Graded):
        return plain(case.reason)
    idle = "" if wording.decides(case, report.gate) else "does not decide"
    last = (case_blocks.trials(case), idle)
    found = wording.misses(case, report)
    if not any(each.criterion for each in found):
        return plain(numbers.shortened(wording.reason(case), LONGEST_NAME), *last)
    names = [wording.missed_name(each, _LONGEST_MISSES) for each in found]
    lengths = accumulate(len(name) + 2 for name in names)
    fit = max(1, sum(length <= _LONGEST_MISSES for length in lengths))
    more = f"and {len(names) - fit} more" if len(names) > fit else ""
    return plain("; ".join(names[:fit]), more, *last)


def targets(report: RunReport, most: int) -> Iterator[Table]:
    """Yield the targets side by side, if there are several."""
    if found := matrix(report.cases):
        yield _matrix(found, report, most)


def _matrix(found: Matrix, report: RunReport, most: int) -> Table:
    rows = per_target.rows(found)
    columns = per_target.columns(found, report)
    heads = [joined([plain(each.head), plain(each.figures)]) for each in columns]
    shown = [
        Row(cells=(plain(numbers.shortened(per_target.name(row), LONGEST_NAME)), *cells))
        for row in rows[:most]
        for cells in [tuple(plain(per_target.cell(case)) for case in row.cells)]
    ]
    more = len(rows) - len(shown)
    rest = [Row(cells=(plain(f"{more:,} more"), *((),) * len(columns)))] if more else []
    return Table(
        title=per_target.title(found, report), heads=(plain("Case"), *heads), rows=(*shown, *rest)
    )


def findings(report: RunReport) -> Iterator[Block]:
    """Yield changes to the grading, waivers and warnings."""
    if changes := report.grading_changes:
        lines = [
            joined([plain(summary.change_line(each)), (place(each.file, each.line),)])
            for each in changes[:MOST_CHANGES]
        ]
        if more := len(changes) - len(lines):
            lines.append(plain(f"and {more:,} more"))
        yield Listed(title=summary.changes_title(report), lines=tuple(lines))
    yield from _list("Waived, neither a pass nor a fail", [*waivers.applied_lines(report)])
    broken = [f"{where}: {text}" for where, text in waivers.problem_lines(report)]
    yield from _list("Waivers to fix", broken)
    found = wording.warnings(report.cases)
    told = numbers.counted(found, MOST_WARNINGS, lambda each: f"{each[0].id}: {each[2]}")
    yield from _list("Warnings", told)


def _list(title: str, lines: Sequence[str]) -> Iterator[Listed]:
    if lines:
        shown = numbers.counted(lines, MOST_LINES, lambda line: numbers.shortened(line, LONGEST))
        yield Listed(title=title, lines=tuple(map(plain, shown)))


def notes(report: RunReport) -> Iterator[Block]:
    """Yield what did not run and why, notes, and why cases ran; many are folded."""
    skipped = [(case.reason, case) for case in report.cases if case.outcome == "skipped"]
    lines = wording.not_run(report)
    lines += [f"{_ids(cases)} skipped: {why}" for why, cases in wording.grouped(skipped)]
    lines += report_notes(report)
    reasons = wording.reasons_to_run(report)
    if len(reasons) > 1:
        lines += [f"Ran because {why}: {_ids(cases)}" for why, cases in reasons]
    elif reasons:
        lines.append(f"Each case ran because {reasons[0][0]}")
    if len(lines) <= FEW_NOTES:
        yield from _list("Notes", lines)
    else:
        folded = tuple(_list("", lines))
        yield Folded(title=plain(numbers.plural(len(lines), "note")), blocks=folded)


def _ids(cases: Sequence[CaseResult]) -> str:
    return numbers.listed([numbers.shortened(case.id, LONGEST_NAME) for case in cases])


def end(report: RunReport) -> Facts:
    """Return the part of the suite, cost, duration, judge and commit of the run."""
    sha = report.metadata.get("head_sha", "")
    commit = [f"commit {escape.commit(sha)}"] if sha else []
    judge = usage_text.judges(report)
    facts = [
        *wording.basis(report),
        *usage_text.brief(report),
        *([judge] if judge else []),
        *commit,
    ]
    return Facts(facts=tuple(map(plain, facts)))


def detailed(report: RunReport) -> list[Graded]:
    """Return the cases with details, the most urgent first: those that did not pass."""
    missed = [case for case in report.cases if case.status != "pass"]
    return with_verdict(wording.by_attention(missed, report.gate))
