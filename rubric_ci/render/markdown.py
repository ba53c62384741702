"""A report as GitHub markdown: verdict, table, missed criteria; shortened to a size limit."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from rubric_ci.comparison import wording as compared
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Errored, Graded
from rubric_ci.render import comparison, grading_changes, heading, usage_text, wording
from rubric_ci.render.markdown_case import ICONS, Detail, Links, details, errored
from rubric_ci.text import escape, numbers
from rubric_ci.waivers import report as waivers

COMMENT_LIMIT = 65_000  # GitHub accepts 65,536 characters; the comment marker needs some
SUMMARY_LIMIT = 262_000  # a step summary takes 1 MiB, a character takes up to four bytes

COMMENT_CASES = 25  # in a comment, which is part of a conversation and sent by mail
MOST_CHANGES = 20  # to the grading, in a short comment
WARNINGS = 10  # shown; a judge that misquotes does so in every case
GATE_ICONS: Mapping[heading.Tone, str] = {
    "pass": "✅",
    "fail": "❌",
    "error": "⚠️",
    "nothing": "⏭️",
}
_NO_LINKS = Links()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """How much is shown; plans are tried in order, each gives a shorter text."""

    passing: bool = True
    why: bool = True
    texts: bool = True  # question, expected outcome and answer of cases without a pass
    characters: int = 1500  # of a reason or a quote
    details: int  # cases without a pass that are shown in full
    rows: int  # of the table


def render(
    report: RunReport,
    *,
    limit: int = SUMMARY_LIMIT,
    most: int | None = None,
    links: Links = _NO_LINKS,
) -> str:
    """Return at most `limit` characters and at most `most` cases.

    Passing cases are omitted first, and the text lists what was omitted.
    """
    cases = wording.by_attention(report.cases)
    page = _Page(
        report=report,
        links=links,
        failing=[case for case in cases if wording.status(case) not in {"pass", "skipped"}],
        passing=[case for case in cases if wording.status(case) == "pass"],
        priced=any(usage_text.price(case) for case in cases),
    )
    whole, *smaller = _plans(page, most)
    text = page.text(whole)
    if len(text) <= limit:
        return text
    likely = bisect_left(smaller, True, key=lambda plan: len(page.text(plan)) <= limit)
    for plan in smaller[likely:]:
        text = page.text(plan)
        if len(text) <= limit:
            return text
    return numbers.shortened(page.text(smaller[-1]), limit)


def _plans(page: "_Page", most: int | None) -> Iterator[_Plan]:
    passing, failing = len(page.passing), len(page.failing)
    if most is not None:
        passing, failing = passing if passing <= most else 0, min(failing, most)
    yield (whole := _Plan(passing=passing > 0, details=failing, rows=failing))
    yield replace(whole, passing=False)
    yield replace(whole, passing=False, why=False)
    yield (short := replace(whole, passing=False, why=False, texts=False))
    yield (short := replace(short, characters=300))
    for fewer in _fewer(failing):
        yield replace(short, details=fewer)
    for fewer in _fewer(failing):
        yield replace(short, characters=120, details=0, rows=fewer)


def _fewer(number: int) -> Iterator[int]:
    while number:
        number = number * 2 // 3
        yield number


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    report: RunReport
    links: Links
    failing: list[CaseResult]  # the cases without a pass, most urgent first
    passing: list[CaseResult]
    priced: bool  # some case used a model

    def text(self, plan: _Plan) -> str:
        sections = (
            self._verdict(),
            self._omitted(plan),
            self._compared(plan),
            self._grading(plan),
            self._table(plan),
            self._details(plan),
            self._waivers(plan),
            self._warnings(plan),
            self._passing(plan),
            self._not_run(plan),
            self._why(plan),
            self._bottom(),
        )
        return "\n\n".join(block for section in sections for block in section) + "\n"

    def _verdict(self) -> Iterator[str]:
        icon = GATE_ICONS[heading.tone(self.report)]
        yield f"## {icon} rubric-ci · {escape.prose(heading.heading(self.report))}"
        totals = self.report.totals
        counts = [
            f"{ICONS[kind]} {number:,} {word}" for kind, number, word in wording.counts(totals)
        ]
        mean = [] if totals.score is None else [f"mean score **{numbers.score(totals.score)}**"]
        settings = wording.gate_settings(self.report)
        facts = [*counts, *mean, settings, *wording.provenance(self.report)]
        yield " · ".join(facts)

    def _omitted(self, plan: _Plan) -> Iterator[str]:
        total = len(self.failing)
        parts = [
            "the list of passing cases" if not plan.passing and self.passing else "",
            "why cases ran"
            if not plan.why and len(wording.reasons_to_run(self.report)) > 1
            else "",
            "questions, expected outcomes and answers"
            if not plan.texts and any(map(wording.texts, self.failing))
            else "",
            "the end of long reasons and quotes" if plan.characters < 1500 else "",
            f"details of {total - plan.details:,} of {total:,} cases"
            if plan.details < total
            else "",
            f"{total - plan.rows:,} rows of the table" if plan.rows < total else "",
        ]
        omitted = ", ".join(part for part in parts if part)
        if omitted:
            place = f"[run]({escape.link_target(self.links.run)})" if self.links.run else "run"
            yield (
                f"> [!NOTE]\n> Omitted to keep this short: {omitted}. "
                f"The report files of the {place} contain everything."
            )

    def _compared(self, plan: _Plan) -> Iterator[str]:
        most = min(plan.details, 10)
        if section := comparison.section(self.report, most=most, texts=plan.texts):
            yield section

    def _table(self, plan: _Plan) -> Iterator[str]:
        shown = self.failing[: plan.rows]
        if shown and (self.report.comparison or self.report.grading_changes):
            yield "### Cases"
        if shown:
            yield self._rows(shown)

    def _details(self, plan: _Plan) -> Iterator[str]:
        detail = Detail(
            report=self.report,
            links=self.links,
            characters=plan.characters,
            shows_texts=plan.texts,
            shows_why=len(wording.reasons_to_run(self.report)) > 1,
        )
        shown = self.failing[: plan.details]
        for case in shown:
            if isinstance(case, Graded):
                yield from details(case, detail)
        yield from errored([case for case in shown if isinstance(case, Errored)], detail)

    def _warnings(self, plan: _Plan) -> Iterator[str]:
        found = wording.warnings(self.report.cases)
        if found:
            shown = [f"{_names([case])}: {self._prose(text, plan)}" for case, _, text in found]
            more = [f"and {len(found) - WARNINGS:,} more"] if len(found) > WARNINGS else []
            yield from _list("Warnings", [*shown[:WARNINGS], *more])

    def _grading(self, plan: _Plan) -> Iterator[str]:
        changes = self.report.grading_changes
        shown = [
            f"{grading_changes.sign(change)} {self._prose(grading_changes.line(change), plan)} · "
            f"{self.links.place(change.file, change.line)}"
            for change in changes[: max(plan.rows, MOST_CHANGES)]
        ]
        more = [f"and {len(changes) - len(shown):,} more"] if len(changes) > len(shown) else []
        if changes:
            yield f"### {grading_changes.summary(self.report)}"
            yield _items([*shown, *more])

    def _waivers(self, plan: _Plan) -> Iterator[str]:
        applied = [self._prose(line, plan) for line in waivers.applied_lines(self.report)]
        yield from _list("Waived, neither a pass nor a fail", applied)
        broken = waivers.problem_lines(self.report)
        yield from _list(
            "Waivers to fix",
            [f"{escape.code_span(place)}: {self._prose(text, plan)}" for place, text in broken],
        )

    def _passing(self, plan: _Plan) -> Iterator[str]:
        if self.passing and plan.passing:
            opened = " open" if len(self.passing) == len(self.report.cases) <= 20 else ""
            count = numbers.plural(len(self.passing), "passing case")
            yield f"<details{opened}><summary>{ICONS['pass']} {count}</summary>"
            yield self._rows(self.passing)
            yield "</details>"

    def _rows(self, cases: Iterable[CaseResult]) -> str:
        change, priced = self.report.comparison is not None, self.priced
        head = ["Case", "Score", "Verdict", *["Change"] * change, *["Cost"] * priced]
        rule = [":--", "--:", ":--", *[":--"] * change, *["--:"] * priced]
        return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *map(self._row, cases)])

    def _row(self, case: CaseResult) -> list[str]:
        kind = wording.status(case)
        name = escape.code_span(numbers.shortened(case.id, 120), in_table=True)
        place = self.links.place(case.file, case.line)
        score = numbers.score(case.score) if isinstance(case, Graded) else "-"
        word = "no verdict" if kind == "errored" else kind
        trials = wording.trials(case)
        verdict = f"{ICONS[kind]} {word}" + (f"<br><sub>{trials}</sub>" if trials else "")
        cells = [f"{name}<br><sub>{place}</sub>", score, verdict]
        if self.report.comparison:
            cells.append(escape.markdown(compared.in_words(case)))
        return [*cells, *[usage_text.price(case)] * self.priced]

    def _not_run(self, plan: _Plan) -> Iterator[str]:
        skipped = [(case.reason, case) for case in self.report.cases if case.outcome == "skipped"]
        lines = [escape.prose(line) for line in wording.not_run(self.report)]
        for reason, cases in wording.grouped(skipped):
            lines.append(f"{_names(cases)} skipped: {self._prose(reason, plan)}")
        yield from _list("Not run", lines)
        yield from _list("Notes", [self._prose(note, plan) for note in self.report.notes])

    def _why(self, plan: _Plan) -> Iterator[str]:
        groups = wording.reasons_to_run(self.report)
        if len(groups) > 1 and plan.why:
            yield "<details><summary>Why these cases ran</summary>"
            yield "\n".join(
                f"- {self._prose(why, plan)} · {_names(cases)}" for why, cases in groups
            )
            yield "</details>"
        elif len(groups) == 1:
            yield f"Why these cases ran: {self._prose(groups[0][0], plan)}"

    def _bottom(self) -> Iterator[str]:
        facts = " · ".join(escape.markdown(fact) for fact in usage_text.summary(self.report))
        run = f" · [run]({escape.link_target(self.links.run)})" if self.links.run else ""
        yield f"<sub>{facts}{run}</sub>"

    def _prose(self, text: str, plan: _Plan) -> str:
        return escape.prose(numbers.shortened(text, plan.characters))


def _list(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"**{title}**"
        yield _items(lines)


def _items(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _names(cases: list[CaseResult]) -> str:
    return numbers.listed([escape.code_span(numbers.shortened(case.id, 120)) for case in cases])
