"""The beginning of every output: the heading, the gate, changes to the grading."""

from collections.abc import Iterator, Mapping, Set
from typing import Final, Literal, TypeAlias

from rubric_ci.gate.comparison.phrases import dropped_by
from rubric_ci.gate.report.decision import Rule, errored, gate_state, rules
from rubric_ci.gate.waivers.waived import limit_text
from rubric_ci.text import numbers
from rubric_ci.values.changes import Direction, GradingChange
from rubric_ci.values.gate import (
    PassRate,
    gating,
    is_forbidden,
    is_together_open,
    lacks_difference,
    needs_review,
    too_many_waivers,
)
from rubric_ci.values.report import RunReport, Totals, case_names, totals
from rubric_ci.values.results import Change, Skipped

Tone: TypeAlias = Literal["pass", "fail", "error", "nothing"]
COULD_NOT_START: Final = "Gate undecided: the run could not start"
CHANGES_TITLE: Final = "Changes to the grading"
LONGEST_VALUE: Final = 160  # characters of a value
_NAMED: Final = 3  # cases that the heading names
_GRADING: Final[Mapping[Rule, str]] = {
    "weaker": "the change makes the grading weaker",
    "changed": "the change edits the grading",
}
_SHOWN_BEFORE: Final = 40  # characters before the first difference of two long values
_SIGNS: Final[dict[Direction, str]] = {"weaker": "🔻", "stronger": "🔺", "changed": "🔹"}
"""The result of the gate, as colours and icons show it; `error`: the gate is undecided."""


def heading(report: RunReport) -> str:
    """Return the result of the gate, the rule that decided it, and how the cases ended."""
    cases, missing = outcome(report), report.totals.errored
    match gate_state(report):
        case "pass":
            why = _why_it_passes(report)
            parts = [f"Gate passes: {why}" if why else "Gate passes"]
        case "fail":
            why = "; ".join(_why_it_fails(report))
            parts = [f"Gate fails: {why}"]
        case "no-verdict":
            why = "; ".join(_why_undecided(report))
            parts, missing = [f"Gate undecided: {why}"], 0
    without = [f"{numbers.plural(missing, 'case')} errored"] * bool(missing)
    parts += [cases] * (cases not in why) + without
    return " · ".join(part for part in (*parts, *to_review(report), report.covers) if part)


def _why_it_passes(report: RunReport) -> str:
    """Return the rule that lets the gate pass; empty: nothing was graded."""
    fail_on = report.gate.fail_on
    if not report.totals.graded:
        return ""
    if fail_on == "regression" and is_compared(report):
        return "nothing broke"
    return f"{outcome(report)} (fail_on: {fail_on})"


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
    if not deciding or len(deciding) == len(report.cases):
        whole = report.totals.graded == len(report.cases)
        return _ended(report.totals, "case" if whole else "graded case", report)
    return _ended(totals(tuple(deciding)), "deciding case", report)


def _ended(counts: Totals, noun: str, report: RunReport) -> str:
    if counts.failed:
        return _some_cases(counts.failed, counts.graded, noun, ("fails", "fail"))
    if counts.borderline:
        some = _some_cases(counts.borderline, counts.graded, noun, ("is", "are"))
        return f"{some} borderline"
    if counts.graded:
        return _all_cases(counts, noun)
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


def gate_settings(report: RunReport) -> str:
    """Return the requirements of the gate, and the counts of its pass rates."""
    rates = [rate_text(rate) for rate in report.gate.rates]
    limits = [*rates, *excess_waivers(report), *forbidden_grading(report), *to_review(report)]
    about = [f"gate of {', '.join(report.gate.targets)}"] if report.gate.targets else []
    about += tagged(report)
    if report.gate.better_than:
        about.append(f"better than {report.gate.better_than}")
    return "; ".join([f"fail-on: {report.gate.fail_on}", *about, *limits])


def tagged(report: RunReport) -> list[str]:
    """Return a sentence about the cases of the gate, if their tags decide it."""
    with_tag, without = report.gate.tags, report.gate.not_tags
    if not (with_tag or without):
        return []
    tags = [f"tagged {' or '.join(with_tag)}"] * bool(with_tag)
    tags += [f"not tagged {' or '.join(without)}"] * bool(without)
    count = len(gating(report.cases, report.gate))
    return [f"gate of {count:,} of {numbers.plural(len(report.cases), 'case')}: {', '.join(tags)}"]


def excess_waivers(report: RunReport) -> Iterator[str]:
    """Yield how many waivers are too many."""
    if too_many_waivers(report.gate, report.waivers):
        yield limit_text(report)


def forbidden_grading(report: RunReport) -> Iterator[str]:
    """Yield the changes to the grading that the gate does not allow."""
    yield from (text for rule, text in _GRADING.items() if rule in rules(report))


def to_review(report: RunReport) -> Iterator[str]:
    """Yield the request that a person looks at the changes to the grading."""
    if needs_review(report.gate, report.grading_changes):
        yield "review the changes to the grading"


def rate_text(rate: PassRate) -> str:
    """Return a pass rate: how many cases pass, how many must, how many have no verdict."""
    cases = f"tag {rate.group}" if rate.group else "all cases"
    errored = f", {rate.errored:,} errored not counted" if rate.errored else ""
    waived = f", {rate.waived:,} waived not counted" if rate.waived else ""
    new = f", {rate.new:,} new not counted before the merge" if rate.new else ""
    needed = f"{rate.required:,} needed for {rate.min_pass_rate}"
    return f"{cases}: {rate.passed:,} of {rate.counted:,} pass, {needed}{errored}{waived}{new}"


def _why_it_fails(report: RunReport) -> Iterator[str]:
    """Yield what each rule holds against the run, the one that decides first."""
    for rule in rules(report):
        yield from _held_by(rule, report)


def _held_by(rule: Rule, report: RunReport) -> Iterator[str]:
    gate = report.gate
    match rule:
        case "broke":
            yield f"{_names(report, {'broken'})} broke"
        case "new":
            if names := _names(report, {"new"}):
                yield f"new and failing: {names}"
            if names := _names(report, {"not-comparable"}):
                yield f"failing, and not comparable: {names}"
        case "together" if report.comparison and report.comparison.together:
            yield dropped_by(report.comparison.together)
        case "verdict":
            yield f"{outcome(report)} (fail_on: {gate.fail_on})"
        case "target" if gate.difference:
            yield f"{gate.difference.target} is not better than {gate.difference.than}"
        case "rate":
            yield from (rate_text(rate) for rate in gate.rates if not rate.holds)
        case "waivers":
            yield from excess_waivers(report)
        case "weaker" | "changed":
            yield from (text for name, text in _GRADING.items() if name == rule)


def _names(report: RunReport, changes: Set[Change]) -> str:
    name = case_names(report)
    held = [c for c in report.cases if c.change in changes and is_forbidden(c, report.gate)]
    return numbers.listed([*map(name, held)], _NAMED)


def _why_undecided(report: RunReport) -> Iterator[str]:
    if open_cases := errored(report.cases, report.gate):
        yield f"{numbers.plural(len(open_cases), 'case')} errored"
    elif report.scope.unfinished:
        yield "the run is incomplete"
    if report.scope.unread:
        yield "some eval files could not be read"
    if refused := sum(isinstance(case, Skipped) and case.lacks_verdict for case in report.cases):
        yield f"{numbers.plural(refused, 'case')} not gradable for an untrusted change"
    if is_together_open(report.gate, report.comparison):
        yield "the base could not be asked again"
    if lacks_difference(report.cases, report.gate):
        than, found = report.gate.better_than, report.gate.difference
        few = f"{numbers.plural(found.cases, 'case')} cannot show a difference" if found else ""
        yield (
            f"{few} from {than}"
            if few
            else f"no case was graded for both {than} and another target"
        )


def _all_cases(counts: Totals, noun: str) -> str:
    number = counts.graded
    if counts.waived:
        passing = f"{counts.passed:,} of {numbers.plural(number, noun)}"
        return f"{passing} pass, {counts.waived:,} waived"
    return f"the only {noun} passes" if number == 1 else f"all {number:,} {noun}s pass"


def _some_cases(number: int, counted: int, noun: str, verbs: tuple[str, str]) -> str:
    return f"{number:,} of {numbers.plural(counted, noun)} {verbs[number != 1]}"


def changes_title(report: RunReport) -> str:
    """Return the title with the number of changes in each direction."""
    counts = [
        f"{number:,} {direction}"
        for direction in ("weaker", "changed", "stronger")
        if (number := sum(each.direction == direction for each in report.grading_changes))
    ]
    return f"{CHANGES_TITLE}: {', '.join(counts)}"


def change_sign(change: GradingChange) -> str:
    """Return the icon of weaker, stronger or changed."""
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
