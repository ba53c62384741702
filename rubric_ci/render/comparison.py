"""What a run is compared with, in text, in GitHub markdown with word diffs, and as JSON."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rubric_ci.comparison import wording
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Graded
from rubric_ci.render import answer_changes
from rubric_ci.render.wording import brief_question
from rubric_ci.report import json_format
from rubric_ci.text import escape

# NOTE: no line may begin with a word of an answer: bots read `/merge`, blanks before it as well.
_SIGNS: Final[Mapping[answer_changes.RunKind, str]] = {"same": "=", "removed": "-", "added": "+"}
_QUESTION: Final = 300  # characters


def section(report: RunReport, *, most: int, texts: bool) -> str:
    """Return the section, with `most` broken cases in full; empty without a comparison."""
    if report.comparison is None:
        return ""
    head = ": ".join(filter(None, [wording.source(report), wording.counts(report)]))
    parts = [f"### {wording.title(report)}", escape.prose(f"{head}.")]
    if facts := "\n".join(f"- {escape.prose(line)}" for line in wording.facts(report)):
        parts.append(facts)
    broken = wording.broken(report)
    shown = broken[:most] if texts else []
    parts += [part for case in shown if isinstance(case, Graded) for part in _broken(case)]
    parts += [_line(case) for case in broken[len(shown) :]]
    parts += [_folded(title, cases, most) for title, cases in wording.listed(report)]
    return "\n\n".join(parts)


def text(report: RunReport) -> str:
    """Return a line per case that differs, then the lines for the run as a whole."""
    rows = [f"{case.file}: {case.id}: {wording.in_words(case)}" for case in _different(report)]
    gone = [f"{case.file}: {case.id}: removed" for case in report.removed]
    whole = [*rows, *gone, *wording.lines(report), wording.headline(report)]
    return "".join(f"{escape.log_line(line)}\n" for line in whole)


def markdown(report: RunReport) -> str:
    """Return a heading, the lines for the run as a whole, and a table of the cases that differ."""
    comparison = report.comparison
    moved = comparison is not None and bool(comparison.judge_moved)
    icon = "❌" if comparison and comparison.regressed else "⚠️" if moved else "✅"
    blocks = [f"## {icon} rubric-ci · {wording.headline(report)}"]
    blocks.append("\n".join(f"- {escape.prose(line)}" for line in wording.lines(report)))
    rows = [_row(case.id, case.file, wording.in_words(case)) for case in _different(report)]
    rows += [_row(case.id, case.file, "removed") for case in report.removed]
    if rows:
        blocks.append("\n".join(["| Case | File | Change |", "|:--|:--|:--|", *rows]))
    return "\n\n".join(blocks) + "\n"


def json(report: RunReport) -> str:
    """Return the comparison as JSON, with the keys of a report file."""
    return escape.json_text(json_format.render_comparison(report))


FORMATS: Final[Mapping[str, Callable[[RunReport], str]]] = {
    "text": text,
    "markdown": markdown,
    "json": json,
}


def word_diff(before: str, after: str) -> str:
    """Return the words that differ as lines of a diff; only the first words are compared."""
    runs = answer_changes.word_runs(before, after)
    lines = [f"{_SIGNS[kind]} {words}" for kind, words in runs]
    cut = [answer_changes.CUT] if answer_changes.is_cut(before, after) else []
    return "\n".join([*lines, *cut])


def _different(report: RunReport) -> list[CaseResult]:
    kinds = wording.kinds(report)
    return [case for kind in kinds if kind != "unchanged" for case in kinds[kind]]


def _row(name: str, file: str, words: str) -> str:
    cells = (escape.code_span(name, in_table=True), escape.code_span(file, in_table=True))
    return f"| {' | '.join(cells)} | {escape.markdown(words)} |"


def _broken(case: Graded) -> Iterator[str]:
    yield _line(case)
    if case.question:
        question = wording.short(brief_question(case.question, _QUESTION))
        yield f"Question: {escape.prose(question)}"
    if case.before and case.before.answer:
        yield escape.fence(word_diff(case.before.answer, case.answer), "diff")
    if lines := "\n".join(_lower(case)):
        yield lines


def _line(case: CaseResult) -> str:
    why = escape.prose(wording.short(case.change_reason))
    facts = [f"❌ **{escape.markdown(case.id)}**", wording.verdicts(case), why]
    return " · ".join(fact for fact in facts if fact)


def _lower(case: Graded) -> Iterator[str]:
    for name, marks, reason in answer_changes.lower_marks(case):
        why = f": {escape.prose(reason)}" if reason else ""
        yield f"- **{escape.markdown(name)}** {marks}{why}"


def _folded(title: str, cases: list[tuple[str, str]], most: int) -> str:
    lines = [
        f"- **{escape.markdown(name)}**" + (f" · {escape.prose(why)}" if why else "")
        for name, why in cases[:most]
    ]
    if len(cases) > most:
        lines.append(f"- and {len(cases) - most:,} more")
    body = "\n".join(lines)
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"
