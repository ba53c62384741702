"""One case as a folded element: its verdict and reason, its texts, and the result of evaluators."""

from collections.abc import Iterator

from rubric_ci.comparison import wording as compared
from rubric_ci.model.results import CaseResult, Graded, Skipped
from rubric_ci.render import usage_text, wording
from rubric_ci.render.html import comparison
from rubric_ci.render.html.anchors import case_anchor
from rubric_ci.render.html.evaluator import evaluator_result
from rubric_ci.render.html.quotes import quoted
from rubric_ci.render.html.view import View, criteria_of
from rubric_ci.render.wording import CaseStatus
from rubric_ci.text import numbers
from rubric_ci.text.escape import html, html_prose

LABELS: dict[CaseStatus, str] = {
    "fail": "fail",
    "errored": "no verdict",
    "borderline": "borderline",
    "waived": "waived",
    "pass": "pass",
    "skipped": "skipped",
}


def case_details(case: CaseResult, view: View, *, opened: bool) -> str:
    """Return the case; its anchor is inside, so that a link to it opens it."""
    kind = wording.status(case)
    anchor = case_anchor(case.file, case.id)
    summary, body = "".join(_summary(case, anchor)), "".join(_body(case, view))
    return (
        f'<details class="case {kind}"{" open" if opened else ""}><summary>{summary}</summary>'
        f'<div id="{anchor}">{body}</div></details>'
    )


def _summary(case: CaseResult, anchor: str) -> Iterator[str]:
    kind = wording.status(case)
    yield f'<span class="badge {kind}">{LABELS[kind]}</span>'
    yield f"<b>{html(case.id)}</b>"
    yield from comparison.badges(case)
    yield from (f"<small>{html(fact)}</small>" for fact in _marks(case))
    score = numbers.score(case.score) if isinstance(case, Graded) else ""
    yield f'<span class="score">{score}</span>'
    yield f'<span class="reason">{html_prose(case.reason)}</span>'
    yield f'<a class="link" href="#{anchor}" title="Link to this case">#</a>'


def _body(case: CaseResult, view: View) -> Iterator[str]:
    yield f'<p class="meta">{" · ".join(_about(case))}</p>'
    for title, text in wording.texts(case):
        shown = _highlighted(case) if title == "Answer" else html(text)
        yield f"<h4>{title}</h4><pre>{shown}</pre>"
    yield from comparison.before(case, compared.noun(view.report))
    if not isinstance(case, Skipped):
        for evaluator in case.evaluators:
            yield from evaluator_result(evaluator, case, view)


def _highlighted(case: CaseResult) -> str:
    """Return the answer with the judge's quotes marked."""
    answer = "" if isinstance(case, Skipped) else case.answer
    parts, done = [], 0
    for start, end in quoted(answer, (criterion.evidence for _, criterion in criteria_of(case))):
        parts.append(f"{html(answer[done:start])}<mark>{html(answer[start:end])}</mark>")
        done = end
    return "".join([*parts, html(answer[done:])]) or wording.NO_ANSWER


def _marks(case: CaseResult) -> Iterator[str]:
    """Yield the facts that are visible while a case is folded."""
    if case.change != "unchanged" and (movement := compared.movement(case)):
        yield movement
    if trials := wording.trials(case):
        yield trials
    if warnings := wording.warnings([case]):
        yield f"⚠ {numbers.plural(len(warnings), 'warning')}"


def _about(case: CaseResult) -> Iterator[str]:
    yield f"<code>{html(f'{case.file}:{case.line}')}</code>"
    if not isinstance(case, Skipped):
        yield from (f"<code>{html(tag)}</code>" for tag in case.tags)
        if case.target:
            yield f"target {html(case.target)}"
    if case.why:
        yield f"ran because {html_prose(case.why)}"
    if not isinstance(case, Skipped) and case.duration_seconds is not None:
        yield numbers.duration(case.duration_seconds)
    yield from usage_text.usage_of(case)
