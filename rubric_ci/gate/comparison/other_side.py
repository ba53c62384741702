"""What a run is compared with, in words: a commit, a report or a pinned reference."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from rubric_ci.text import escape, numbers
from rubric_ci.values.comparison import ReferenceInfo, ReferenceMove, Source
from rubric_ci.values.report import Against, RunReport

MOVES: Final = 3  # of some cases of the reference, that are shown
NOUNS: Final[Mapping[Source, str]] = {
    "commit": "base",
    "report": "baseline",
    "reference": "baseline",
}


def noun(report: RunReport) -> str:
    """Return the word for the source of the comparison; empty if it is not compared."""
    return NOUNS[report.comparison.source] if report.comparison else ""


def than(report: RunReport) -> str:
    """Return what the run is compared with, in a few words: "main abc1234"."""
    comparison = report.comparison
    if comparison is None:
        return "nothing"
    name = "" if comparison.ref == "auto" else comparison.ref
    if report.against:
        origin = report.against.origin.removeprefix("the last common commit with ").strip("`")
        name = name or report.metadata.get("base_ref", "") or origin
        name = "the default branch" if name == "origin/HEAD" else name.removeprefix("origin/")
    elif comparison.source == "reference":
        name = "the baseline"
    commit = escape.commit(comparison.commit)
    if name and commit and comparison.commit.startswith(name):
        name = ""
    return " ".join(filter(None, [name, commit])) or f"the {noun(report)}"


def source(report: RunReport) -> str:
    """Return the commit and the age of the other side of the comparison; empty: unknown."""
    comparison = report.comparison
    if comparison is None:
        return ""
    if report.against:
        return commit(report.against, report.started_at)
    return reference(comparison.reference) if comparison.reference else ""


def commit(against: Against, now: str) -> str:
    """Return the commit of a base, its date and its age at a time in RFC 3339."""
    if not against.commit:
        return "no base"
    place = f"`{escape.commit(against.commit)}`"
    if not against.committed_at:
        return place
    return f"{place} of {against.committed_at[:10]}{_aged(now, against.committed_at)}"


def reference(info: ReferenceInfo) -> str:
    """Return commit, date, age and reason of a reference, and the last moves of some cases."""
    trials = f"{numbers.plural(info.trials, 'trial')} per case"
    reason = f" ({info.reason})" if info.reason else ""
    moves = [
        f"{numbers.plural(each.cases, 'case')} since {_measured(each)} ({each.reason})"
        for each in info.moves[-MOVES:]
    ]
    if earlier := len(info.moves) - len(moves):
        moves.insert(0, f"{numbers.plural(earlier, 'earlier move')} of some cases")
    return "; ".join([f"{_measured(info)}, {trials}{reason}", *moves])


def _aged(now: str, then: str) -> str:
    try:
        age = datetime.fromisoformat(now) - datetime.fromisoformat(then)
    except (ValueError, TypeError):  # a report of a fork may hold any text
        return ""
    if age < timedelta(0):  # the clocks of two machines differ
        return ""
    days = numbers.plural(age.days, "day") if age.days else "less than a day"
    return f", {days} old"


def _measured(run: ReferenceInfo | ReferenceMove) -> str:
    short, *more = escape.commit(run.commit).split(" ", 1)
    place = " ".join([f"commit `{short}`", *more]) if short else "an unknown commit"
    age = "" if run.age_days is None else f", {numbers.plural(run.age_days, 'day')} old"
    return f"{place} of {run.measured_at[:10]}{age}"
