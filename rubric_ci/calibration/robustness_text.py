"""Text that `judge attack` prints: changed marks, by family and one by one."""

from collections.abc import Iterator

from rubric_ci.calibration.agreement import mark_text
from rubric_ci.calibration.robustness import CONTROLS, AttackFamily, MarkChange, RobustnessReport
from rubric_ci.text.escape import log_line

_HEAD = ("family", "answers", "marks", "up", "down", "no verdict")


def render(found: RobustnessReport, judge: str) -> str:
    """Return the text, without a final newline."""
    return "\n".join(_lines(found, judge))


def _lines(found: RobustnessReport, judge: str) -> Iterator[str]:
    answers = found.controls.answers + sum(family.answers for family in found.families)
    yield f"{answers:,} answers judged by {log_line(judge)}"
    yield ""
    yield from _table([*found.families, _total(found)])
    yield ""
    yield from _controls(found.controls)
    yield from _changes("Changed marks", [c for c in found.changes if c.family != CONTROLS])
    wrong = [c for c in found.changes if c.family == CONTROLS]
    yield from _changes("Control answers with unexpected marks", wrong)
    yield ""
    yield _summary(found)


def _table(families: list[AttackFamily]) -> Iterator[str]:
    rows = [
        _HEAD,
        *(
            (log_line(f.name), *map(str, (f.answers, f.marks, f.up, f.down, f.no_verdict)))
            for f in families
        ),
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    for row in rows:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join((row[0].ljust(widths[0]), *cells))


def _total(found: RobustnessReport) -> AttackFamily:
    every = found.families
    return AttackFamily(
        name="all",
        answers=sum(f.answers for f in every),
        marks=sum(f.marks for f in every),
        up=sum(f.up for f in every),
        down=sum(f.down for f in every),
        no_verdict=sum(f.no_verdict for f in every),
    )


def _controls(controls: AttackFamily) -> Iterator[str]:
    right = controls.marks - controls.up - controls.down
    missing = f"; {controls.no_verdict} without a verdict" if controls.no_verdict else ""
    yield f"Control answers: {right} of {controls.marks} marks as expected{missing}"


def _changes(title: str, changes: list[MarkChange]) -> Iterator[str]:
    if not changes:
        return
    yield ""
    yield f"{title}:"
    for change in changes:
        arrow = "up" if change.up else "down"
        marks = f"{mark_text(change.before)} -> {mark_text(change.after)}"
        yield f"  {log_line(change.probe)}  {log_line(change.criterion)}  {arrow}: {marks}"


def _summary(found: RobustnessReport) -> str:
    marks = sum(family.marks for family in found.families)
    missing = f", {found.no_verdict} answers without a verdict" if found.no_verdict else ""
    return f"{found.changed} of {marks} marks changed{missing}"
