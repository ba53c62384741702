"""The pictures of comment, page and terminal in `docs/images`, from a report of `tests/golden`.

`make golden` takes them in a headless Chromium. `pictures.json` has a digest of the text that each
was taken of, so that a test notices an old picture without a browser.
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
from rubric_ci.reports.render import markdown, terminal
from rubric_ci.reports.render.html import page
from rubric_ci.reports.render.markdown import Links
from tests import chromium
from tests.chromium import Page

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
body { margin: 24px; font: 14px/1.5 "Noto Sans", sans-serif; color: #1f2328; background: #fff }
main { border: 1px solid #d1d9e0; border-radius: 6px; padding: 16px } a { color: #0969da }
h2 { font-size: 1.5em; line-height: 1.25; margin: 0 0 16px; padding-bottom: .3em;
  border-bottom: 1px solid #d1d9e0 }
p, ul, table, details, blockquote { margin: 0 0 16px } ul { padding-left: 2em }
blockquote { border-left: .25em solid #d1d9e0; padding: 0 1em; color: #59636e }
table { border-collapse: collapse } td, th { padding: 6px 13px; border: 1px solid #d1d9e0 }
.pass { color: #1a7f37 } .borderline { color: #9a6700 } .fail { color: #cf222e }
code { background: #eff1f3; border-radius: 6px; padding: .2em .4em; font-size: 85% }
</style><main>"""
TERMINAL: Final = (
    '<!doctype html><meta charset="utf-8"><style>body {{ margin: 24px; background: #0d1117; '
    "color: #f0f6fc }} pre {{ font: 14px/1.17 'DejaVu Sans Mono', monospace; margin: 0 }}"
    "</style><pre>{code}</pre>"
)


SIGNS: Final = {  # a browser without a font of emoji shows boxes
    "✅": '<b class="pass">✔</b>',
    "🟡": '<b class="borderline">●</b>',
    "❌": '<b class="fail">✘</b>',
    "⏭️": "<b>»</b>",
}


class Picture(NamedTuple):
    """A picture: its file, the text that it shows, that text as HTML, and its size."""

    name: str
    text: str
    html: str
    width: int
    most: int  # pixels of its height

    @property
    def digest(self) -> str:
        """The digest of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def pictures() -> Iterator[Picture]:
    """Yield the pictures of the docs."""
    report = json_format.read(REPORT.read_text(encoding="utf-8"))
    comment = markdown.render(
        report, limit=markdown.COMMENT_LIMIT, most=markdown.COMMENT_CASES, links=LINKS
    )
    unsafe = cmark.Options.CMARK_OPT_UNSAFE
    shown = cmarkgfm.github_flavored_markdown_to_html(comment, options=unsafe)
    for emoji, sign in SIGNS.items():
        shown = shown.replace(emoji, sign)
    yield Picture("comment.png", comment, f"{COMMENT}{shown}</main>", 860, 1200)
    whole = page.render(report)
    yield Picture("report.png", whole, whole, 1100, 1500)
    printed = terminal.render(report, width=COLUMNS, color=True)
    yield Picture("terminal.png", printed, _coloured(printed), 960, 1000)


def _coloured(text: str) -> str:
    console = Console(record=True, width=COLUMNS, file=StringIO())
    console.print(Text.from_ansi(text))
    return console.export_html(
        inline_styles=True, code_format=TERMINAL, theme=terminal_theme.SVG_EXPORT_THEME
    )


def take(tab: Page, picture: Picture) -> None:
    """Write a picture."""
    tab.open(f"data:text/html;base64,{base64.b64encode(picture.html.encode()).decode()}")
    tab.call("Emulation.setScrollbarsHidden", hidden=True)
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
