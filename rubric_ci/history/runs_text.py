"""Words and numbers of a run, as terminal, page and badge show them."""

from rubric_ci.history.record import Interval, RunRecord
from rubric_ci.text import numbers


def percent(value: float) -> str:
    """Return a share as a whole percentage; 100 % and 0 % only if exact."""
    whole = round(value * 100)
    if whole in {0, 100} and value not in {0.0, 1.0}:
        whole = 1 if whole == 0 else 99
    return f"{whole} %"


def rate(interval: Interval | None) -> str:
    """Return a pass rate with its interval."""
    if interval is None:
        return "-"
    if interval.low is None or interval.high is None:
        return percent(interval.value)
    return (
        f"{percent(interval.value)} ({round(interval.low * 100)} to {round(interval.high * 100)})"
    )


def score(interval: Interval | None) -> str:
    """Return a mean score with its interval."""
    if interval is None:
        return "-"
    if interval.low is None or interval.high is None:
        return f"{interval.value:.2f}"
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def cost(record: RunRecord) -> str:
    """Return the cost of a run; an unknown one is never $0."""
    if not record.calls:
        return "no calls"
    return "unknown" if record.cost_usd is None else numbers.dollars(record.cost_usd)


def state(record: RunRecord) -> str:
    """Return the verdict, and what limits or adds to it."""
    facts = [
        record.verdict,
        "" if record.gate_passes else "gate fails",
        "worse" if record.worse else "",
        "judge moved" if record.judge_moved else "",
        "" if record.complete else "partial",
    ]
    return ", ".join(fact for fact in facts if fact)


def day(record: RunRecord) -> str:
    """Return date and minute of the start, UTC."""
    return record.started_at[:16].replace("T", " ")
