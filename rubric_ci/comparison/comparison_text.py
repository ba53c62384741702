"""A comparison with the baseline as text, markdown and JSON."""

from collections.abc import Callable, Iterator, Mapping

from rubric_ci.model.reference_log import ReferenceMove
from rubric_ci.model.report import (
    CHANGE_KINDS,
    CaseChange,
    Comparison,
    ReferenceInfo,
    SlowSlide,
    SuspectCounts,
)
from rubric_ci.model.results import Trial
from rubric_ci.report import json_format
from rubric_ci.statistics import significance
from rubric_ci.text import escape, numbers

SHORT = 7  # characters of a commit
MOVES = 3  # of some cases of the reference, that are shown

SIGNS: Mapping[str, str] = {"regressed": "▼", "improved": "▲", "flaky": "≈", "unclear": "?"}


def by_case(comparison: Comparison) -> dict[tuple[str, str], str]:
    """Return the change of each case in a few words, by (file, id)."""
    return {(change.file, change.id): _change(change) for change in comparison.changes}


def headline(comparison: Comparison) -> str:
    """Return in one line whether the run is worse than the baseline."""
    regressed = comparison.count("regressed")
    than = "reference" if comparison.reference else "baseline"
    if comparison.judge_moved:
        return f"not comparable with the {than}: the judge moved"
    if regressed:
        return f"worse than the {than}: {numbers.plural(regressed, 'case')} regressed"
    if comparison.slide and comparison.slide.detected:
        return f"worse than the {than}: the mean score slid over many nights"
    if comparison.regressed:
        return f"worse than the {than}: no single case regressed, but the mean score did"
    if (drop := significance.largest_drop(comparison.interval, comparison.clusters)) is None:
        return f"not worse than the {than}: too few cases to exclude a regression"
    return f"no regression larger than {numbers.points(drop)}"


def lines(comparison: Comparison) -> Iterator[str]:
    """Yield the changes of the run as a whole, and whether they are significant."""
    counted = [(kind, comparison.count(kind)) for kind in CHANGE_KINDS]
    yield ", ".join(f"{n:,} {kind}" for kind, n in counted if n) or "no case to compare"
    if comparison.suspects and comparison.suspects.suspects:
        yield _suspects(comparison, comparison.suspects)
    if comparison.mean_difference is not None:
        yield _mean(comparison, comparison.mean_difference)
    if comparison.judge_moved:
        yield (
            f"{comparison.judge_moved}. No case is called regressed until `rubric-ci baseline "
            "rejudge` has judged the stored answers of the reference again"
        )
    if comparison.slide and comparison.slide.nights:
        yield _slide(comparison.slide)
    if comparison.reference:
        yield f"Reference: {reference(comparison.reference)}"
    gone = [change.id for change in comparison.changes if change.kind == "gone"]
    if gone:
        more = f" and {len(gone) - 10:,} more" if len(gone) > 10 else ""
        yield f"Removed: {', '.join(f'`{name}`' for name in gone[:10])}{more}"
    yield from comparison.notes


def reference(info: ReferenceInfo) -> str:
    """Return commit, date, age and reason of a reference, and the last moves of some cases."""
    trials = f"{numbers.plural(info.trials, 'trial')} per case"
    reason = f" ({info.reason})" if info.reason else ""
    moves = [_move(each) for each in info.moves[-MOVES:]]
    if earlier := len(info.moves) - len(moves):
        moves.insert(0, f"{numbers.plural(earlier, 'earlier move')} of some cases")
    return "; ".join([f"{_measured(info)}, {trials}{reason}", *moves])


def _move(move: ReferenceMove) -> str:
    return f"{numbers.plural(move.cases, 'case')} since {_measured(move)} ({move.reason})"


def _measured(run: ReferenceInfo | ReferenceMove) -> str:
    commit = f"commit `{run.commit[:SHORT]}`" if run.commit else "an unknown commit"
    age = "" if run.age_days is None else f", {numbers.plural(run.age_days, 'day')} old"
    return f"{commit} of {run.measured_at[:10]}{age}"


def _slide(slide: SlowSlide) -> str:
    facts = f"evidence {slide.evidence:,.3g} of {slide.threshold:,.0f}"
    nights = numbers.plural(slide.nights, "night")
    if slide.detected:
        return f"The mean score is lower since about {slide.since[:10]} ({facts}, {nights})"
    return f"No slow slide over {nights} ({facts})"


def _suspects(comparison: Comparison, counts: SuspectCounts) -> str:
    """Return the outcome of the suspects: "3 suspects, 2 cleared by 7 more trials, …"."""
    cleared = counts.suspects - counts.confirmed - counts.undecided
    parts = [numbers.plural(counts.suspects, "suspect")]
    if cleared:
        more = counts.further_trials
        by = f" by {numbers.plural(more, 'more trial')} each" if more else ""
        parts.append(f"{cleared:,} cleared{by}")
    if counts.confirmed:
        parts.append(f"{counts.confirmed:,} confirmed ({_p_values(comparison)})")
    if counts.undecided:
        parts.append(f"{counts.undecided:,} undecided (too few trials: `run --baseline` adds them)")
    return ", ".join(parts)


def _p_values(comparison: Comparison) -> str:
    """Return the range of the p-values of the confirmed suspects."""
    found = sorted(c.p_value for c in comparison.changes if c.kind == "regressed" and c.p_value)
    ends = dict.fromkeys(f"{p:.2g}" for p in (found[0], found[-1]))
    return f"p = {' to '.join(ends)}"


def _change(change: CaseChange) -> str:
    sign = SIGNS.get(change.kind, "")
    match change.kind:
        case "regressed" | "improved" | "flaky" | "unclear":
            text = f"{sign} {change.kind}: {movement(change)}"
        case "errored" | "gone":
            text = movement(change)
        case _:
            text = change.kind
    return f"{text} (flips)" if change.flips and change.kind != "flaky" else text


def movement(change: CaseChange) -> str:
    """Return both verdicts with their scores, or the one that is known: "was pass 0.90"."""
    before, after = _trial(change.before), _trial(change.after)
    if before and after:
        return f"{before} → {after}{_p_value(change)}"
    return f"was {before}" if before else ""


def _p_value(change: CaseChange) -> str:
    return "" if change.p_value is None else f" (p = {change.p_value:.2g})"


def _trial(trial: Trial | None) -> str:
    return "" if trial is None else f"{trial.verdict} {numbers.score(trial.score)}"


def _mean(comparison: Comparison, difference: float) -> str:
    clusters = comparison.clusters
    inside = f" in {numbers.plural(clusters, 'cluster')}" if clusters < comparison.paired else ""
    facts = [f"{numbers.plural(comparison.paired, 'case')} in both reports{inside}"]
    if comparison.interval:
        low, high = comparison.interval
        facts.append(f"95 % interval {low:+.3f} to {high:+.3f}")
    if comparison.p_value is not None:
        facts.append(f"p = {comparison.p_value:.3g}")
    verdict = "significant" if comparison.significant else "not significant"
    if comparison.judge_moved:
        verdict = "not comparable"
    return f"Mean score {difference:+.3f} ({', '.join(facts)}): {verdict}"


def text(comparison: Comparison) -> str:
    """Return a line per changed case, then the lines for the run as a whole."""
    changes = by_case(comparison)
    rows = [f"{c.file}: {c.id}: {_cell(c, changes)}" for c in _changed(comparison)]
    whole = [*rows, *lines(comparison), headline(comparison)]
    return "".join(f"{escape.log_line(line)}\n" for line in whole)


def markdown(comparison: Comparison) -> str:
    """Return a heading, the lines for the run as a whole, and a table of changed cases."""
    icon = "❌" if comparison.regressed else "⚠️" if comparison.judge_moved else "✅"
    blocks = [f"## {icon} rubric-ci · {headline(comparison)}"]
    blocks.append("\n".join(f"- {escape.prose(line)}" for line in lines(comparison)))
    if rows := list(_rows(comparison)):
        blocks.append("\n".join(["| Case | File | Change |", "|:--|:--|:--|", *rows]))
    return "\n\n".join(blocks) + "\n"


def json(comparison: Comparison) -> str:
    """Return the comparison as JSON, as in a report file."""
    return escape.json_text(json_format.render_comparison(comparison))


FORMATS: Mapping[str, Callable[[Comparison], str]] = {
    "text": text,
    "markdown": markdown,
    "json": json,
}


def _rows(comparison: Comparison) -> Iterator[str]:
    changes = by_case(comparison)
    for change in _changed(comparison):
        name = escape.code_span(change.id, in_table=True)
        file = escape.code_span(change.file, in_table=True)
        yield f"| {name} | {file} | {escape.markdown(_cell(change, changes))} |"


def _cell(change: CaseChange, changes: Mapping[tuple[str, str], str]) -> str:
    words = changes[change.file, change.id]
    if change.kind not in {"errored", "gone"}:
        return words
    return f"{change.kind}, {words}" if words else change.kind


def _changed(comparison: Comparison) -> list[CaseChange]:
    return [change for change in comparison.changes if change.kind != "same" or change.flips]
