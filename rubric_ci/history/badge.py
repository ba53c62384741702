"""A badge with the result of the latest complete run, as SVG."""

from collections.abc import Sequence
from typing import Final

from rubric_ci.history import runs_text
from rubric_ci.history.record import RunRecord
from rubric_ci.render.palette import COLOURS
from rubric_ci.text.escape import xml

GREY: Final = COLOURS["skipped"].light
_WIDTH: Final = 6.6  # of a character at 11 px; `textLength` makes the text fit it


def render(records: Sequence[RunRecord], label: str = "evals") -> str:
    """Return the badge of the latest complete run; "no runs" without one."""
    latest = next((record for record in reversed(records) if record.complete), None)
    message, colour = _message(latest) if latest else ("no runs", GREY)
    left, right = (len(text) * _WIDTH + 12 for text in (label, message))
    title = xml(f"{label}: {message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:.0f}" height="20"'
        f' role="img" aria-label="{title}"><title>{title}</title>'
        f'<clipPath id="r"><rect width="{left + right:.0f}" height="20" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left:.1f}" height="20" fill="#32383f"/>'
        f'<rect x="{left:.1f}" width="{right:.1f}" height="20" fill="{colour}"/></g>'
        '<g fill="#fff" text-anchor="middle" font-size="11"'
        ' font-family="Verdana,Geneva,DejaVu Sans,sans-serif">'
        f"{_text(label, left / 2)}{_text(message, left + right / 2)}</g></svg>\n"
    )


def _message(record: RunRecord) -> tuple[str, str]:
    colour = _colour(record)
    if record.pass_rate is None:
        return record.verdict, colour
    rate = f"{runs_text.percent(record.pass_rate.value)} pass"
    return (f"{rate}, no verdict for some" if record.verdict == "error" else rate), colour


def _colour(record: RunRecord) -> str:
    """Return the colour of the gate's result."""
    if record.pass_rate is None and record.verdict != "error":
        return GREY
    if record.gate_passes:
        return COLOURS["pass"].light
    return COLOURS["errored" if record.verdict == "error" else "fail"].light


def _text(text: str, middle: float) -> str:
    return f'<text x="{middle:.1f}" y="14" textLength="{len(text) * _WIDTH:.1f}">{xml(text)}</text>'
