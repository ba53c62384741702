"""The beginning of every output: the heading, the gate, changes to the grading."""

from collections.abc import Iterable, Iterator
from typing import Final

from rubric_ci.errors import ExitCode
from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.report.decision import (
    Reason,
    failing,
    gate_state,
    noun_of_cases,
    rate_text,
    reasons,
    score_text,
)
from rubric_ci.reports.blocks import Tone
from rubric_ci.text import numbers
from rubric_ci.values.changes import Direction, GradingChange
from rubric_ci.values.dimensions import Dimension, dimensions
from rubric_ci.values.gate import gating
from rubric_ci.values.report import RunReport, Totals, totals

COULD_NOT_START: Final = "Gate undecided: the run could not start"
CHANGES_TITLE: Final = "Changes to the grading"
LONGEST_VALUE: Final = 160  # characters of a value
_LIMITS: Final = frozenset({"waivers", "weaker", "changed", "review"})
_SHOWN_BEFORE: Final = 40  # characters before the first difference of two long values
_SIGNS: Final[dict[Direction, str]] = {"weaker": "🔻", "stronger": "🔺", "changed": "🔹"}
"""The result of the gate, as colours and icons show it; `error`: the gate is undecided."""


def heading(report: RunReport) -> str:
    """Return the result of the gate, the rule that decided it, and how the cases ended.

    It begins with the name of the suite, if a repository has several.
    """
    cases, missing = outcome(report), report.totals.errored
    about = phrases.compared_with(report) if is_by_comparison(report) else cases
    found = reasons(report)
    match gate_state(report):
        case "pass":
            why = _why_it_passes(report)
            parts = [f"Gate passes: {why}" if why else "Gate passes"]
        case "fail":
            why = _texts(found, ExitCode.GATE)
            parts = [f"Gate fails: {why}"]
        case "no-verdict":
            why = _texts(found, ExitCode.NO_VERDICT)
            parts, missing, about = [f"Gate undecided: {why}"], 0, cases
    without = [f"{numbers.plural(missing, 'case')} errored"] * bool(missing)
    parts += [about] * (about not in why) + without
    suite = report.metadata.get("suite", "")
    return " · ".join(part for part in (suite, *parts, _texts(found, ExitCode.OK)) if part)


def _texts(found: Iterable[Reason], code: ExitCode) -> str:
    return "; ".join(reason.text for reason in found if reason.code is code)


def _why_it_passes(report: RunReport) -> str:
    """Return the rule that lets the gate pass; empty: nothing was graded."""
    fail_on = report.gate.fail_on
    if not report.totals.graded:
        return ""
    if fail_on == "regression" and is_compared(report):
        suspected = report.comparison is not None and report.comparison.suspected
        subject = "no deciding case" if phrases.broken(report) else "nothing"
        found = phrases.headline(report) if suspected else f"{subject} broke"
        return found[0].lower() + found[1:]
    return f"{outcome(report) or 'no case decides'} (fail_on: {fail_on})"


def is_by_comparison(report: RunReport) -> bool:
    """Return True if a comparison of some cases decides: the heading says with what."""
    compared = report.comparison.compared if report.comparison else 0
    return report.gate.fail_on == "regression" and compared > 0


def is_compared(report: RunReport) -> bool:
    """Return True if there is something to compare with; else `regression` acts as `fail`."""
    return any(case.change is not None for case in report.cases)


def tone(report: RunReport) -> Tone:
    """Return the state that colours and icons of the whole report show."""
    state = gate_state(report)
    if state == "pass" and not report.totals.graded:
        return "nothing"
    return "error" if state == "no-verdict" else state


def outcome(report: RunReport) -> str:
    """Return how the cases of the gate ended, the worst first; empty if errors left none."""
    deciding = gating(report.cases, report.gate)
    every = len(deciding) == len(report.cases)
    counts = report.totals if every else totals(tuple(deciding))
    if report.cases and not deciding:
        return "" if report.gate.none_decides else "no case that ran decides"
    if counts.failed or counts.borderline:
        return failing(report.cases, report.gate)
    if counts.graded:
        return _all_cases(counts, noun_of_cases(report.cases, deciding))
    if counts.skipped:
        return f"nothing was graded: {numbers.plural(counts.skipped, 'case')} skipped"
    if counts.errored or report.scope.unread:
        return ""
    return f"nothing to grade{_why_nothing(report)}"


def _why_nothing(report: RunReport) -> str:
    if "changed-since" not in report.scope.narrowed_by:
        return ""
    removed = [c for c in report.grading_changes if c.kind == "case" and c.direction == "weaker"]
    does = f"removes {numbers.plural(len(removed), 'case')}" if removed else "affects no case"
    return f": the change {does}"


def limits(report: RunReport) -> list[str]:
    """Return the settings that narrow the gate to some cases, and the counts of its rates."""
    about = [f"gate of {', '.join(report.gate.targets)}"] if report.gate.targets else []
    about += tagged(report)
    if report.gate.better_than:
        about.append(f"must be better than {report.gate.better_than}")
    return [*about, *map(rate_text, report.gate.rates), *map(score_text, report.gate.scores)]


def by_tag(report: RunReport) -> str:
    """Return the score of each tag of criteria, with its score before; empty below two tags."""
    found = dimensions(report.cases)
    shown = (f"{each.tag} {numbers.score(each.score)}{_was(each)}" for each in found)
    return f"by tag: {', '.join(shown)}" if len(found) > 1 else ""


def _was(found: Dimension) -> str:
    moved = found.before is not None and found.before != found.score
    return f" (before: {numbers.score(found.before)})" if moved and found.before is not None else ""


def gate_settings(report: RunReport) -> str:
    """Return the requirements of the gate, and the counts of its pass rates."""
    held = [each.text for each in reasons(report) if each.rule in _LIMITS]
    return "; ".join([f"fail-on: {report.gate.fail_on}", *limits(report), *held])


def fixes(report: RunReport) -> list[str]:
    """Return the next step, where it is not to look at a case."""
    return [*dict.fromkeys(reason.fix for reason in reasons(report) if reason.fix)]


def tagged(report: RunReport) -> list[str]:
    """Return a sentence about the cases of the gate, if their tags decide it."""
    with_tag, without = report.gate.tags, report.gate.not_tags
    if not (with_tag or without):
        return []
    tags = [f"tagged {' or '.join(with_tag)}"] * bool(with_tag)
    tags += [f"not tagged {' or '.join(without)}"] * bool(without)
    count = len(gating(report.cases, report.gate))
    return [f"gate of {count:,} of {numbers.plural(len(report.cases), 'case')}: {', '.join(tags)}"]


def _all_cases(counts: Totals, noun: str) -> str:
    number = counts.graded
    if counts.waived:
        passing = f"{counts.passed:,} of {numbers.plural(number, noun)}"
        return f"{passing} pass, {counts.waived:,} waived"
    return f"the only {noun} passes" if number == 1 else f"all {number:,} {noun}s pass"


def changes_title(report: RunReport) -> str:
    counts = [
        f"{number:,} {direction}"
        for direction in ("weaker", "changed", "stronger")
        if (number := sum(each.direction == direction for each in report.grading_changes))
    ]
    return f"{CHANGES_TITLE}: {', '.join(counts)}"


def change_sign(change: GradingChange) -> str:
    return _SIGNS[change.direction]


def change_line(change: GradingChange) -> str:
    """Return a change without its place: direction, subject, before and after."""
    named = change.about.startswith(f"{change.kind}.")  # as "gate.fail_on" names its kind
    about = change.about if named else f"{change.kind} {change.about}"
    before, after = _shown_values(change)
    return f"{change.direction}: {about}: {before} → {after}"


def _shown_values(change: GradingChange) -> Iterator[str]:
    """Yield the values before and after, cut so that the first difference is in them."""
    values = [" ".join(text.split()) for text in (change.before, change.after)]
    pairs = enumerate(zip(*values, strict=False))
    same = next((at for at, (was, now) in pairs if was != now), min(map(len, values)))
    start = same - _SHOWN_BEFORE if same > LONGEST_VALUE - _SHOWN_BEFORE else 0
    for value in values:
        shown = f"…{value[start:]}" if start else value
        yield numbers.shortened(shown, LONGEST_VALUE) or "(none)"
