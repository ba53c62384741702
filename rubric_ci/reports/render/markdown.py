"""A report as GitHub markdown: verdict, comparison, cases; shortened to a size limit."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import chain
from math import inf
from typing import Literal

from rubric_ci.gate.comparison import phrases as compared
from rubric_ci.gate.report.matrix import matrix
from rubric_ci.gate.waivers import waived as waivers
from rubric_ci.reports.render import (
    comparison_section,
    per_target,
    summary,
    to_do,
    usage_text,
    wording,
)
from rubric_ci.reports.render.markdown_case import ICONS, Detail, Links, details, errored, folded
from rubric_ci.reports.render.usage_text import report_notes
from rubric_ci.text import escape, numbers
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Errored, EvaluatorResult, Graded

COMMENT_LIMIT = 65_000  # GitHub accepts 65,536 characters; the comment marker needs some
SUMMARY_LIMIT = 262_000  # a step summary takes 1 MiB, a character takes up to four bytes
COMMENT_CASES = 25  # with details in a comment, which is part of a conversation and sent by mail
COMMENT_ROWS = 100  # in a comment: cases with details and rows of tables
UNFOLDED = 10  # cases that are visible at once; the others are behind a summary
SHORTEST = 40  # characters that a passing case takes in a table; with details, it takes more
OPENED = 3  # as many cases without a pass are shown with their details
MOST_CHANGES = 20  # to the grading, in a short comment
MOST_LINES = 100  # of a list of notes or waivers
WARNINGS = 10  # shown; a judge that misquotes does so in every case
GATE_ICONS: Mapping[summary.Tone, str] = {
    "pass": "✅",
    "fail": "❌",
    "error": "⚠️",
    "nothing": "⏭️",
}
_NO_LINKS = Links()
_cell = lru_cache(maxsize=1_000)(escape.markdown)  # most passing cases have the same reason


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """How much is shown; plans are tried in order, each gives a shorter text."""

    passing: Literal["details", "rows", "none"]
    why: bool = True
    texts: bool = True  # question, expected outcome and answer of cases without a pass
    characters: int = 1500  # of a reason or a quote
    details: int  # cases without a pass that are shown in full
    rows: int  # of those, and of the ones in a table


def render(
    report: RunReport,
    *,
    limit: int = SUMMARY_LIMIT,
    most: int | None = None,
    links: Links = _NO_LINKS,
) -> str:
    """Return at most `limit` characters, and at most `most` cases with their details.

    Details of passing cases are omitted first, and the text lists what else was omitted.
    """
    cases = wording.by_attention(report.cases, report.gate)
    graded = [case for case in cases if isinstance(case, Graded)]
    page = _Page(
        report=report,
        links=links,
        failing=[case for case in graded if wording.status(case) != "pass"],
        errored=[case for case in cases if isinstance(case, Errored)],
        passing=[case for case in graded if wording.status(case) == "pass"],
        verdict=_verdict(report),
        reasons=wording.reasons_to_run(report),
        warnings=wording.warnings(report.cases),
    )
    hopeless = SHORTEST * len(page.passing) > limit
    plans = [plan for plan in _plans(page, most) if plan.passing == "none" or not hopeless]
    text = cache(partial(page.text, limit=limit))
    likely = 0 if text(plans[0]) else bisect_left(plans, True, lo=1, key=lambda p: bool(text(p)))
    texts = filter(None, map(text, plans[likely:]))
    return next(texts, None) or numbers.shortened(page.text(plans[-1]), limit)


def _plans(page: "_Page", most: int | None) -> Iterator[_Plan]:
    passing, failing = len(page.passing), len(page.failing)
    rows = max(failing, len({case.reason for case in page.errored}))
    if most is None:
        whole = _Plan(passing="details", details=failing, rows=rows)
        yield whole
        yield (whole := replace(whole, passing="rows"))
    else:
        details, rows = min(failing, most), min(rows, COMMENT_ROWS)
        whole = _Plan(passing="rows", details=details, rows=rows)
        if passing <= most:
            yield whole
    yield replace(whole, passing="none")
    yield replace(whole, passing="none", why=False)
    yield (short := replace(whole, passing="none", why=False, texts=False))
    yield (short := replace(short, characters=300))
    for fewer in _fewer(whole.details):
        yield replace(short, details=fewer)
    for fewer in _fewer(whole.rows):
        yield replace(short, characters=120, details=0, rows=fewer)


def _fewer(number: int) -> Iterator[int]:
    while number:
        number = number * 2 // 3
        yield number


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    report: RunReport
    links: Links
    failing: list[Graded]  # the cases without a pass, most urgent first
    errored: list[Errored]
    passing: list[Graded]
    # The same in every plan, and each takes a look at every case:
    verdict: tuple[str, str]
    reasons: list[tuple[str, list[CaseResult]]]  # to run
    warnings: list[tuple[CaseResult, EvaluatorResult, str]]

    def text(self, plan: _Plan, limit: float = inf) -> str:
        """Return the text of a plan; empty, and not written to its end, if it is too long."""
        sections = (
            self.verdict[:1],
            self._to_do(),
            self.verdict[1:],
            self._omitted(plan),
            per_target.table(self.report, max(plan.rows, 10)),
            comparison_section.section(self.report),
            self._grading(plan),
            self._cases(plan),
            self._waivers(plan),
            self._warnings(plan),
            self._passing(plan),
            self._not_run(plan),
            self._why(plan),
            self._bottom(),
        )
        blocks, length = [], -1
        for block in chain.from_iterable(sections):
            blocks.append(block)
            if (length := length + len(block) + 2) > limit:
                return ""
        return "\n\n".join(blocks) + "\n"

    def _to_do(self) -> Iterator[str]:
        steps = [*map(self._step, to_do.steps(self.report))]
        yield f"**To do**: {'; '.join(steps)}." if steps else to_do.nothing(self.report)

    def _step(self, step: to_do.Step) -> str:
        if step.case is None:
            return escape.prose(step.text)
        name = escape.code_span(numbers.shortened(step.case.id, 120))
        return f"open {name} ({self.links.place(step.case.file, step.case.line)}){step.text}"

    def _omitted(self, plan: _Plan) -> Iterator[str]:
        total = len(self.failing)
        parts = [
            "the list of passing cases" if plan.passing == "none" and self.passing else "",
            "why cases ran" if not plan.why and len(self.reasons) > 1 else "",
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

    def _cases(self, plan: _Plan) -> Iterator[str]:
        """Yield each case without a pass once: with details, in a table, or with its reason."""
        detail, opened = self._detail(plan), len(self.failing) <= OPENED
        shown = self.failing[: plan.details]
        decisive = [case for case in shown if wording.decides(case, self.report.gate)]
        known = [case for case in decisive if case.change == "failing-before"]
        now = [case for case in decisive if case.change != "failing-before"]
        for case in now[:UNFOLDED]:
            yield from details(case, detail, opened=opened)
        if more := now[UNFOLDED:]:
            yield from folded(f"{len(more):,} more{_counted(more)}", _all(more, detail))
        if rows := self.failing[plan.details : plan.rows]:
            yield from folded(f"{len(rows):,} more, without details", iter([self._rows(rows)]))
        yield from errored(self.errored, detail, plan.rows)
        if known:
            title = f"{len(known):,} {compared.TITLES['failing-before']}"
            yield from folded(title, _all(known, detail))
        if others := shown[len(decisive) :]:
            title = f"{len(others):,} that the gate is not about{_counted(others)}"
            yield from folded(title, _all(others, detail))

    def _detail(self, plan: _Plan) -> Detail:
        return Detail(
            report=self.report,
            links=self.links,
            characters=plan.characters,
            shows_texts=plan.texts,
            shows_why=len(self.reasons) > 1,
        )

    def _warnings(self, plan: _Plan) -> Iterator[str]:
        shown = numbers.counted(
            self.warnings,
            WARNINGS,
            lambda each: f"{_names([each[0]])}: {self._prose(each[2], plan)}",
        )
        yield from _list("Warnings", shown)

    def _grading(self, plan: _Plan) -> Iterator[str]:
        def line(change: GradingChange) -> str:
            said = self._prose(summary.change_line(change), plan)
            place = self.links.place(change.file, change.line)
            return f"{summary.change_sign(change)} {said} · {place}"

        most = max(plan.rows, MOST_CHANGES)
        changes = numbers.counted(self.report.grading_changes, most, line)
        yield from _list(summary.changes_title(self.report), changes)

    def _waivers(self, plan: _Plan) -> Iterator[str]:
        applied = [*waivers.applied_lines(self.report)]
        shown = numbers.counted(applied, MOST_LINES, lambda line: self._prose(line, plan))
        yield from _list("Waived, neither a pass nor a fail", shown)
        broken = numbers.counted(
            [*waivers.problem_lines(self.report)],
            MOST_LINES,
            lambda each: f"{escape.code_span(each[0])}: {self._prose(each[1], plan)}",
        )
        yield from _list("Waivers to fix", broken)

    def _passing(self, plan: _Plan) -> Iterator[str]:
        if not self.passing or plan.passing == "none":
            return
        opened = len(self.passing) == len(self.report.cases) <= UNFOLDED
        title = f"{ICONS['pass']} {numbers.plural(len(self.passing), 'passing case')}"
        each = _all(self.passing, self._detail(plan))
        blocks = iter([self._rows(self.passing)]) if plan.passing == "rows" else each
        yield from folded(title, blocks, opened=opened)

    def _rows(self, cases: Iterable[CaseResult]) -> str:
        changes = ["Change"] * (self.report.comparison is not None)
        head = ["Case", "Score", "Verdict", *changes, "Reason"]
        rule = [":--", "--:", ":--", *[":--"] * len(changes), ":--"]
        return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *map(self._row, cases)])

    def _row(self, case: CaseResult) -> list[str]:
        kind = wording.status(case)
        name = escape.code_span(numbers.shortened(case.id, 120), in_table=True)
        place = self.links.place(case.file, case.line)
        score = numbers.score(case.score) if isinstance(case, Graded) else "-"
        trials = wording.trials(case)
        verdict = f"{ICONS[kind]} {kind}" + (f"<br><sub>{trials}</sub>" if trials else "")
        cells = [f"{name}<br><sub>{place}</sub>", score, verdict]
        if self.report.comparison:
            cells.append(escape.markdown(compared.in_words(case)))
        return [*cells, _cell(numbers.shortened(wording.reason(case), 120))]

    def _not_run(self, plan: _Plan) -> Iterator[str]:
        skipped = [(case.reason, case) for case in self.report.cases if case.outcome == "skipped"]
        groups = wording.grouped(skipped)
        left = [f"{_names(cases)} skipped: {self._prose(why, plan)}" for why, cases in groups]
        yield from _list("Not run", [*map(escape.prose, wording.not_run(self.report)), *left])
        notes = report_notes(self.report)
        shown = numbers.counted(notes, MOST_LINES, lambda note: self._prose(note, plan))
        yield from _list("Notes", shown)

    def _why(self, plan: _Plan) -> Iterator[str]:
        if len(self.reasons) > 1 and plan.why:
            yield "<details><summary>Why these cases ran</summary>"
            yield "\n".join(
                f"- {self._prose(why, plan)} · {_names(cases)}" for why, cases in self.reasons
            )
            yield "</details>"
        elif len(self.reasons) == 1:
            yield f"Why these cases ran: {self._prose(self.reasons[0][0], plan)}"

    def _bottom(self) -> Iterator[str]:
        facts = " · ".join(escape.markdown(fact) for fact in usage_text.summary(self.report))
        run = f" · [run]({escape.link_target(self.links.run)})" if self.links.run else ""
        yield f"<sub>{facts}{run}</sub>"
        if self.links.artifact:
            yield self.links.artifact

    def _prose(self, text: str, plan: _Plan) -> str:
        return escape.prose(numbers.shortened(text, plan.characters))


def _verdict(report: RunReport) -> tuple[str, str]:
    icon = GATE_ICONS[summary.tone(report)]
    counts = [
        f"{ICONS[kind]} {number:,} {word}" for kind, number, word in wording.counts(report.totals)
    ]
    score = None if matrix(report) else report.totals.score  # a mean over targets means nothing
    mean = [] if score is None else [f"mean score **{numbers.score(score)}**"]
    settings = summary.gate_settings(report)
    facts = [*counts, *mean, settings, *map(escape.prose, wording.provenance(report))]
    suite = report.metadata.get("suite", "")  # of several in one repository
    parts = ["rubric-ci", *([suite] if suite else []), summary.heading(report)]
    return f"## {icon} {' · '.join(map(escape.prose, parts))}", " · ".join(facts)


def _list(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"**{title}**"
        yield "\n".join(f"- {line}" for line in lines)


def _names(cases: Sequence[CaseResult]) -> str:
    return numbers.listed([escape.code_span(numbers.shortened(case.id, 120)) for case in cases])


def _all(cases: Iterable[Graded], detail: Detail) -> Iterator[str]:
    for case in cases:
        yield from details(case, detail)


def _counted(cases: Sequence[CaseResult]) -> str:
    """Return how many cases have which status, if they differ: ": 28 fail, 2 borderline"."""
    counts = Counter(map(wording.status, cases))
    shown = [f"{counts[kind]:,} {kind}" for kind in wording.STATUSES if counts[kind]]
    return f": {', '.join(shown)}" if len(shown) > 1 else ""
