"""One case in GitHub markdown: its change, its texts, and the criteria with their reasons."""

from collections.abc import Iterator, Mapping, Sequence

from rubric_ci.gate.comparison import phrases as compared
from rubric_ci.gate.comparison import source
from rubric_ci.reports.render import comparison_section, usage_text, wording
from rubric_ci.text import escape, numbers
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import (
    Assessed,
    CaseResult,
    CriterionResult,
    Errored,
    EvaluatorResult,
    Graded,
)

LONGEST_TEXT = 400  # characters of a question, an expected outcome or an answer
MOST_FILES = 10  # images and documents of a case
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
    page: str = ""  # name of the artifact of the run that has the HTML report; empty: none

    @property
    def artifact(self) -> str:
        """The link to the artifact with the HTML report; "": there is none."""
        if not (self.run and self.page):
            return ""
        target = f"{escape.link_target(self.run)}#artifacts"
        return f"[Every answer, mark and quote]({target}): artifact {escape.code_span(self.page)}"

    def place(self, file: str, line: int, shown: str = "") -> str:
        """Return a line of a file as a link, or as plain text without a server."""
        text = shown or f"{numbers.shortened(file, 200)}:{line}"
        return self._linked(file, text, f"#L{line}")

    def file(self, file: str) -> str:
        """Return a file of the repository as a link, or as plain text without a server."""
        return self._linked(file, numbers.shortened(file, 200), "")

    def _linked(self, file: str, text: str, line: str) -> str:
        if not self.blob or ".." in file.replace("\\", "/").split("/"):
            return escape.markdown(text)  # `..` would lead to another page of the server
        target = f"{escape.link_target(self.blob)}/{escape.path_target(file)}"
        return f"[{escape.markdown(text)}]({target}{line})"


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


def folded(summary: str, blocks: Iterator[str], *, opened: bool = False) -> Iterator[str]:
    """Yield blocks behind a summary, which is HTML."""
    yield f"<details{' open' if opened else ''}><summary>{summary}</summary>"
    yield from blocks
    yield "</details>"


def details(case: Graded, detail: Detail, *, opened: bool = False) -> Iterator[str]:
    """Yield the blocks of a case: its outcome and reason in one line, the rest is folded."""
    name = escape.prose_in_html(numbers.shortened(case.id, 120))
    reason = escape.prose_in_html(numbers.shortened(wording.reason(case), 180))
    trials = wording.trials(case)
    parts = [f"<b>{name}</b>", change(case) or numbers.score(case.score), trials, reason]
    summary = f"{ICONS[wording.status(case)]} {' · '.join(filter(None, parts))}"
    yield from folded(summary, _body(case, detail), opened=opened)


def change(case: CaseResult) -> str:
    """Return how a case differs from before, for one line; empty if it is not compared."""
    if case.change is None or case.change == "unchanged":
        return ""
    # A change of the verdict says which change it is.
    return compared.movement(case) if case.change == "broken" else compared.in_words(case)


def errored(cases: Sequence[Errored], detail: Detail, most: int) -> Iterator[str]:
    """Yield the list of cases that have no verdict, a line for each reason."""
    if cases:
        yield f"**{ICONS['errored']} No verdict**, neither a pass nor a fail:"
        groups = wording.grouped((case.reason, case) for case in cases)
        lines = [_error(reason, same, detail) for reason, same in groups]
        yield "\n".join(f"- {line}" for line in numbers.counted(lines, most))


def _error(reason: str, cases: list[CaseResult], detail: Detail) -> str:
    names = numbers.listed([_name_and_place(case, detail) for case in cases])
    if len(cases) == 1:
        return f"{names}: {detail.prose(reason)}"
    return f"**{len(cases):,} cases**: {detail.prose(reason)}<br>{names}"


def _name_and_place(case: CaseResult, detail: Detail) -> str:
    name = escape.code_span(numbers.shortened(case.id, 120))
    return f"{name} ({detail.links.place(case.file, case.line, f'line {case.line}')})"


def _body(case: Graded, detail: Detail) -> Iterator[str]:
    yield _about(case, detail)
    yield from _texts(case, detail)
    yield from _marks(case, detail)


def _about(case: Graded, detail: Detail) -> str:
    target, why = escape.code_span(numbers.shortened(case.target, 120)), wording.why(case)
    parts = [
        detail.links.place(case.file, case.line),
        f"target {target}" if case.target else "",
        f"ran because {detail.prose(why)}" if why and detail.shows_why else "",
        *map(detail.prose, usage_text.other_judges(case, detail.report)),
        detail.prose(compared.short(compared.why(case))),
    ]
    # NOTE: no line may begin with a text of others: bots read `/merge`, blanks before it as well.
    return " · ".join(part for part in parts if part)


def _texts(case: Graded, detail: Detail) -> Iterator[str]:
    """Yield the beginnings of question, expected outcome and answer, or how the answer differs."""
    limit = min(LONGEST_TEXT, detail.characters)
    parts = dict(wording.beginnings(case, limit))
    shown = [_text(title, text) for title, text in parts.items() if title != "Answer"]
    if differs := comparison_section.answer_diff(case, limit):
        noun = source.noun(detail.report)
        shown.append(f"**Answer**, compared with the {noun}: {differs}")
    elif "Answer" in parts:
        shown.append(_text("Answer", parts["Answer"]))
    if files := list(_files(case, detail.links)):
        shown.append(f"**Images and documents**: {' · '.join(numbers.counted(files, MOST_FILES))}")
    if shown and detail.shows_texts:
        yield "<br>\n".join(shown)


def _files(case: Graded, links: Links) -> Iterator[str]:
    """Yield the images and documents; the commit has no files of an answer."""
    for each in case.media:
        own = escape.code_span(numbers.shortened(each.path, 200))
        yield f"{each.of} {own if each.of == 'answer' else links.file(each.path)}"


def _text(title: str, text: str) -> str:
    """Return a text of several lines below its title."""
    below = "<br>" if "\n" in text.strip() else " "
    return f"**{title}**:{below}{escape.prose_lines(text)}"


def _marks(case: Graded, detail: Detail) -> Iterator[str]:
    """Yield the missed criteria; of a case that passes, how many criteria are met."""
    missed = list(wording.missed(case, detail.report))
    shown = {evaluator.name for evaluator, _ in missed}
    items = [
        *(_criterion(case, e, c, detail) for e, c in missed),
        *(_evaluator(case, e, detail) for e in wording.not_passing(case) if e.name not in shown),
    ]
    if items:
        yield "\n".join(items)


def _criterion(
    case: Graded, evaluator: EvaluatorResult, criterion: CriterionResult, detail: Detail
) -> str:
    mark = wording.mark(criterion)
    then = comparison_section.marks_before(case, evaluator.name).get(criterion.id)
    was = wording.mark(then) if then and then.mark != criterion.mark else ""
    name = wording.own_id(criterion) if criterion.text else ""
    several = len(case.evaluators) > 1
    label = "/".join(filter(None, [evaluator.name if several else "", name]))
    facts = [mark, f"before: {was}" if was else "", wording.gate_of(criterion)]
    icon = ICONS["fail" if criterion.gated else "borderline"]
    parts = [
        f"- {icon} **{detail.prose(wording.name_of(criterion))}**",
        *(detail.prose(fact) for fact in (*facts, wording.votes(criterion)) if fact),
        escape.code_span(label) if label else "",
        detail.links.place(case.file, criterion.line, f"line {criterion.line}"),
    ]
    reasoning = [detail.prose(criterion.found)] if criterion.found else []
    source = wording.quote_source(criterion)
    quotes = [f"“{detail.prose(criterion.evidence)}”{source}"] if criterion.evidence else []
    return " · ".join(filter(None, parts)) + _quote([*reasoning, *quotes])


def _evaluator(case: Graded, evaluator: EvaluatorResult, detail: Detail) -> str:
    name = f"**{escape.markdown(evaluator.name)}** ({escape.markdown(evaluator.type)})"
    if not isinstance(evaluator, Assessed):
        return f"- {ICONS['errored']} {name} · {detail.prose(evaluator.reason)}"
    then = comparison_section.score_before(case, evaluator.name)
    score = numbers.score(evaluator.score)
    was = f"{numbers.score(then)} → " if then not in {None, evaluator.score} else ""
    head = f"- {ICONS[evaluator.verdict]} {name} · {was}{score}"
    return head + _quote([detail.prose(text) for text in wording.reasons(evaluator)])


def _quote(paragraphs: list[str]) -> str:
    """Return a block quote inside a list item; it starts on a new line."""
    return "\n  >".join(f"\n  > {paragraph}" for paragraph in paragraphs)
