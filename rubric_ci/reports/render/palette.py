"""The colours of verdicts, gate results and changes, for pages and terminal."""

from collections.abc import Mapping
from typing import Final

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import Change


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour on light and on dark paper, and the style of rich that is nearest."""

    light: str
    dark: str
    terminal: str = ""


COLOURS: Final[Mapping[str, Colour]] = {
    "pass": Colour("#1a7f37", "#3fb950", "green"),
    "borderline": Colour("#9a6700", "#d29922", "yellow"),
    "fail": Colour("#cf222e", "#f85149", "bold red"),
    "errored": Colour("#8250df", "#ab7df8", "magenta"),
    "waived": Colour("#0969da", "#4493f8", "cyan"),
    "skipped": Colour("#59636e", "#9198a1", "dim"),
    "accent": Colour("#0969da", "#4493f8"),
    "ink": Colour("#1f2328", "#f0f6fc"),
    "soft": Colour("#59636e", "#9198a1"),
    "paper": Colour("#ffffff", "#0d1117"),
    "card": Colour("#f6f8fa", "#151b23"),
    "line": Colour("#d1d9e0", "#3d444d"),
    "quote": Colour("#fff1a8", "#574a12"),
}

CHANGES: Final[Mapping[Change, str]] = {
    "broken": "fail",
    "better": "pass",
    "failing-before": "skipped",
    "not-confirmed": "borderline",
    "new": "waived",
    "not-comparable": "errored",
}
"""The colour of a change, by name."""


def style() -> str:
    """Return the colours as variables of a style sheet, such as `--fail`."""
    light = "; ".join(f"--{name}: {colour.light}" for name, colour in COLOURS.items())
    dark = "; ".join(f"--{name}: {colour.dark}" for name, colour in COLOURS.items())
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )
