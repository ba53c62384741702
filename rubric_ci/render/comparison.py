"""What a run is compared with, in text, in GitHub markdown with word diffs, and as JSON."""

from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final, Literal, TypeAlias

from rubric_ci.comparison import wording
from rubric_ci.comparison.wording import short
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import Assessed, CaseResult, EvaluatorResult, Graded
from rubric_ci.render.wording import brief_question
from rubric_ci.report import json_format
from rubric_ci.text import escape, numbers

WORDS: Final = 200  # of each answer in a word diff, which takes quadratic time
CUT: Final = f"… only the first {WORDS} words are compared"

RunKind: TypeAlias = Literal["same", "removed", "added"]

# NOTE: no line may begin with a word of an answer: bots read `/merge`, blanks before it as well.
_SIGNS: Final[Mapping[RunKind, str]] = {"same": "=", "removed": "-", "added": "+"}
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
    runs = word_runs(before, after)
    lines = [f"{_SIGNS[kind]} {words}" for kind, words in runs]
    cut = [CUT] if is_cut(before, after) else []
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
    for name, marks, reason in lower_marks(case):
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


def lower_marks(case: CaseResult) -> Iterator[tuple[str, str, str]]:
    """Yield what has a lower mark than before: its name, both marks and the reason."""
    before = case.before.evaluators if isinstance(case, Graded) and case.before else ()
    then = {key: mark for each in before for key, mark, _ in _marks(each)}
    for each in case.evaluators if before and isinstance(case, Graded) else ():
        for key, mark, reason in _marks(each):
            if key in then and mark < then[key]:
                marks = f"{numbers.score(then[key])} → {numbers.score(mark)}"
                yield key[1] or key[0], marks, short(reason)


def word_runs(before: str, after: str) -> Iterator[tuple[RunKind, str]]:
    """Yield runs of words that both answers have or one of them; only of the first words."""
    then, now = before.split()[:WORDS], after.split()[:WORDS]
    for tag, a, b, c, d in SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", " ".join(now[c:d])
            continue
        if a < b:
            yield "removed", " ".join(then[a:b])
        if c < d:
            yield "added", " ".join(now[c:d])


def is_cut(before: str, after: str) -> bool:
    """Return True if an answer has more words than a word diff compares."""
    return len(before.split()) > WORDS or len(after.split()) > WORDS


def _marks(evaluator: EvaluatorResult) -> Iterator[tuple[tuple[str, str], float, str]]:
    """Yield the marks of the criteria, or the score of an evaluator without criteria."""
    if not isinstance(evaluator, Assessed):
        return
    for criterion in evaluator.criteria:
        yield (evaluator.name, criterion.id), criterion.normalised, criterion.reasoning
    if not evaluator.criteria:
        yield (evaluator.name, ""), evaluator.score, evaluator.reasoning
