"""A report as one self-contained HTML page: no script, no external files, light and dark."""

import hashlib
import json
from collections.abc import Iterator, Mapping

from rubric_ci.model.report import RunReport
from rubric_ci.model.results import (
    Assessed,
    CaseResult,
    CriterionResult,
    EvaluatorResult,
    Graded,
    Skipped,
)
from rubric_ci.reports import (
    comparison_text,
    grading_changes,
    html_base,
    usage_text,
    waivers,
    wording,
)
from rubric_ci.reports.html_style import STYLE
from rubric_ci.text import numbers
from rubric_ci.text.escape import html, html_prose

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_LABELS: dict[wording.CaseStatus, str] = {
    "fail": "fail",
    "errored": "no verdict",
    "borderline": "borderline",
    "waived": "waived",
    "pass": "pass",
    "skipped": "skipped",
}


def render(report: RunReport) -> str:
    """Return the page; cases without a pass come first and are unfolded."""
    title = html(f"rubric-ci · {wording.headline(report)}")
    changes = comparison_text.by_case(report.comparison) if report.comparison else {}
    cases = wording.by_attention(report.cases)
    footer = " · ".join([*usage_text.summary(report), report.started_at])
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{title}</title>",
            f"<style>{STYLE}</style></head><body><main>",
            *_head(report),
            *html_base.section(report),
            *_grading(report),
            *_filters(report),
            *(line for case in cases for line in _case(case, report, changes)),
            *_notes(report),
            f"<footer>{html(footer)}</footer>",
            "</main></body></html>",
            "",
        ]
    )


def case_anchor(file: str, case: str) -> str:
    """Return the anchor of a case, which other pages link to."""
    name = f"{file}\n{case}".encode("utf-8", "surrogatepass")
    return f"case-{hashlib.sha256(name).hexdigest()[:12]}"


def _head(report: RunReport) -> Iterator[str]:
    score = report.totals.score
    mean = "" if score is None else f"mean score {numbers.score(score)} · "
    yield f'<header class="{report.verdict}"><h1>{html(wording.headline(report))}</h1>'
    facts = " · ".join([wording.gate(report), *wording.provenance(report)])
    yield f"<p>{mean}{html(facts)}</p></header>"


def _grading(report: RunReport) -> Iterator[str]:
    yield from _list(
        grading_changes.summary(report),
        tuple(
            f"{grading_changes.sign(each)} {grading_changes.line(each)} ({each.file}:{each.line})"
            for each in report.grading_changes
        ),
    )


def _filters(report: RunReport) -> Iterator[str]:
    counts = wording.counts(report.totals)
    if not counts:
        return
    yield '<fieldset class="filters"><legend>Show</legend>'
    yield _filter("all", f"all {len(report.cases):,}", " checked")
    for kind, number, word in counts:
        yield _filter(kind, f"{number:,} {word}", "")
    yield "</fieldset>"


def _filter(kind: str, label: str, checked: str) -> str:
    box = f'<input type="radio" name="show" id="show-{kind}"{checked}>'
    return f'<label class="{kind}">{box} {html(label)}</label>'


def _case(
    case: CaseResult, report: RunReport, changes: Mapping[tuple[str, str], str]
) -> Iterator[str]:
    kind = wording.status(case)
    urgent = kind in {"fail", "errored", "borderline"} and case.change != "failing-before"
    opened = " open" if urgent else ""
    score = numbers.score(case.score) if isinstance(case, Graded) else ""
    anchor = case_anchor(case.file, case.id)
    yield f'<details class="case {kind}" id="{anchor}"{opened}><summary>'
    yield f'<span class="badge {kind}">{_LABELS[kind]}</span>{html_base.badge(case)} '
    yield f"<b>{html(case.id)}</b>"
    yield f'<span class="score">{score}</span>'
    yield from (f"<small>{html(fact)}</small>" for fact in _marks(case, changes))
    yield f'<span class="reason">{html_prose(case.reason)}</span></summary>'
    yield f'<p class="meta">{" · ".join(_about(case))}</p>'
    yield from (f"<h3>{title}</h3><pre>{html(text)}</pre>" for title, text in wording.texts(case))
    yield from html_base.answers(case)
    if not isinstance(case, Skipped):
        for evaluator in case.evaluators:
            yield from _evaluator(evaluator, report)
    yield "</details>"


def _marks(case: CaseResult, changes: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield the facts that are visible while a case is folded."""
    if change := changes.get((case.file, case.id)):
        yield change
    if trials := wording.trials(case):
        yield trials
    if warnings := wording.warnings([case]):
        yield f"⚠ {numbers.plural(len(warnings), 'warning')}"


def _about(case: CaseResult) -> Iterator[str]:
    yield f"<code>{html(f'{case.file}:{case.line}')}</code>"
    if not isinstance(case, Skipped) and case.target:
        yield f"target {html(case.target)}"
    if case.why:
        yield f"ran because {html_prose(case.why)}"
    if not isinstance(case, Skipped) and case.duration_seconds is not None:
        yield numbers.duration(case.duration_seconds)
    yield from usage_text.usage_of(case)


def _evaluator(evaluator: EvaluatorResult, report: RunReport) -> Iterator[str]:
    weight = "shown, not counted" if evaluator.weight == 0 else f"weight {evaluator.weight:g}"
    judge = f", judged by {html(evaluator.judge)}" if evaluator.judge else ""
    title = f"{html(evaluator.name)} <small>{html(evaluator.type)}, {weight}{judge}</small>"
    if not isinstance(evaluator, Assessed):
        yield f"<h3>{title}</h3><p class=errored>no result: {html_prose(evaluator.reason)}</p>"
        return
    yield f"<h3>{title} <span class=score>{numbers.score(evaluator.score)}</span></h3>"
    yield from _paragraphs([evaluator.reasoning])
    yield from _list("Missed", evaluator.misses)
    yield from _list("Met", evaluator.hits)
    yield from _list("Warnings", evaluator.warnings)
    if evaluator.criteria:
        yield from _criteria(evaluator.criteria, report)
    if evaluator.details is not None:
        shown = json.dumps(evaluator.details, ensure_ascii=False, indent=2)
        yield f"<details><summary>Details</summary><pre>{html(shown)}</pre></details>"


def _criteria(criteria: tuple[CriterionResult, ...], report: RunReport) -> Iterator[str]:
    yield "<table><thead><tr><th>Criterion<th>Mark<th>Weight<th>Reasoning"
    yield "</thead><tbody>"
    for criterion in criteria:
        yield _criterion(criterion, report)
    yield "</tbody></table>"


def _criterion(criterion: CriterionResult, report: RunReport) -> str:
    kind = "fail" if criterion.gated else "pass"
    if not criterion.gated and wording.is_missed(criterion, report):
        kind = "borderline"
    facts = [criterion.kind, wording.gate_of(criterion), f"line {criterion.line}"]
    votes = wording.votes(criterion)
    mark = wording.mark(criterion.kind, criterion.mark)
    quote = f"<blockquote>{html(criterion.evidence)}</blockquote>" if criterion.evidence else ""
    return (
        f"<tr><td><b>{html(criterion.id)}</b><p>{html(criterion.text)}</p>"
        f"<small>{html(', '.join(fact for fact in facts if fact))}</small></td>"
        f'<td><span class="badge {kind}">{html(mark)}</span>'
        f"{f'<p><small>{html(votes)}</small></p>' if votes else ''}</td>"
        f"<td>{criterion.weight:g}</td><td>{html(criterion.reasoning)}{quote}</td></tr>"
    )


def _notes(report: RunReport) -> Iterator[str]:
    if report.comparison:
        yield from _list(
            "Compared with the baseline", tuple(comparison_text.lines(report.comparison))
        )
    yield from _list("Waived, neither a pass nor a fail", tuple(waivers.applied_lines(report)))
    broken = waivers.problem_lines(report)
    yield from _list("Waivers to fix", tuple(f"{place}: {text}" for place, text in broken))
    yield from _list("Notes", (*wording.not_run(report), *report.notes))


def _paragraphs(texts: list[str]) -> Iterator[str]:
    yield from (f'<p class="reasoning">{html(text)}</p>' for text in texts if text)


def _list(title: str, entries: tuple[str, ...]) -> Iterator[str]:
    if entries:
        items = "".join(f"<li>{html_prose(entry)}</li>" for entry in entries)
        yield f"<h4>{title}</h4><ul>{items}</ul>"
