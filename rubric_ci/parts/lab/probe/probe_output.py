"""The figures of a probe as text, as `probe.json`, and as one diagnostic per finding."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from rubric_ci.files.parsing import typed_json
from rubric_ci.files.parsing.typed_json import Mismatch
from rubric_ci.parts.lab.probe.figures import (
    CriterionFigures,
    Measured,
    Mutation,
    Share,
    Word,
    families,
    figures,
)
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.diagnostics import Diagnostic, Severity, Span
from rubric_ci.values.report import ProbedCriterion, RunReport
from rubric_ci.values.results import Assessed, with_verdict

VERSION: Final = 1
SHOWN: Final = 3  # wrongly marked variants per criterion

MEANINGS: Final[dict[Word, str]] = {
    "sound": "it notices what its quotes lose, and nothing else",
    "never-fails": "no variant failed it, not even without the text that it quotes",
    "misses-some": "some variants without the quoted text pass",
    "jumpy": "its mark changes where only the form of the answer does",
    "untested": "too few variants had to be noticed",
}
FINDINGS: Final[frozenset[Word]] = frozenset(MEANINGS) - {"sound", "untested"}


def text(found: Measured) -> str:
    """Return the criteria with their wrongly marked variants, and the families that have some."""
    return "\n".join(_lines(found))


def to_json(found: Measured, judge: str) -> str:
    """Return the content of `probe.json`."""
    overall = figures(found.mutations)
    data = {
        "version": VERSION,
        "judge": judge,
        "answers": found.answers,
        "variants": found.variants,
        "not_judged": found.not_judged,
        "criteria": [_criterion(each) for each in found.criteria],
        "families": [
            {"family": name, "must_notice": must, "right": _numbers(share)}
            for must in (True, False)
            for name, share in families([m for m in found.mutations if m.must_notice is must])
        ],
        "all": {
            "noticed": _numbers(overall[0]),
            "unmoved": _numbers(overall[1]),
            "word": overall[2],
        },
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    version: Literal[1]
    criteria: tuple[ProbedCriterion, ...]


def with_figures(report: RunReport, text: str, name: str) -> RunReport:
    """Return the report with the figures of its criteria in the text of a `probe.json`."""
    try:
        data: _File = typed_json.value_of(_File, text)
    except Mismatch as error:
        note = f"{name} is not shown: {error}; `rubric-ci probe` writes it again"
        return replace(report, notes=(*report.notes, note))
    known = {
        (case.file, name, criterion.id, criterion.written)
        for case in with_verdict(report.cases)
        for evaluator in case.evaluators
        if isinstance(evaluator, Assessed)
        for criterion in evaluator.criteria
        for name in ("", case.id)
    }
    own = (each for each in data.criteria if (each.file, each.case, each.id, each.text) in known)
    return replace(report, probed=tuple(own))


def findings(found: Measured) -> tuple[Diagnostic, ...]:
    """Return a warning per criterion with a fault, at its line."""
    return tuple(_diagnostic(each) for each in found.criteria if each.word in FINDINGS)


def _lines(found: Measured) -> Iterator[str]:
    for each in found.criteria:
        name = f"{each.case}/{each.id}" if each.case else each.id
        yield log_line(f"{each.file}:{each.line}: {name}: {_words(each.word)}")
        if each.noticed.of:
            yield f"  noticed {_share(each.noticed)}, unmoved {_share(each.unmoved)}"
        if each.untested:
            yield f"  no variant to notice: {each.untested}"
        yield from _missed(each.missed)
    yield from _table(found.mutations)
    yield ""
    yield _summary(found)


def _missed(missed: Sequence[Mutation]) -> Iterator[str]:
    for each in missed[:SHOWN]:
        what = "still passes" if each.must_notice else "the mark changed"
        yield f"  {what}: {each.family}: {log_line(each.change)}"
    if len(missed) > SHOWN:
        yield f"  and {len(missed) - SHOWN} more in probe.json"


def _table(mutations: Sequence[Mutation]) -> Iterator[str]:
    rows = [
        (name, "noticed" if must else "unmoved", _share(share))
        for must in (True, False)
        for name, share in families([each for each in mutations if each.must_notice is must])
        if share.hit < share.of
    ]
    if rows:
        yield ""
    width = max((len(name) for name, _, _ in rows), default=0)
    for name, kind, share in rows:
        yield f"{name.ljust(width)}  {kind} {share}"


def _summary(found: Measured) -> str:
    counts = {word: sum(each.word == word for each in found.criteria) for word in MEANINGS}
    shown = ", ".join(f"{count} {_words(word)}" for word, count in counts.items() if count)
    overall = figures(found.mutations)[2]
    judge = "" if overall in {"sound", "untested"} else f"; all together: {_words(overall)}"
    return f"{numbers.plural(len(found.criteria), 'criterion', 'criteria')}: {shown}{judge}"


def _diagnostic(each: CriterionFigures) -> Diagnostic:
    example = next((m for m in each.missed if m.must_notice == (each.word != "jumpy")), None)
    shown = f"; for example {example.family}: {example.change}" if example else ""
    return Diagnostic(
        rule=each.word,
        severity=Severity.WARNING,
        file=each.file,
        span=Span(each.line, 1, each.line, 2),
        message=f"`{each.id}`: {MEANINGS[each.word]} (noticed {_share(each.noticed)}, unmoved "
        f"{_share(each.unmoved)}){shown}",
        hint="see docs/calibration.md for each word, and good-rubrics.md for better criteria",
    )


def _criterion(each: CriterionFigures) -> dict[str, object]:
    return {
        "file": each.file,
        "line": each.line,
        "case": each.case,
        "id": each.id,
        "text": each.text,
        "required": each.required,
        "noticed": _numbers(each.noticed),
        "unmoved": _numbers(each.unmoved),
        "word": each.word,
        "untested": each.untested,
        "wrong": [
            {
                "case": m.case,
                "family": m.family,
                "change": m.change,
                "must_notice": m.must_notice,
            }
            for m in each.missed
        ],
    }


def _numbers(share: Share) -> list[float]:
    return [share.hit, share.of, share.low, share.high]


def _share(share: Share) -> str:
    return f"{share.hit} of {share.of}"


def _words(word: Word) -> str:
    return word.replace("-", " ")
