"""The templates of the HTML pages, their anchors, and the policy that allows nothing else.

A template shows text by `{{ text }}`, and `{{ text | prose }}` keeps `code` between backticks.
`text/escape.py` escapes both. There is no other filter, so that no template skips it.
"""

import hashlib
from base64 import b64encode
from functools import cache, lru_cache
from itertools import pairwise, zip_longest
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template, Undefined
from markupsafe import Markup

from rubric_ci.reports import blocks
from rubric_ci.system.installation import read_page_part
from rubric_ci.text import escape

SHORT: Final = 100  # characters of a text that many cases share, such as a criterion
_ANCHOR_LENGTH: Final = 12  # hex digits


def template(name: str) -> Template:
    return _environment().get_template(name)


def style(*names: str) -> str:
    """Return the colours and style sheets as one."""
    return blocks.style() + "".join(map(read_page_part, names))


def script() -> str:
    return read_page_part("page.js")


def policy(script: str, style: str, *, images: bool = False) -> str:
    """Return the Content-Security-Policy of a page with this script and style."""
    shown = "img-src data:; " if images else ""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; {shown}"
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        finalize=_as_html,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    made.filters.clear()
    made.filters["prose"] = _prose
    return made


def trusted(text: str) -> Markup:
    """Mark text as HTML that is escaped, or our own style and script."""
    return Markup(text)  # noqa: S704 - its callers escaped it


def without_line_breaks(source: str) -> str:
    """Return a template without indents and line breaks between tags; others are a space."""
    lines = list(filter(None, map(str.strip, source.split("\n"))))
    between = (
        "" if line.endswith((">", "}")) and after.startswith(("<", "{")) else " "
        for line, after in pairwise(lines)
    )
    return "".join(map("".join, zip_longest(lines, between, fillvalue="")))


def _source(name: str) -> str:
    return without_line_breaks(read_page_part(f"templates/{name}"))


def _as_html(value: object) -> Markup | Undefined:
    """Return a value as HTML: `finalize` of every `{{ … }}`."""
    if type(value) is str:
        return _short(value) if len(value) < SHORT else _escaped(value)
    if isinstance(value, Markup | Undefined):
        return value  # StrictUndefined raises
    raise TypeError(f"a template shows {type(value).__name__}, not text")


def _escaped(text: str) -> Markup:
    return trusted(escape.html(text))


_short = lru_cache(maxsize=4096)(_escaped)


def _prose(text: str) -> Markup:
    return trusted(escape.html_prose(text))


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def case_anchor(file: str, case: str) -> str:
    """Return the anchor of a case, which other pages link to."""
    return f"case-{_name_digest(file, case)}"


def criterion_anchor(file: str, case: str, evaluator: str, criterion: str) -> str:
    """Return the anchor of a criterion of a case; it begins with the anchor of the case."""
    return f"{case_anchor(file, case)}-{_name_digest(evaluator, criterion)}"


def shared_criterion_anchor(criterion: str, text: str) -> str:
    """Return the anchor of a criterion over all cases that have it."""
    return f"criterion-{_name_digest(criterion, text)}"


def _name_digest(*names: str) -> str:
    name = "\n".join(names).encode("utf-8", "surrogatepass")
    return hashlib.sha256(name).hexdigest()[:_ANCHOR_LENGTH]
