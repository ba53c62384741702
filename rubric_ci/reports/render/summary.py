"""The beginning of every output: the heading, the gate, several targets, changes to the grading."""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from rubric_ci.gate.comparison.wording import dropped_by
from rubric_ci.gate.report.gate import errored, gate_state
from rubric_ci.gate.report.matrix import Matrix, matrix
from rubric_ci.gate.waivers.report import limit_text
from rubric_ci.model.changes import Direction, GradingChange
from rubric_ci.model.gate import (
    PassRate,
    TargetDifference,
    gating,
    is_better,
    is_changed,
    is_drop_open,
    is_forbidden,
    is_undecided,
    is_unneeded,
    is_weakened,
    lacks_difference,
    needs_review,
    too_many_waivers,
)
from rubric_ci.model.report import RunReport, Totals
from rubric_ci.model.results import CaseResult, Graded
from rubric_ci.reports.render import wording
from rubric_ci.reports.render.markdown_case import ICONS
from rubric_ci.text import escape, numbers
from rubric_ci.text.statistics import significance

Tone: TypeAlias = Literal["pass", "fail", "error", "nothing"]
CHANGES_TITLE: Final = "Changes to the grading"
LONGEST_VALUE: Final = 160  # characters of a value
_SIGNS: Final[dict[Direction, str]] = {"weaker": "🔻", "stronger": "🔺", "changed": "🔹"}
"""The result of the gate, as colours and icons show it; `error`: the gate is undecided."""


def heading(report: RunReport) -> str:
    """Return the result of the gate in one line, and what it comes from."""
    cases, missing = outcome(report), report.totals.errored
    match gate_state(report):
        case "pass":
            parts = ["Gate passes", cases]
        case "fail":
            reasons = list(_why_it_fails(report, cases))
            known = [] if cases in reasons else [cases]
            without = [f"{numbers.plural(missing, 'case')} errored"] * bool(missing)
            parts = [f"Gate fails: {'; '.join(reasons)}", *known, *without]
        case "no-verdict":
            parts = [f"Gate undecided: {'; '.join(_why_undecided(report))}", cases]
    return " · ".join(part for part in (*parts, *to_review(report), report.covers) if part)


def tone(report: RunReport) -> Tone:
    """Return the state that colours and icons of the whole report show."""
    state = gate_state(report)
    if state == "pass" and not report.totals.graded:
        return "nothing"
    return "error" if state == "no-verdict" else state


def outcome(report: RunReport) -> str:
    """Return how the graded cases ended, the worst first; empty if errors left none."""
    counts = report.totals
    if counts.failed:
        return _some_cases(counts.failed, counts.graded, "fails", "fail")
    if counts.borderline:
        return f"{_some_cases(counts.borderline, counts.graded, 'is', 'are')} borderline"
    if counts.graded:
        return _all_cases(counts)
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
    """Return which cases the gate is about, if their tags decide it."""
    with_tag, without = report.gate.tags, report.gate.not_tags
    if not (with_tag or without):
        return []
    tags = [f"tagged {' or '.join(with_tag)}"] * bool(with_tag)
    tags += [f"not tagged {' or '.join(without)}"] * bool(without)
    count = len(gating(report.cases, report.gate))
    return [f"gate of {count:,} of {numbers.plural(len(report.cases), 'case')}: {', '.join(tags)}"]


def difference_text(found: TargetDifference) -> str:
    """Return how two targets differ, with the interval of the difference."""
    parts = [numbers.plural(found.cases, "case")]
    if found.interval:
        low, high = found.interval
        parts.append(f"{significance.PERCENT} interval {low:+.3f} to {high:+.3f}")
    parts.append(f"p = {found.p_value:.3g}")
    word = "no significant difference"
    if found.significant:
        word = "better" if found.better else "worse"
    scores = f"mean score {found.mean:+.3f} against {found.than}"
    return f"{found.target}: {scores} ({', '.join(parts)}): {word}"


def excess_waivers(report: RunReport) -> Iterator[str]:
    """Yield how many waivers are not needed, and how many are too many."""
    if unneeded := sum(map(is_unneeded, report.waivers)):
        yield f"{numbers.plural(unneeded, 'waiver')} to remove"
    if too_many_waivers(report.gate, report.waivers):
        yield limit_text(report)


def forbidden_grading(report: RunReport) -> Iterator[str]:
    """Yield the changes to the grading that the gate does not allow."""
    if is_weakened(report.gate, report.grading_changes):
        yield "the change makes the grading weaker"
    if is_changed(report.gate, report.grading_changes):
        yield "the change edits the grading"


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


def _why_it_fails(report: RunReport, cases: str) -> Iterator[str]:
    fail_on = report.gate.fail_on
    if held := sum(is_forbidden(case, report.gate) for case in report.cases):
        yield numbers.plural(held, "regression") if fail_on == "regression" else cases
    if not is_better(report.gate) and (found := report.gate.difference):
        yield f"{found.target} is not better than {found.than}"
    if fail_on == "regression" and (compared := report.comparison) and compared.fell:
        drop = compared.drop
        yield dropped_by(drop) if drop and drop.confirmed else "the mean score fell"
    if fail_on in {"fail", "borderline"}:
        yield from (rate_text(rate) for rate in report.gate.rates if not rate.holds)
        yield from excess_waivers(report)
    yield from forbidden_grading(report)


def _why_undecided(report: RunReport) -> Iterator[str]:
    if open_cases := errored(report.cases, report.gate):
        yield f"{numbers.plural(len(open_cases), 'case')} errored"
    elif report.scope.unfinished:
        yield "the run is incomplete"
    if report.scope.unread:
        yield "some eval files could not be read"
    if undecided := sum(is_undecided(case, report.gate) for case in report.cases):
        yield f"{numbers.plural(undecided, 'failing case')} not comparable with the base"
    if is_drop_open(report.gate, report.comparison):
        yield "the base could not be asked again"
    if lacks_difference(report.cases, report.gate):
        than, found = report.gate.better_than, report.gate.difference
        few = f"{numbers.plural(found.cases, 'case')} cannot show a difference" if found else ""
        yield (
            f"{few} from {than}"
            if few
            else f"no case was graded for both {than} and another target"
        )


def _all_cases(counts: Totals) -> str:
    number = counts.graded
    if counts.waived:
        passing = f"{counts.passed:,} of {numbers.plural(number, 'graded case')}"
        return f"{passing} pass, {counts.waived:,} waived"
    return "the only graded case passes" if number == 1 else f"all {number:,} graded cases pass"


def _some_cases(number: int, graded: int, one: str, many: str) -> str:
    return f"{number:,} of {numbers.plural(graded, 'graded case')} {one if number == 1 else many}"


def target_cell(case: CaseResult | None) -> str:
    """Return the verdict, the score and the trials of a case."""
    if case is None:
        return "-"
    if not isinstance(case, Graded):
        return wording.status(case)
    shown = f"{wording.status(case)} {numbers.score(case.score)}"
    return ", ".join(filter(None, (shown, wording.trials(case))))


def target_heads(found: Matrix, report: RunReport) -> list[str]:
    """Return a heading per target: its name, its passes, and whether the gate is about it."""
    return [_target_head(name, *found.passed(n), report) for n, name in enumerate(found.targets)]


def _target_head(name: str, passed: int, graded: int, report: RunReport) -> str:
    only = report.gate.targets
    left_out = " (not in the gate)" if only and name not in only else ""
    return f"{name}: {passed:,} of {graded:,} pass{left_out}"


def targets_table(report: RunReport, most: int) -> Iterator[str]:
    """Yield the table in Markdown, with at most so many rows; nothing for one target."""
    if not (found := matrix(report)):
        return
    titles = ["Case", *target_heads(found, report)]
    rows = [
        [numbers.shortened(row.id, 120), *map(_with_icon, row.cells)] for row in found.rows[:most]
    ]
    lines = [_row(titles), _row(["---"] * len(titles), rule=True), *map(_row, rows)]
    yield "\n".join(lines)
    if more := len(found.rows) - len(rows):
        yield f"{numbers.plural(more, 'more case')}."
    for line in target_differences(report):
        yield escape.markdown(line)


def target_differences(report: RunReport) -> list[str]:
    """Return the line on the difference of two targets, if cases have both."""
    found = report.gate.difference
    return [difference_text(found)] if found else []


def _with_icon(case: CaseResult | None) -> str:
    return f"{ICONS[wording.status(case)]} {target_cell(case)}" if case else "-"


def _row(cells: list[str], *, rule: bool = False) -> str:
    return f"| {' | '.join(cells if rule else map(escape.markdown, cells))} |"


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
    return (
        f"{change.direction}: {about}: {_shown_value(change.before)} → {_shown_value(change.after)}"
    )


def _shown_value(text: str) -> str:
    return numbers.shortened(" ".join(text.split()), LONGEST_VALUE) or "(none)"
