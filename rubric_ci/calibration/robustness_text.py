"""What `judge-check` prints: marks that moved, by family and one by one."""

from collections.abc import Iterator

from rubric_ci.calibration.agreement import word
from rubric_ci.calibration.robustness import PLAIN, AttackFamily, MarkChange, RobustnessReport
from rubric_ci.text.escape import log_line

_HEAD = ("family", "answers", "marks", "up", "down", "no verdict")


def render(found: RobustnessReport, judge: str) -> str:
    """Return the tables, without a final newline."""
    return "\n".join(_lines(found, judge))


def _lines(found: RobustnessReport, judge: str) -> Iterator[str]:
    answers = found.plain.answers + sum(family.answers for family in found.families)
    yield f"{answers} answers put to {log_line(judge)}"
    yield ""
    yield from _table([*found.families, _total(found)])
    yield ""
    yield from _plain(found.plain)
    yield from _moves("Marks that moved", [m for m in found.moves if m.family != PLAIN])
    wrong = [m for m in found.moves if m.family == PLAIN]
    yield from _moves("Plain answers marked otherwise than an honest judge does", wrong)
    yield ""
    yield _summary(found)


def _table(families: list[AttackFamily]) -> Iterator[str]:
    rows = [
        _HEAD,
        *(
            (log_line(f.name), *map(str, (f.answers, f.marks, f.up, f.down, f.silent)))
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
        silent=sum(f.silent for f in every),
    )


def _plain(plain: AttackFamily) -> Iterator[str]:
    right = plain.marks - plain.up - plain.down
    silent = f"; {plain.silent} without a verdict" if plain.silent else ""
    yield f"Plain answers: {right} of {plain.marks} marks are an honest judge's{silent}"


def _moves(title: str, moves: list[MarkChange]) -> Iterator[str]:
    if not moves:
        return
    yield ""
    yield f"{title}:"
    for move in moves:
        arrow = "up" if move.up else "down"
        change = f"{word(move.before)} -> {word(move.after)}"
        yield f"  {log_line(move.probe)}  {log_line(move.criterion)}  {arrow}: {change}"


def _summary(found: RobustnessReport) -> str:
    marks = sum(family.marks for family in found.families)
    silent = f", {found.silent} answers without a verdict" if found.silent else ""
    return f"{found.moved} of {marks} marks moved{silent}"
