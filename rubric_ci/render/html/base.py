"""Before and after: the section of what a change broke, the badges of a case, the word diff."""

from collections.abc import Iterator, Mapping
from typing import Final

from rubric_ci.comparison import comparison_text
from rubric_ci.model.report import ChangeKind, RunReport
from rubric_ci.model.results import CaseResult, Change, Errored, Graded, Skipped
from rubric_ci.render import base_wording
from rubric_ci.render.html.anchors import case_anchor
from rubric_ci.render.html.view import View
from rubric_ci.text.escape import html, html_prose

_TONES: Final[Mapping[Change, str]] = {
    "broken": "fail",
    "fixed": "pass",
    "failing-before": "skipped",
    "new": "waived",
    "not-comparable": "errored",
}
_BASELINE_TONES: Final[Mapping[ChangeKind, str]] = {
    "regressed": "fail",
    "errored": "errored",
    "unclear": "skipped",
    "flaky": "borderline",
    "improved": "pass",
    "new": "waived",
}
_TAGS: Final[Mapping[base_wording.RunKind, str]] = {
    "same": "span",
    "removed": "del",
    "added": "ins",
}


def section(report: RunReport) -> Iterator[str]:
    """Yield the classes of the cases since the base, broken ones first; nothing without a base."""
    if report.against is None:
        return
    yield f'<section class="base"><h2>{base_wording.TITLE}</h2>'
    base = f"{base_wording.base(report)}: {base_wording.counts(report)}"
    yield f"<p>{html_prose(base)}</p>"
    if broken := [_broken(case) for case in base_wording.broken(report)]:
        yield f"<ul>{''.join(broken)}</ul>"
    for title, cases in base_wording.listed(report):
        yield f"<details><summary>{title}</summary><ul>"
        yield from (f"<li><b>{html(name)}</b>{_after(': ', why)}</li>" for name, why in cases)
        yield "</ul></details>"
    yield "</section>"


def badges(case: CaseResult, view: View) -> Iterator[str]:
    """Yield what the case is since the base, and since the baseline, if that is a change."""
    if case.change is not None and case.change in _TONES:
        yield _badge(_TONES[case.change], base_wording.TITLES[case.change])
    since = view.change_of(case)
    if since and since.kind in _BASELINE_TONES:
        yield _badge(_BASELINE_TONES[since.kind], since.kind)


def verdicts(case: CaseResult, view: View) -> str:
    """Return both verdicts and scores of a case that changed; empty without a change."""
    since = view.change_of(case)
    if since and since.kind not in {"same", "new"}:
        return comparison_text.movement(since)
    if isinstance(case, Graded) and case.before and case.change != "unchanged":
        return base_wording.movement(case)
    return ""


def before(case: CaseResult, view: View) -> Iterator[str]:
    """Yield the word diff of both answers of a case that changed, and what has a lower mark."""
    if isinstance(case, Skipped):
        return
    since = view.change_of(case)
    if case.before and case.before.answer:
        yield from _diff("base", case.before.answer, case)
    elif since and since.answer_before:
        yield from _diff("baseline", since.answer_before, case)
    moved = [
        f"<li><b>{html(name)}</b> {html(marks)}{_after(': ', reason)}</li>"
        for name, marks, reason in base_wording.moved(case)
    ]
    if moved:
        yield f"<h4>Lower marks than at the base</h4><ul>{''.join(moved)}</ul>"


def _diff(name: str, then: str, case: Graded | Errored) -> Iterator[str]:
    """Yield the answer of before: as a word diff if the case changed, else folded."""
    if then == case.answer or not case.answer:
        return
    if case.change == "unchanged":
        yield f"<details><summary>Answer at the {name}</summary><pre>{html(then)}</pre></details>"
        return
    runs = [
        f"<{_TAGS[kind]}>{html(words)}</{_TAGS[kind]}>"
        for kind, words in base_wording.word_runs(then, case.answer)
    ]
    cut = base_wording.is_cut(then, case.answer)
    more = f" <small>{base_wording.CUT}</small>" if cut else ""
    yield f"<h4>Answer, compared with the {name}</h4><pre>{' '.join(runs)}{more}</pre>"


def _broken(case: CaseResult) -> str:
    anchor = case_anchor(case.file, case.id)
    facts = f"<small>{html(base_wording.verdicts(case))}</small>{_after(' · ', case.change_reason)}"
    return f'<li><a href="#{anchor}"><b>{html(case.id)}</b></a> {facts}</li>'


def _badge(tone: str, word: str) -> str:
    return f'<span class="badge {tone}">{word}</span>'


def _after(separator: str, text: str) -> str:
    shown = html_prose(base_wording.short(text))
    return f"{separator}{shown}" if shown else ""
