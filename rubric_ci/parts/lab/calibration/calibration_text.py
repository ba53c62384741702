"""Agreement between a judge's marks and a person's labels, and the text of it per criterion."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rubric_ci.parts.lab.calibration.agreement import Agreement
from rubric_ci.parts.lab.calibration.calibration import (
    Calibration,
    CriterionAgreement,
)
from rubric_ci.text.escape import log_line
from rubric_ci.text.numbers import listed
from rubric_ci.text.p_values_and_intervals import PERCENT

_HEAD = ("criterion", "marks", "same", "kappa", PERCENT, "sens", "spec", "F1", "leniency")
_MAX_CONFUSIONS = 6
_MAX_DIFFERENCES = 20


def render(found: Calibration) -> str:
    """Return the table, the differences, and what the agreement rests on."""
    return "\n".join(_lines(found))


def _lines(found: Calibration) -> Iterator[str]:
    judge = found.judge
    votes = "1 vote" if judge.votes == 1 else f"{judge.votes} votes"
    yield f"{log_line(judge.model)}, prompt {judge.prompt_version}, {judge.mode}, {votes}"
    yield ""
    rows = zip(_names(found.criteria), (c.agreement for c in found.criteria), strict=True)
    yield from _table([*rows, ("all", found.overall)])
    if found.work and found.work != found.overall:
        yield from _about_work(found.work)
    yield from _lone(found.overall)
    yield from _confusion(found.overall)
    yield from _differences(found)
    yield from _repeats(found)
    yield from _people(found)
    yield from _modes(found)
    if found.no_verdict:
        yield ""
        yield f"{found.no_verdict:,} labelled answers have no verdict and are not counted above"


def _names(criteria: Sequence[CriterionAgreement]) -> Iterator[str]:
    """Yield the shortest name of each criterion that no other one has."""
    forms = [_forms(criterion) for criterion in criteria]
    counts = [Counter(names) for names in zip(*forms, strict=True)]
    for names in forms:
        alone = (name for name, count in zip(names, counts, strict=True) if count[name] == 1)
        yield next(alone, names[-1])


def _forms(criterion: CriterionAgreement) -> tuple[str, str, str]:
    cases = listed(criterion.cases, 1)
    places = ((), (cases,), (cases, criterion.evaluator))
    one, two, three = (": ".join((criterion.file, *place, criterion.id)) for place in places)
    return log_line(one), log_line(two), log_line(three)


def _table(rows: list[tuple[str, Agreement]]) -> Iterator[str]:
    texts = [_HEAD, *(_row(name, agreement) for name, agreement in rows)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(_HEAD))]
    for row in texts:
        cells = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join((row[0].ljust(widths[0]), *cells))


def _row(name: str, found: Agreement) -> tuple[str, ...]:
    interval = f"{found.interval[0]:.2f} to {found.interval[1]:.2f}" if found.interval else "-"
    return (
        name,
        f"{found.n:,}",
        f"{found.accuracy:.2f}",
        _number(found.kappa),
        interval,
        _number(found.rates.sensitivity),
        _number(found.rates.specificity),
        _number(found.rates.macro_f1),
        f"{found.leniency:+.2f}",
    )


def _about_work(found: Agreement) -> Iterator[str]:
    _, marks, _, kappa, interval, *_ = _row("", found)
    yield ""
    yield f"Criteria about the work of an agent: kappa {kappa} ({interval}) in {marks} marks"


def _confusion(found: Agreement) -> Iterator[str]:
    wrong = {pair: n for pair, n in found.confusion.items() if pair[0] != pair[1]}
    if wrong:
        yield ""
        yield "Most frequent differences:"
    for (person, judge), n in sorted(wrong.items(), key=lambda item: -item[1])[:_MAX_CONFUSIONS]:
        yield f"  {n:,} x person {person}, judge {judge}"


def _lone(found: Agreement) -> Iterator[str]:
    if found.lone_criteria:
        yield ""
        yield (
            f"{found.lone_criteria} criteria are marked in one answer only, so they cannot raise "
            "kappa: label more answers to them"
        )


def _differences(found: Calibration) -> Iterator[str]:
    if found.differences:
        yield ""
        yield "Differing marks:"
    for each in found.differences[:_MAX_DIFFERENCES]:
        place = f"{each.file}: {each.case}: {each.criterion}"
        reason = f": {each.reason}" if each.reason else ""
        yield "  " + log_line(f"{place}: person {each.person}, judge {each.judge}{reason}")
    if hidden := len(found.differences[_MAX_DIFFERENCES:]):
        yield f"  and {hidden} more, listed in the file that is written"


def _repeats(found: Calibration) -> Iterator[str]:
    if found.self_agreement is not None and found.flips is not None:
        yield ""
        yield (
            f"The judge agrees with itself in {found.self_agreement:.0%} of its votes; "
            f"{found.flips:.0%} of the marks were not unanimous"
        )


def _people(found: Calibration) -> Iterator[str]:
    if found.people:
        _, _, _, kappa, interval, *_ = _row("", found.people)
        yield ""
        yield (
            f"People agree among themselves with kappa {kappa} ({interval}) in {found.people.n} "
            "marks: no judge can be expected to agree with them more"
        )


def _modes(found: Calibration) -> Iterator[str]:
    if choice := found.modes:
        compared = (
            f"kappa {_number(choice.batched.kappa)} with all criteria in one request, "
            f"{_number(choice.isolated.kappa)} with one request per criterion, p = "
            f"{choice.p_value:.2g}"
        )
        shown = "a loss" if choice.chosen == "isolated" else "no loss"
        yield ""
        yield f"Batching shows {shown} of agreement ({compared}): `auto` is `{choice.chosen}`"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
