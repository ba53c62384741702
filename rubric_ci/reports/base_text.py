"""What a change broke, fixed and left failing, as GitHub markdown with word diffs of answers."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from rubric_ci.model.report import Against, RunReport
from rubric_ci.model.results import Assessed, BaseResult, CaseResult, Errored, Graded
from rubric_ci.text import escape, numbers

WORDS: Final = 200  # of each answer in a word diff, which takes quadratic time
QUESTION: Final = 300  # characters
REASON: Final = 300
_TITLES: Final = {
    "broken": "broken by this change",
    "fixed": "fixed",
    "failing-before": "failing before as well",
    "unchanged": "unchanged",
    "new": "new",
    "not-comparable": "not comparable",
}


def render(report: RunReport, *, most: int, texts: bool) -> str:
    """Return the section, with `most` broken cases in full; empty without a base."""
    if report.against is None:
        return ""
    broken = [case for case in report.cases if case.change == "broken"]
    parts = ["### Compared with the base", _base(report.against, report)]
    shown = broken[:most] if texts else []
    parts += [part for case in shown if isinstance(case, Graded) for part in _broken(case)]
    parts += [_line(case) for case in broken[len(shown) :]]
    for change in ("not-comparable", "failing-before"):
        parts += _folded(change, [case for case in report.cases if case.change == change], most)
    return "\n\n".join(parts)


def word_diff(before: str, after: str) -> str:
    """Return the words that differ as lines of a diff; only the first words are compared."""
    then, now = before.split(), after.split()
    lines = list(_runs(then[:WORDS], now[:WORDS]))
    if len(then) > WORDS or len(now) > WORDS:
        lines.append(f"  … only the first {WORDS} words are compared")
    return "\n".join(lines)


def _runs(then: list[str], now: list[str]) -> Iterator[str]:
    for tag, a, b, c, d in SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if tag == "equal":
            yield f"  {' '.join(now[c:d])}"
            continue
        if a < b:
            yield f"- {' '.join(then[a:b])}"
        if c < d:
            yield f"+ {' '.join(now[c:d])}"


def _base(against: Against, report: RunReport) -> str:
    found = [case.change for case in report.cases]
    counts = [f"{found.count(key)} {word}" for key, word in _TITLES.items() if key in found]
    if report.removed:
        counts.append(f"{len(report.removed)} removed")
    place = f"Base {escape.code_span(against.commit[:10])}" if against.commit else "No base"
    age = f" of {against.committed_at[:10]}" if against.committed_at else ""
    return f"{place}{age}: {', '.join(counts) or 'no case'}."


def _broken(case: Graded) -> Iterator[str]:
    yield _line(case)
    yield f"Question: {escape.prose(_short(case.question, QUESTION))}"
    if case.before:
        yield escape.fence(word_diff(case.before.answer, case.answer), "diff")
        yield from (f"- {line}" for line in _moved(case, case.before))


def _line(case: CaseResult) -> str:
    why = f": {escape.prose(_short(case.change_reason, REASON))}" if case.change_reason else ""
    return f"❌ **{escape.markdown(case.id)}**{_verdicts(case)}{why}"


def _verdicts(case: CaseResult) -> str:
    if isinstance(case, Graded) and case.before and case.before.verdict:
        return f" {case.before.verdict} → {case.verdict}"
    return ""


def _moved(case: Graded, before: BaseResult) -> Iterator[str]:
    """Yield each criterion whose mark is lower than at the base, with the judge's reason."""
    then = {
        (each.name, criterion.id): criterion
        for each in before.evaluators
        if isinstance(each, Assessed)
        for criterion in each.criteria
    }
    for each in case.evaluators:
        for criterion in each.criteria if isinstance(each, Assessed) else ():
            was = then.get((each.name, criterion.id))
            if was and criterion.normalised < was.normalised:
                marks = f"{numbers.score(was.normalised)} → {numbers.score(criterion.normalised)}"
                reason = escape.prose(_short(criterion.reasoning, REASON))
                yield f"{escape.markdown(criterion.id)} {marks}: {reason}"


def _folded(change: str, cases: list[CaseResult], most: int) -> list[str]:
    if not cases:
        return []
    lines = [
        f"- {escape.markdown(case.id)}: {escape.prose(_short(_why(case), REASON))}"
        for case in cases[:most]
    ]
    if len(cases) > most:
        lines.append(f"- and {len(cases) - most} more")
    title = f"{len(cases)} {_TITLES[change]}"
    body = "\n".join(lines)
    return [f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"]


def _why(case: CaseResult) -> str:
    reason = case.reason if isinstance(case, Graded | Errored) else ""
    return case.change_reason or reason


def _short(text: str, most: int) -> str:
    return numbers.shortened(" ".join(text.split()), most)
