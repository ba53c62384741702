"""The pictures of comment, page, terminal and history in `docs/images`, each in light and dark.

`make golden` takes them in a headless Chromium, of a report of `tests/golden`. `pictures.json` has
a digest of the HTML that each was taken of, so that a test notices an old picture without a
browser.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Final, NamedTuple

import cmarkgfm
from cmarkgfm import cmark
from rich import terminal_theme
from rich.console import Console
from rich.text import Text

from rubric_ci.gate.report import json_format
from rubric_ci.parts.formats import page
from rubric_ci.parts.lab import history
from rubric_ci.reports import markdown, terminal
from rubric_ci.reports.markdown import Links
from tests import chromium
from tests.chromium import Page
from tests.parts.lab.nights import records

ROOT: Final = Path(__file__).parents[2]
IMAGES: Final = ROOT / "docs/images"
DIGESTS: Final = IMAGES / "pictures.json"
REPORT: Final = ROOT / "tests/golden/mixed.report.json"
LINKS: Final = Links(
    blob="https://github.example/acme/support/blob/0a1b2c3",
    run="https://github.example/acme/support/actions/runs/7",
    page="report.html",
)
COLUMNS: Final = 100
COMMENT: Final = """\
<!doctype html><meta charset="utf-8"><style>
:root { color-scheme: light dark; --text: #1f2328; --back: #fff; --line: #d1d9e0; --link: #0969da;
  --quote: #59636e; --code: #eff1f3; --pass: #1a7f37; --borderline: #9a6700; --fail: #cf222e }
@media (prefers-color-scheme: dark) { :root { --text: #f0f6fc; --back: #0d1117; --line: #3d444d;
  --link: #4493f8; --quote: #9198a1; --code: #212830; --pass: #3fb950; --borderline: #d29922;
  --fail: #f85149 } }
body { margin: 24px; font: 14px/1.5 "Noto Sans", sans-serif; color: var(--text);
  background: var(--back) }
main { border: 1px solid var(--line); border-radius: 6px; padding: 16px } a { color: var(--link) }
h2 { font-size: 1.5em; line-height: 1.25; margin: 0 0 16px; padding-bottom: .3em;
  border-bottom: 1px solid var(--line) }
p, ul, table, details, blockquote { margin: 0 0 16px } ul { padding-left: 2em }
blockquote { border-left: .25em solid var(--line); padding: 0 1em; color: var(--quote) }
table { border-collapse: collapse } td, th { padding: 6px 13px; border: 1px solid var(--line) }
.pass { color: var(--pass) } .borderline { color: var(--borderline) } .fail { color: var(--fail) }
code { background: var(--code); border-radius: 6px; padding: .2em .4em; font-size: 85% }
</style><main>"""
TERMINAL: Final = (
    '<!doctype html><meta charset="utf-8"><style>body {{ margin: 24px; background: {background}; '
    "color: {foreground} }} pre {{ font: 14px/1.17 'DejaVu Sans Mono', monospace; margin: 0 }}"
    "</style><pre>{code}</pre>"
)
LIGHT: Final = terminal_theme.DEFAULT_TERMINAL_THEME
DARK: Final = terminal_theme.SVG_EXPORT_THEME


SIGNS: Final = {  # a browser without a font of emoji shows boxes
    "✅": '<b class="pass">✔</b>',
    "🟡": '<b class="borderline">●</b>',
    "❌": '<b class="fail">✘</b>',
    "⏭️": "<b>»</b>",
}


class Picture(NamedTuple):
    """A picture: its file, what it shows as HTML, and its size."""

    name: str
    html: str
    width: int
    most: int  # pixels of its height
    dark: bool

    @property
    def digest(self) -> str:
        """The digest of what the browser is shown."""
        return hashlib.sha256(self.html.encode()).hexdigest()


def pictures() -> Iterator[Picture]:
    """Yield the pictures of the docs, the dark one after the light one."""
    for dark in (False, True):
        yield from _pictures("-dark" if dark else "", dark=dark)


def _pictures(end: str, *, dark: bool) -> Iterator[Picture]:
    report = json_format.read(REPORT.read_text(encoding="utf-8"))
    comment = markdown.render(
        report, limit=markdown.COMMENT_LIMIT, most=markdown.COMMENT_CASES, links=LINKS
    )
    unsafe = cmark.Options.CMARK_OPT_UNSAFE
    shown = cmarkgfm.github_flavored_markdown_to_html(comment, options=unsafe)
    for emoji, sign in SIGNS.items():
        shown = shown.replace(emoji, sign)
    yield Picture(f"comment{end}.png", f"{COMMENT}{shown}</main>", 860, 1200, dark)
    whole = page.render(report)
    yield Picture(f"report{end}.png", whole, 1100, 1500, dark)
    printed = terminal.render(report, width=COLUMNS, color=True)
    yield Picture(f"terminal{end}.png", _coloured(printed, dark=dark), 960, 1000, dark)
    past = history.render(list(records()))
    yield Picture(f"history{end}.png", _coloured(past, dark=dark), 960, 1000, dark)


def _coloured(text: str, *, dark: bool) -> str:
    console = Console(record=True, width=COLUMNS, file=StringIO())
    console.print(Text.from_ansi(text))
    theme = DARK if dark else LIGHT
    return console.export_html(inline_styles=True, code_format=TERMINAL, theme=theme)


def take(tab: Page, picture: Picture) -> None:
    """Write a picture."""
    tab.open(f"data:text/html;base64,{base64.b64encode(picture.html.encode()).decode()}")
    tab.call("Emulation.setScrollbarsHidden", hidden=True)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if picture.dark else "light"}
    tab.call("Emulation.setEmulatedMedia", features=[scheme])
    height = 100
    for _ in range(2):  # the height of the text is known at its width only
        size = {"width": picture.width, "height": height, "deviceScaleFactor": 1.5, "mobile": False}
        tab.call("Emulation.setDeviceMetricsOverride", **size)
        height = min(int(tab.get("document.documentElement.scrollHeight")), picture.most)
    shot = tab.call("Page.captureScreenshot", format="png")
    (IMAGES / picture.name).write_bytes(base64.b64decode(shot["data"]))


def main() -> None:
    """Take the pictures whose text changed."""
    known = json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {}
    stale = [each for each in pictures() if known.get(each.name) != each.digest]
    browser = chromium.find()
    if not stale:
        return
    if browser is None:
        raise SystemExit(chromium.MISSING)
    with chromium.running(browser) as started, chromium.tab(started) as tab:
        for each in stale:
            take(tab, each)
    digests = {each.name: each.digest for each in pictures()}
    DIGESTS.write_text(f"{json.dumps(digests, indent=2)}\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
