"""The result of one evaluator of a case, with a row per criterion."""

import json
from collections.abc import Iterator

from rubric_ci.model.results import (
    Assessed,
    CaseResult,
    CriterionResult,
    EvaluatorResult,
    Skipped,
)
from rubric_ci.render import wording
from rubric_ci.render.html.anchors import criterion_anchor
from rubric_ci.render.html.view import View
from rubric_ci.text import numbers
from rubric_ci.text.escape import html, html_prose


def evaluator_result(evaluator: EvaluatorResult, case: CaseResult, view: View) -> Iterator[str]:
    """Yield the name and score of an evaluator, then its reasons and criteria."""
    weight = "shown, not counted" if evaluator.weight == 0 else f"weight {evaluator.weight:g}"
    judge = f", judged by {html(evaluator.judge)}" if evaluator.judge else ""
    title = f"{html(evaluator.name)} <small>{html(evaluator.type)}, {weight}{judge}</small>"
    if not isinstance(evaluator, Assessed):
        yield f"<h3>{title}</h3><p class='errored'>no result: {html_prose(evaluator.reason)}</p>"
        return
    yield f'<h3>{title} <span class="score">{numbers.score(evaluator.score)}</span></h3>'
    if evaluator.reasoning:
        yield f'<p class="reasoning">{html(evaluator.reasoning)}</p>'
    yield from titled_list("Missed", evaluator.misses)
    yield from titled_list("Met", evaluator.hits)
    yield from titled_list("Warnings", evaluator.warnings)
    yield from _criteria(evaluator, case, view)
    if evaluator.details is not None:
        shown = json.dumps(evaluator.details, ensure_ascii=False, indent=2)
        yield f"<details><summary>Details</summary><pre>{html(shown)}</pre></details>"


def titled_list(title: str, entries: tuple[str, ...]) -> Iterator[str]:
    """Yield a list under its title; nothing for no entries."""
    if entries:
        items = "".join(f"<li>{html_prose(entry)}</li>" for entry in entries)
        yield f"<h4>{title}</h4><ul>{items}</ul>"


def _criteria(evaluator: Assessed, case: CaseResult, view: View) -> Iterator[str]:
    if not evaluator.criteria:
        return
    before = _marks_before(case, evaluator.name)
    yield '<table class="criteria"><thead><tr><th>Criterion</th><th>Mark</th><th>Reasoning</th>'
    yield "</tr></thead><tbody>"
    for each in evaluator.criteria:
        anchor = criterion_anchor(case.file, case.id, evaluator.name, each.id)
        yield f'<tr id="{anchor}"><td>{_name(each, anchor)}</td>'
        yield f"<td>{_mark(each, before.get(each.id), view)}</td>"
        yield f"<td>{_reasoning(each)}</td></tr>"
    yield "</tbody></table>"


def _name(criterion: CriterionResult, anchor: str) -> str:
    weight = f"weight {criterion.weight:g}"
    facts = [criterion.kind, wording.gate_of(criterion), weight, f"line {criterion.line}"]
    return (
        f'<b>{html(criterion.id)}</b> <a class="link" href="#{anchor}" '
        f'title="Link to this criterion">#</a><p>{html(criterion.text)}</p>'
        f"<small>{html(', '.join(filter(None, facts)))}</small>"
    )


def _mark(criterion: CriterionResult, before: CriterionResult | None, view: View) -> str:
    mark = wording.mark(criterion.kind, criterion.mark)
    facts = [wording.votes(criterion)]
    if before and before.mark != criterion.mark:
        facts.append(f"was {wording.mark(before.kind, before.mark)} at the base")
    shown = "".join(f"<p><small>{html(fact)}</small></p>" for fact in facts if fact)
    met = f"<p>{html(criterion.met)}</p>" if criterion.met else ""
    return f'<span class="badge {_tone(criterion, view)}">{html(mark)}</span>{met}{shown}'


def _tone(criterion: CriterionResult, view: View) -> str:
    if criterion.gated:
        return "fail"
    return "borderline" if wording.is_missed(criterion, view.report) else "pass"


def _reasoning(criterion: CriterionResult) -> str:
    quote = f"<blockquote>{html(criterion.evidence)}</blockquote>" if criterion.evidence else ""
    return f"{html(criterion.reasoning)}{quote}"


def _marks_before(case: CaseResult, evaluator: str) -> dict[str, CriterionResult]:
    """Return the marks of the same evaluator at the base, by criterion."""
    before = None if isinstance(case, Skipped) else case.before
    same = (each for each in (before.evaluators if before else ()) if each.name == evaluator)
    return {c.id: c for each in same if isinstance(each, Assessed) for c in each.criteria}
