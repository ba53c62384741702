"""A report as workflow commands: each missed criterion at its line, within GitHub's caps."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rubric_ci.gate.waivers import waiver_report as waivers
from rubric_ci.reports import summary, wording
from rubric_ci.text import numbers
from rubric_ci.text.escape import PER_LEVEL, command, within_cap
from rubric_ci.values.changes import CASE_EDITED, NEW_CASE
from rubric_ci.values.diagnostics import Annotation, AnnotationLevel
from rubric_ci.values.formats_and_defaults import WAIVERS
from rubric_ci.values.gate import is_held_against
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import (
    Assessed,
    CaseResult,
    CriterionResult,
    Errored,
    EvaluatorResult,
    Graded,
    Skipped,
)

LEVELS: tuple[AnnotationLevel, ...] = ("error", "warning", "notice")


def render(report: RunReport) -> str:
    """Return one command per line, most severe first; the last of a level may count the rest."""
    found = annotations(report)
    about = _about(report)
    errors, warnings = (_capped(found, level, PER_LEVEL) for level in ("error", "warning"))
    notices = _capped(found, "notice", PER_LEVEL - len(about))
    lines = (*map(_command, (*errors, *warnings)), *about, *map(_command, notices))
    return "".join(f"{line}\n" for line in lines)


def annotations(report: RunReport) -> list[Annotation]:
    """Return the annotations of a report, most severe first; of those, changed cases first.

    GitHub shows few annotations per step, and only those on changed lines next to the code.
    """
    in_change = (NEW_CASE, CASE_EDITED)
    cases = wording.by_attention(report.cases)
    cases.sort(key=lambda case: not case.why.startswith(in_change))
    found = [entry for case in cases for entry in _case_annotations(case, report)]
    found += [*_waiver_annotations(report), *_grading_annotations(report)]
    return sorted(found, key=lambda entry: LEVELS.index(entry.level))


def _case_annotations(case: CaseResult, report: RunReport) -> Iterator[Annotation]:
    match case:
        case Graded():
            yield from _graded_annotations(case, report)
            yield from _warning_annotations(case)
        case Errored():
            yield _at(case, "error", "no-verdict")
        case Skipped():
            yield _at(case, "notice", "skipped")


def _graded_annotations(case: Graded, report: RunReport) -> Iterator[Annotation]:
    if case.verdict == "pass":
        return
    if case.status == "waived":
        yield from _waived_annotations(case, report)
        return
    level: AnnotationLevel = "error" if is_held_against(case, report.gate) else "warning"
    misses = wording.misses(case, report)
    for miss in misses:
        if criterion := miss.criterion:
            decisive = criterion.gated or not case.gated_by
            yield _at_criterion(case, criterion, level if decisive else "warning")
        else:
            yield _at_evaluator(case, miss.evaluator, level)
    if not misses:
        yield _at(case, level, case.verdict)


def _waived_annotations(case: Graded, report: RunReport) -> Iterator[Annotation]:
    message = "\n".join(waivers.excuses(case, report))
    lines = [
        c.line
        for e in case.evaluators
        if isinstance(e, Assessed)
        for c in e.criteria
        if c.id in case.waived and not c.file
    ]
    yield _at(case, "notice", "waived", message=message, line=min(lines, default=case.line))


def _waiver_annotations(report: RunReport) -> Iterator[Annotation]:
    for waiver, text in waivers.problems(report):
        yield Annotation(
            level="notice" if waiver.state == "unneeded" else "warning",
            rule="waiver",
            subject=(waiver.case, waiver.criterion),
            file=WAIVERS,
            line=waiver.line,
            title=f"{numbers.shortened(waiver.case, 100)}: waiver {waiver.state}",
            message=text,
        )


def _grading_annotations(report: RunReport) -> Iterator[Annotation]:
    gate = report.gate
    for change in report.grading_changes:
        if change.direction == "stronger":
            continue
        if change.direction == "changed" and gate.on_changed_grading == "note":
            continue
        weaker = change.direction == "weaker" and gate.on_weaker_grading == "fail"
        yield Annotation(
            level="error" if weaker or gate.on_changed_grading == "fail" else "warning",
            rule=f"{change.direction}-grading",
            subject=(change.kind, change.about),
            file=change.file,
            line=change.line,
            title=f"{change.direction} grading: {numbers.shortened(change.about, 100)}",
            message=summary.change_line(change),
        )


def _warning_annotations(case: Graded) -> Iterator[Annotation]:
    for _, evaluator, warning in wording.warnings([case]):
        part = (evaluator.name, warning)
        yield _at(case, "warning", "warning", *part, message=warning, line=evaluator.line)


def _at_criterion(case: Graded, criterion: CriterionResult, level: AnnotationLevel) -> Annotation:
    mark = wording.mark(criterion)
    facts = [fact for fact in (mark, wording.gate_of(criterion), wording.votes(criterion)) if fact]
    lines = [f"{criterion.id}: {', '.join(facts)}", criterion.text, criterion.found]
    source = wording.quote_source(criterion)
    quote = f"Quote{source}: {criterion.evidence}" if criterion.evidence else ""
    found = _at_part(case, level, criterion.id, [*lines, quote], criterion.line)
    return replace(found, file=criterion.file or case.file)


def _at_evaluator(case: Graded, evaluator: EvaluatorResult, level: AnnotationLevel) -> Annotation:
    if evaluator.outcome == "assessed":
        reasons = wording.reasons(evaluator)
        head = f"{evaluator.name}: {numbers.score(evaluator.score)}"
    else:
        reasons = [evaluator.reason]
        head = f"{evaluator.name}: no result"
    return _at_part(case, level, evaluator.name, [head, *reasons], evaluator.line)


def _at_part(
    case: Graded, level: AnnotationLevel, part: str, lines: Iterable[str], line: int
) -> Annotation:
    message = "\n".join(filter(None, lines))
    word = f"{case.verdict} {numbers.score(case.score)}"
    return _at(case, level, case.verdict, part, message=message, line=line, word=word)


def _at(
    case: CaseResult,
    level: AnnotationLevel,
    rule: str,
    *part: str,
    message: str | None = None,
    line: int | None = None,
    word: str = "",
) -> Annotation:
    """Return an annotation of a case, or of a part at another line with its own message."""
    return Annotation(
        level=level,
        rule=rule,
        subject=(case.id, *part),
        file=case.file,
        line=case.line if line is None else line,
        title=f"{numbers.shortened(case.id, 100)}: {word or rule.replace('-', ' ')}",
        message=case.reason if message is None else message,
    )


def _about(report: RunReport) -> list[str]:
    """Return one notice about the run as a whole: the reason for its verdict, and its notes."""
    provenance = "; ".join(wording.basis(report))
    message = "\n".join(line for line in (provenance, *report.notes) if line)
    return [command("notice", message, {"title": "rubric-ci"})] if message else []


def _capped(entries: Iterable[Annotation], level: AnnotationLevel, room: int) -> list[Annotation]:
    of_level = [entry for entry in entries if entry.level == level]
    shown, beyond = within_cap(of_level, room)
    if not beyond:
        return of_level
    more = f"rubric-ci: {numbers.plural(len(beyond), f'more {level}')}"
    message = f"GitHub shows {PER_LEVEL} per level; the summary and the report files list all."
    return [*shown, replace(beyond[0], title=more, message=message)]


def _command(entry: Annotation) -> str:
    properties: dict[str, str | int] = {
        "file": entry.file,
        "line": entry.line,
        "title": entry.title,
    }
    return command(entry.level, entry.message, properties)
