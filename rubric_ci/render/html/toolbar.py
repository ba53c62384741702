"""The filters above the cases: verdicts work by the style sheet alone, the others by the script."""

from collections.abc import Iterator
from typing import Final

from rubric_ci.model.report import RunReport
from rubric_ci.render import wording
from rubric_ci.text.escape import html

_SORTS: Final = {
    "urgent": "most urgent first",
    "file": "order of the files",
    "lowest": "lowest score first",
    "highest": "highest score first",
    "drop": "largest loss first",
    "cost": "highest cost first",
    "name": "by id",
}
_FILTERS: Final = ("file", "tag", "criterion", "change")
_KEYS: Final = {
    "/": "search",
    "j": "next case",
    "k": "previous case",
    "Enter": "open or close the case",
    "Esc": "clear the filters",
}


def toolbar(report: RunReport) -> Iterator[str]:
    """Yield the filters; the script fills the choices in."""
    counts = wording.counts(report.totals)
    if not counts:
        return
    yield '<h2 id="list">Cases</h2><form id="filters">'
    yield '<div class="scripted" hidden><input type="search" name="q" '
    yield 'placeholder="Search in cases" aria-label="Search in cases">'
    for name in _FILTERS:
        yield f'<select name="{name}" aria-label="{name}"><option value="">any {name}</option>'
        yield "</select>"
    yield '<label class="missed"><input type="checkbox" name="missed" value="yes"> missed</label>'
    yield '<select name="sort" aria-label="order">'
    yield from (f'<option value="{name}">{text}</option>' for name, text in _SORTS.items())
    yield "</select></div>"
    yield "<fieldset><legend>Show</legend>"
    yield _choice("all", f"all {len(report.cases):,}", " checked")
    for kind, number, word in counts:
        yield _choice(kind, f"{number:,} {word}", "")
    yield "</fieldset></form>"
    yield '<p id="found" class="meta scripted" role="status" hidden></p>'
    keys = " ".join(f"<kbd>{key}</kbd> {text}" for key, text in _KEYS.items())
    yield f'<p class="meta keys scripted" hidden>{keys}</p>'


def _choice(kind: str, label: str, checked: str) -> str:
    box = f'<input type="radio" name="show" value="{kind}" id="show-{kind}"{checked}>'
    return f'<label class="{kind}">{box} {html(label)}</label>'
