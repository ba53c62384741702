"""One case in GitHub markdown: missed criteria with the judge's reasoning and their lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rubric_ci.model.report import RunReport
from rubric_ci.model.results import (
    Assessed,
    CaseResult,
    CriterionResult,
    Errored,
    EvaluatorResult,
    Graded,
)
from rubric_ci.render import usage_text, wording
from rubric_ci.text import escape, numbers

LONGEST_TEXT = 400  # characters of a question, an expected outcome or an answer
ICONS: Mapping[wording.CaseStatus, str] = {
    "pass": "✅",
    "borderline": "🟡",
    "fail": "❌",
    "errored": "⚠️",
    "waived": "⏸️",
    "skipped": "⏭️",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Link targets on the server; empty: plain text. Never taken from the report itself."""

    blob: str = ""  # such as https://github.com/o/r/blob/<sha>
    run: str = ""  # the page of the workflow run

    def place(self, file: str, line: int, shown: str = "") -> str:
        """Return a line of a file as a link, or as plain text without a server."""
        text = shown or f"{numbers.shortened(file, 200)}:{line}"
        if not self.blob or ".." in file.replace("\\", "/").split("/"):
            return escape.markdown(text)  # `..` would lead to another page of the server
        target = f"{escape.link_target(self.blob)}/{escape.path_target(file)}"
        return f"[{escape.markdown(text)}]({target}#L{line})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """Options for the details of a case."""

    report: RunReport
    links: Links
    characters: int  # of a reason or a quote
    shows_texts: bool  # question, expected outcome and answer
    shows_why: bool  # the reason to run is shown: it differs between cases

    def prose(self, text: str) -> str:
        """Escape a text and cut it to size."""
        return escape.prose(numbers.shortened(text, self.characters))


def details(case: Graded, detail: Detail) -> Iterator[str]:
    """Yield the blocks of a folded section: missed criteria and their reasons."""
    name = escape.prose_in_html(numbers.shortened(case.id, 120))
    reason = escape.prose_in_html(numbers.shortened(case.reason, 200))
    score = numbers.score(case.score)
    icon = ICONS[wording.status(case)]
    yield f"<details><summary>{icon} <b>{name}</b> · {score} · {reason}</summary>"
    yield _about(case, detail)
    yield from _texts(case, detail)
    yield from _missed(case, detail)
    yield "</details>"


def errored(cases: list[Errored], detail: Detail) -> Iterator[str]:
    """Yield the list of cases that have no verdict, grouped by their reasons."""
    if cases:
        yield f"**{ICONS['errored']} No verdict**, neither a pass nor a fail:"
        groups = wording.grouped((case.reason, case) for case in cases)
        yield "\n".join(f"- {_error(reason, same, detail)}" for reason, same in groups)


def _error(reason: str, cases: list[CaseResult], detail: Detail) -> str:
    names = numbers.listed([_name_and_place(case, detail) for case in cases])
    if len(cases) == 1:
        return f"{names}: {detail.prose(reason)}"
    return f"**{len(cases):,} cases**: {detail.prose(reason)}<br>{names}"


def _name_and_place(case: CaseResult, detail: Detail) -> str:
    name = escape.code_span(numbers.shortened(case.id, 120))
    return f"{name} ({detail.links.place(case.file, case.line, f'line {case.line}')})"


def _about(case: Graded, detail: Detail) -> str:
    target = escape.code_span(numbers.shortened(case.target, 120))
    parts = [
        detail.links.place(case.file, case.line),
        f"target {target}" if case.target else "",
        f"ran because {detail.prose(case.why)}" if case.why and detail.shows_why else "",
        *map(detail.prose, usage_text.other_judges(case, detail.report)),
        *usage_text.usage_of(case),
    ]
    return " · ".join(part for part in parts if part)


def _texts(case: Graded, detail: Detail) -> Iterator[str]:
    """Yield the beginnings of question, expected outcome and answer."""
    limit = min(LONGEST_TEXT, detail.characters)
    parts = [_text(title, text) for title, text in wording.beginnings(case, limit)]
    if parts and detail.shows_texts:
        yield "<br>\n".join(parts)


def _text(title: str, text: str) -> str:
    """Return a text of several lines below its title."""
    below = "<br>" if "\n" in text.strip() else " "
    return f"**{title}**:{below}{escape.prose_lines(text)}"


def _missed(case: Graded, detail: Detail) -> Iterator[str]:
    missed = list(wording.missed(case, detail.report))
    shown = {evaluator.name for evaluator, _ in missed}
    several = len(case.evaluators) > 1
    items = [
        *(_criterion(case, e.name if several else "", c, detail) for e, c in missed),
        *(_evaluator(e, detail) for e in wording.not_passing(case) if e.name not in shown),
    ]
    if items:
        yield "\n".join(items)


def _criterion(case: Graded, evaluator: str, criterion: CriterionResult, detail: Detail) -> str:
    label = f"{evaluator} / {criterion.id}" if evaluator else criterion.id
    mark = wording.mark(criterion.kind, criterion.mark)
    facts = (mark, wording.gate_of(criterion), wording.votes(criterion))
    parts = [
        f"- {ICONS['fail' if criterion.gated else 'borderline']} **{escape.markdown(label)}**",
        *(detail.prose(fact) for fact in facts if fact),
        detail.links.place(case.file, criterion.line, f"line {criterion.line}"),
    ]
    text = f"<br>{detail.prose(criterion.text)}" if criterion.text else ""
    reasoning = [detail.prose(criterion.reasoning)] if criterion.reasoning else []
    quotes = [f"“{detail.prose(criterion.evidence)}”"] if criterion.evidence else []
    return " · ".join(parts) + text + _quote([*reasoning, *quotes])


def _evaluator(evaluator: EvaluatorResult, detail: Detail) -> str:
    name = f"**{escape.markdown(evaluator.name)}** ({escape.markdown(evaluator.type)})"
    if not isinstance(evaluator, Assessed):
        return f"- {ICONS['errored']} {name} · {detail.prose(evaluator.reason)}"
    head = f"- {ICONS[evaluator.verdict]} {name} · {numbers.score(evaluator.score)}"
    texts = [evaluator.reasoning, *evaluator.misses]
    return head + _quote([detail.prose(text) for text in texts if text])


def _quote(paragraphs: list[str]) -> str:
    """Return a block quote inside a list item; it starts on a line of its own."""
    return "\n  >".join(f"\n  > {paragraph}" for paragraph in paragraphs)
