"""A comparison with the baseline, in words: a few for each case, a few lines for the whole."""

from collections.abc import Callable, Iterator, Mapping

from rubric_ci.model.report import CHANGE_KINDS, CaseChange, Comparison
from rubric_ci.model.results import Trial
from rubric_ci.reports import json_format
from rubric_ci.text import escape, numbers

SIGNS: Mapping[str, str] = {"regressed": "▼", "improved": "▲", "flaky": "≈"}


def by_case(comparison: Comparison) -> dict[tuple[str, str], str]:
    """Return a few words for each case, by (file, id)."""
    return {(change.file, change.id): _change(change) for change in comparison.changes}


def headline(comparison: Comparison) -> str:
    """Say whether it is worse, and by what that is known."""
    regressed = comparison.count("regressed")
    if regressed:
        return f"worse than the baseline: {numbers.plural(regressed, 'case')} regressed"
    if comparison.regressed:
        return "worse than the baseline: no case by itself, but all together"
    return "not worse than the baseline"


def lines(comparison: Comparison) -> Iterator[str]:
    """Yield what changed as a whole, and whether it is more than noise."""
    counted = [(kind, comparison.count(kind)) for kind in CHANGE_KINDS]
    told = ", ".join(f"{number:,} {kind}" for kind, number in counted if number)
    yield told or "no case to compare"
    if comparison.mean_difference is not None:
        yield _mean(comparison, comparison.mean_difference)
    gone = [change.id for change in comparison.changes if change.kind == "gone"]
    if gone:
        more = f" and {len(gone) - 10:,} more" if len(gone) > 10 else ""
        yield f"No longer there: {', '.join(f'`{name}`' for name in gone[:10])}{more}"
    yield from comparison.notes


def _change(change: CaseChange) -> str:
    sign = SIGNS.get(change.kind, "")
    before, after = _side(change.before), _side(change.after)
    match change.kind:
        case "regressed" | "improved" | "flaky":
            told = f"{sign} {change.kind}: {before} → {after}"
        case "errored" | "gone":
            told = f"was {before}" if before else ""
        case _:
            told = change.kind
    return f"{told} (flips)" if change.flips and change.kind != "flaky" else told


def _side(side: Trial | None) -> str:
    return "" if side is None else f"{side.verdict} {numbers.score(side.score)}"


def _mean(comparison: Comparison, difference: float) -> str:
    facts = [f"{numbers.plural(comparison.paired, 'case')} on both sides"]
    if comparison.interval:
        low, high = comparison.interval
        facts.append(f"95 % interval {low:+.3f} to {high:+.3f}")
    if comparison.p_value is not None:
        facts.append(f"p = {comparison.p_value:.3g}")
    noise = "more than chance" if comparison.significant else "no more than chance"
    return f"Mean score {difference:+.3f} ({', '.join(facts)}): {noise}"


def text(comparison: Comparison) -> str:
    """Return a line for each case that is not the same, then the whole."""
    told = by_case(comparison)
    rows = [f"{c.file}: {c.id}: {_told(c, told)}" for c in _different(comparison)]
    whole = [*rows, *lines(comparison), headline(comparison)]
    return "".join(f"{escape.log_line(line)}\n" for line in whole)


def markdown(comparison: Comparison) -> str:
    """Return a heading, the whole, and a table of the cases that are not the same."""
    icon = "❌" if comparison.regressed else "✅"
    blocks = [f"## {icon} rubric-ci · {headline(comparison)}"]
    blocks.append("\n".join(f"- {escape.prose(line)}" for line in lines(comparison)))
    if rows := list(_rows(comparison)):
        blocks.append("\n".join(["| Case | File | Change |", "|:--|:--|:--|", *rows]))
    return "\n\n".join(blocks) + "\n"


def json(comparison: Comparison) -> str:
    """Return the comparison as a report holds it."""
    return escape.json_text(json_format.render_comparison(comparison))


FORMATS: Mapping[str, Callable[[Comparison], str]] = {
    "text": text,
    "markdown": markdown,
    "json": json,
}


def _rows(comparison: Comparison) -> Iterator[str]:
    told = by_case(comparison)
    for change in _different(comparison):
        name = escape.code_span(change.id, in_table=True)
        file = escape.code_span(change.file, in_table=True)
        yield f"| {name} | {file} | {escape.markdown(_told(change, told))} |"


def _told(change: CaseChange, told: Mapping[tuple[str, str], str]) -> str:
    words = told[change.file, change.id]
    if change.kind not in {"errored", "gone"}:
        return words
    return f"{change.kind}, {words}" if words else change.kind


def _different(comparison: Comparison) -> list[CaseChange]:
    return [change for change in comparison.changes if change.kind != "same" or change.flips]
