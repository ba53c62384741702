"""Numbers, costs and durations as all formats show them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from rubric_ci.values.scoring import format_score

if TYPE_CHECKING:  # `validate` counts as well, and loads no classes of a run
    from rubric_ci.values.report import Totals
    from rubric_ci.values.usage import Usage

T = TypeVar("T")

score = format_score  # the same as in verdict reasons


def cost(totals: "Totals | Usage") -> str:
    """Return model calls and cost; calls of unknown cost are never counted as free."""
    if not totals.calls:
        spent = f", {dollars(totals.cost_usd)} of commands" if totals.cost_usd else ""
        return f"no model calls{spent}"
    calls = plural(totals.calls, "model call")
    if totals.unpriced_calls >= totals.calls or (totals.unpriced_calls and not totals.cost_usd):
        return f"{calls}, cost unknown"
    unknown = f" without {totals.unpriced_calls:,} of unknown cost" if totals.unpriced_calls else ""
    return f"{calls}, {dollars(totals.cost_usd)}{unknown}"


def usage(totals: "Totals | Usage") -> str:
    """Return tokens, cache hits and repeated requests, or ""."""
    parts = [
        f"{totals.input_tokens:,} + {totals.output_tokens:,} tokens" if totals.input_tokens else "",
        f"{totals.cache_hits:,} from cache" if totals.cache_hits else "",
        f"{plural(totals.repairs, 'reply', 'replies')} asked for again" if totals.repairs else "",
    ]
    return ", ".join(part for part in parts if part)


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def moment(text: str) -> str:
    """Return a time of RFC 3339 for people: "2026-01-02 03:04 UTC"; another text as it is."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{found.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if found.tzinfo else text


def dollars(amount: float) -> str:
    """Return dollars with two decimals, or four below $1."""
    if 0 < amount < 0.0001:
        return "less than $0.0001"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def bounded(bound: str, amount: float) -> str:
    """Return dollars after `about` or `at most`, which "less than" replaces."""
    return f"{bound}{shown}" if (shown := dollars(amount)).startswith("$") else shown


def plural(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 10) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(items: Sequence[T], most: int, line: Callable[[T], str] = str) -> list[str]:
    """Return the lines of the first items, and one that counts the others."""
    more = [f"and {len(items) - most:,} more"] if len(items) > most else []
    return [*map(line, items[:most]), *more]


def numbered(names: Iterable[str], taken: Iterable[str] = ()) -> Iterator[str]:
    """Yield names, with a number behind those that are taken: `a`, `a-2`."""
    known, counts = {*taken}, Counter[str]()
    for name in names:
        found = name
        while found in known:
            counts[name] += 1
            found = f"{name}-{counts[name] + 1}"
        known.add(found)
        yield found


def points(share: float) -> str:
    """Return a difference of scores in points of a hundred, rounded up."""
    return plural(-(-round(share * 1e6) // 10_000), "point")


def shortened(text: str, limit: int) -> str:
    """Cut text to a number of characters, with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
