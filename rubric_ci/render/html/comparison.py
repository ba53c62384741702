"""Before and after: the section of what differs, the badge of a case, the word diff."""

from collections.abc import Iterator, Mapping
from typing import Final

from rubric_ci.comparison import wording
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Change, Errored, Graded, Skipped
from rubric_ci.render import answer_changes
from rubric_ci.render.html.anchors import case_anchor
from rubric_ci.text.escape import html, html_prose

_TONES: Final[Mapping[Change, str]] = {
    "broken": "fail",
    "fixed": "pass",
    "failing-before": "skipped",
    "flaky": "borderline",
    "new": "waived",
    "not-comparable": "errored",
}
_TAGS: Final[Mapping[answer_changes.RunKind, str]] = {
    "same": "span",
    "removed": "del",
    "added": "ins",
}


def section(report: RunReport) -> Iterator[str]:
    """Yield the kinds of the cases, broken ones first; nothing without a comparison."""
    if report.comparison is None:
        return
    yield f'<section class="base"><h2>{wording.title(report)}</h2>'
    head = ": ".join(filter(None, [wording.source(report), wording.counts(report)]))
    yield f"<p>{html_prose(head)}</p>"
    if facts := [f"<li>{html_prose(line)}</li>" for line in wording.facts(report)]:
        yield f"<ul>{''.join(facts)}</ul>"
    if broken := [_broken(case) for case in wording.broken(report)]:
        yield f"<ul>{''.join(broken)}</ul>"
    for title, cases in wording.listed(report):
        yield f"<details><summary>{title}</summary><ul>"
        yield from (f"<li><b>{html(name)}</b>{_after(': ', why)}</li>" for name, why in cases)
        yield "</ul></details>"
    yield "</section>"


def badges(case: CaseResult) -> Iterator[str]:
    """Yield how the case differs, if it does."""
    if case.change is not None and case.change in _TONES:
        tone, word = _TONES[case.change], wording.TITLES[case.change]
        yield f'<span class="badge {tone}">{word}</span>'


def before(case: CaseResult, noun: str) -> Iterator[str]:
    """Yield the word diff of both answers of a case that changed, and what has a lower mark."""
    if isinstance(case, Skipped):
        return
    if case.before and case.before.answer:
        yield from _diff(noun, case.before.answer, case)
    lower = [
        f"<li><b>{html(name)}</b> {html(marks)}{_after(': ', reason)}</li>"
        for name, marks, reason in answer_changes.lower_marks(case)
    ]
    if lower:
        yield f"<h4>Lower marks than at the {noun}</h4><ul>{''.join(lower)}</ul>"


def _diff(noun: str, then: str, case: Graded | Errored) -> Iterator[str]:
    """Yield the answer of before: as a word diff if the case changed, else folded."""
    if then == case.answer or not case.answer:
        return
    if case.change == "unchanged":
        yield f"<details><summary>Answer at the {noun}</summary><pre>{html(then)}</pre></details>"
        return
    runs = [
        f"<{_TAGS[kind]}>{html(words)}</{_TAGS[kind]}>"
        for kind, words in answer_changes.word_runs(then, case.answer)
    ]
    cut = answer_changes.is_cut(then, case.answer)
    more = f" <small>{answer_changes.CUT}</small>" if cut else ""
    yield f"<h4>Answer, compared with the {noun}</h4><pre>{' '.join(runs)}{more}</pre>"


def _broken(case: CaseResult) -> str:
    anchor = case_anchor(case.file, case.id)
    facts = f"<small>{html(wording.verdicts(case))}</small>{_after(' · ', case.change_reason)}"
    return f'<li><a href="#{anchor}"><b>{html(case.id)}</b></a> {facts}</li>'


def _after(separator: str, text: str) -> str:
    shown = html_prose(wording.short(text))
    return f"{separator}{shown}" if shown else ""
