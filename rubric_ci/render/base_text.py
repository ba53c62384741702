"""What a change broke, fixed and left failing, as GitHub markdown with word diffs of answers."""

from collections.abc import Iterator, Mapping
from typing import Final

from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Graded
from rubric_ci.render import base_wording
from rubric_ci.text import escape

# NOTE: no line may begin with a word of an answer: bots read `/merge`, blanks before it as well.
_SIGNS: Final[Mapping[base_wording.RunKind, str]] = {"same": "=", "removed": "-", "added": "+"}


def render(report: RunReport, *, most: int, texts: bool) -> str:
    """Return the section, with `most` broken cases in full; empty without a base."""
    if report.against is None:
        return ""
    broken = base_wording.broken(report)
    base = f"{base_wording.base(report)}: {base_wording.counts(report)}."
    parts = [f"### {base_wording.TITLE}", escape.prose(base)]
    shown = broken[:most] if texts else []
    parts += [part for case in shown if isinstance(case, Graded) for part in _broken(case)]
    parts += [_line(case) for case in broken[len(shown) :]]
    parts += [_folded(title, cases, most) for title, cases in base_wording.listed(report)]
    return "\n\n".join(parts)


def word_diff(before: str, after: str) -> str:
    """Return the words that differ as lines of a diff; only the first words are compared."""
    lines = [f"{_SIGNS[kind]} {words}" for kind, words in base_wording.word_runs(before, after)]
    cut = [base_wording.CUT] if base_wording.is_cut(before, after) else []
    return "\n".join([*lines, *cut])


def _broken(case: Graded) -> Iterator[str]:
    yield _line(case)
    if case.question:
        yield f"Question: {escape.prose(base_wording.short_question(case.question))}"
    if case.before:
        yield escape.fence(word_diff(case.before.answer, case.answer), "diff")
        if lines := "\n".join(_moved(case)):
            yield lines


def _line(case: CaseResult) -> str:
    verdicts = base_wording.verdicts(case)
    why = escape.prose(base_wording.short(case.change_reason))
    facts = [f"❌ **{escape.markdown(case.id)}**", verdicts, why]
    return " · ".join(fact for fact in facts if fact)


def _moved(case: Graded) -> Iterator[str]:
    for name, marks, reason in base_wording.moved(case):
        why = f": {escape.prose(reason)}" if reason else ""
        yield f"- **{escape.markdown(name)}** {marks}{why}"


def _folded(title: str, cases: list[tuple[str, str]], most: int) -> str:
    lines = [
        f"- **{escape.markdown(name)}**" + (f" · {escape.prose(why)}" if why else "")
        for name, why in cases[:most]
    ]
    if len(cases) > most:
        lines.append(f"- and {len(cases) - most:,} more")
    body = "\n".join(lines)
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"
