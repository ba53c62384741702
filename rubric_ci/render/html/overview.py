"""The overview of the page: verdict, distribution, scores and cost."""

from collections.abc import Iterator
from statistics import median

from rubric_ci.model.report import RunReport
from rubric_ci.model.results import Graded
from rubric_ci.render import heading, usage_text, wording
from rubric_ci.render.html import charts
from rubric_ci.text import numbers
from rubric_ci.text.escape import html


def overview(report: RunReport) -> Iterator[str]:
    """Yield the header and the three cards."""
    yield f'<header class="{heading.tone(report)}"><h1>{html(heading.heading(report))}</h1>'
    facts = " · ".join([wording.gate_settings(report), *wording.provenance(report)])
    yield f"<p>{html(facts)}</p></header>"
    yield '<div class="cards">'
    yield from _verdicts(report)
    yield from _scores(report)
    yield from _cost(report)
    yield "</div>"


def _verdicts(report: RunReport) -> Iterator[str]:
    counts = wording.counts(report.totals)
    yield f"<section><h2>{numbers.plural(len(report.cases), 'case')}</h2>"
    if counts:
        yield charts.bar(counts)
        words = (f'<li class="{kind}"><b>{n:,}</b> {html(word)}</li>' for kind, n, word in counts)
        yield f'<ul class="counts">{"".join(words)}</ul>'
    yield "</section>"


def _scores(report: RunReport) -> Iterator[str]:
    graded = [case for case in report.cases if isinstance(case, Graded)]
    if not graded or report.totals.score is None:
        return
    middle = numbers.score(median(case.score for case in graded))
    mean = numbers.score(report.totals.score)
    yield f"<section><h2>Mean score {mean}</h2>"
    yield charts.histogram(graded)
    yield f"<p>median {middle}</p></section>"


def _cost(report: RunReport) -> Iterator[str]:
    title, *facts = usage_text.summary(report)
    yield f"<section><h2>{html(title)}</h2><ul>"
    yield from (f"<li>{html(fact)}</li>" for fact in [*facts, report.started_at])
    yield "</ul></section>"
