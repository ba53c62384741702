"""What a change broke, as the first section of the HTML report, and the class of each case."""

from collections.abc import Iterator, Mapping
from typing import Final

from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Change, Graded
from rubric_ci.reports import base_wording
from rubric_ci.text.escape import html, html_prose

_TONES: Final[Mapping[Change, str]] = {
    "broken": "fail",
    "fixed": "pass",
    "failing-before": "skipped",
    "new": "waived",
    "not-comparable": "errored",
}
_TAGS: Final[Mapping[base_wording.RunKind, str]] = {
    "same": "span",
    "removed": "del",
    "added": "ins",
}


def section(report: RunReport) -> Iterator[str]:
    """Yield the section: counts, broken cases in full, and folded lists; nothing without a base."""
    if report.against is None:
        return
    yield f'<section class="base"><h2>{base_wording.TITLE}</h2>'
    base = f"{base_wording.base(report)}: {base_wording.counts(report)}"
    yield f'<p class="meta">{html_prose(base)}</p>'
    for case in base_wording.broken(report):
        yield from _broken(case)
    for title, cases in base_wording.listed(report):
        yield f"<details><summary>{title}</summary><ul>"
        yield from (f"<li><b>{html(name)}</b>{_after(': ', why)}</li>" for name, why in cases)
        yield "</ul></details>"
    yield "</section>"


def badge(case: CaseResult) -> str:
    """Return the class of a case that is not unchanged."""
    if case.change is None or case.change not in _TONES:
        return ""
    return f'<span class="badge {_TONES[case.change]}">{base_wording.TITLES[case.change]}</span>'


def answers(case: CaseResult) -> Iterator[str]:
    """Yield the word diff of both answers of a case that is not in the section."""
    if isinstance(case, Graded) and case.change in {"fixed", "failing-before"}:
        yield from _diff(case)


def _broken(case: CaseResult) -> Iterator[str]:
    verdicts = html(base_wording.verdicts(case))
    yield f'<article class="fail"><h3>{badge(case)} <b>{html(case.id)}</b>'
    yield f"<small>{verdicts}{_after(' · ', case.change_reason)}</small></h3>"
    if case.question:
        yield f"<h4>Question</h4><pre>{html(base_wording.short(case.question))}</pre>"
    if isinstance(case, Graded):
        yield from _diff(case)
    moved = [
        f"<li><b>{html(name)}</b> {html(marks)}{_after(': ', reason)}</li>"
        for name, marks, reason in base_wording.moved(case)
    ]
    yield f"<h4>Lower marks</h4><ul>{''.join(moved)}</ul>" if moved else ""
    yield "</article>"


def _diff(case: Graded) -> Iterator[str]:
    if case.before is None or case.before.answer == case.answer:
        return
    then, now = case.before.answer, case.answer
    runs = [
        f"<{_TAGS[kind]}>{html(words)}</{_TAGS[kind]}>"
        for kind, words in base_wording.word_runs(then, now)
    ]
    cut = [f"<small>{base_wording.CUT}</small>"] if base_wording.is_cut(then, now) else []
    yield f"<h4>Answer, compared with the base</h4><pre>{' '.join([*runs, *cut])}</pre>"


def _after(separator: str, text: str) -> str:
    shown = html_prose(base_wording.short(text))
    return f"{separator}{shown}" if shown else ""
