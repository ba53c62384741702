"""A report full of hostile text in a real browser: nothing runs, nothing is requested or added."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from rubric_ci.parts.formats import page
from rubric_ci.reports.html_templates import case_anchor
from rubric_ci.values.report import RunReport
from tests import chromium
from tests.chromium import Browser, Page
from tests.reports.test_hostile import HARMLESS, HOSTILE, hostile

ATTACKS: Final = {
    **HOSTILE,
    "ends the noscript": "</noscript><script>window.ran = 1</script><noscript>",
    "ends the data": "</script><script>window.ran = 2</script>",
    "comment in the data": "<!--<script>window.ran = 3",
    "ends the style": "</style><script>window.ran = 4</script>",
    "ends an attribute": "\" onmouseover=window.ran=5 autofocus onfocus=window.ran=6 x='",
    "picture": "<img src=https://evil.example/p.png onerror=window.ran=7>",
    "frames": "<iframe src=https://evil.example></iframe><object data=https://evil.example>",
    "style": "<style>@import 'https://e.example/s'</style><link rel=stylesheet href=//e.example>",
    "refresh": "<meta http-equiv=refresh content='0;url=https://e.example'><base href=//e.example>",
    "form": "<form action=https://evil.example><button autofocus>go</button></form>",
    "template": "<template><script>window.ran = 8</script></template>",
    "vector": "<svg onload=window.ran=9><use href=https://evil.example#x></svg>",
    "mathematics": "<math><mtext></mtext><mglyph><style><img src=x onerror=window.ran=10>",
    "text that ends": "</textarea></title></xmp></plaintext><script>window.ran = 11</script>",
    "clobbering": "<a id=data><form id=filters><input name=elements>",
    "entities": "&lt;script&gt;window.ran=12&lt;/script&gt;",
    "a name of an object": "__proto__",
    "markdown": "# [a](javascript:window.ran=14) [b](data:text/html,c) [d](https://evil.example)\n"
    "*e* <https://evil.example> ![f](https://evil.example/p.png) [g](//evil.example)\n\n"
    "[h]: https://evil.example\n\n<b onclick=window.ran=15> `<i>`\n```<u>\n</noscript><s>\n```",
    "a template literal": "${window.ran = 13}",
}
LINKS: Final = """[...document.querySelectorAll("a[rel]")].map(each =>
  [each.getAttribute("href"), each.textContent + (each.nextSibling?.textContent ?? "")])"""
NAMES: Final = """(() => { const found = new Set();
  for (const each of document.querySelectorAll("*")) {
    found.add(each.localName);
    for (const { name } of each.attributes) found.add(`${each.localName} ${name}`);
  } return [...found].sort() })()"""
OPEN_ALL: Final = "document.querySelectorAll('details').forEach(each => each.open = true)"
HANDLED: Final = "new Promise(done => setTimeout(done, 20))"  # events of the page

IDS: Final = (
    "[...document.querySelectorAll('[id]')].map(e => e.id).filter(id => !/^c[a-z]+-/.test(id))"
)


@pytest.fixture(scope="module")
def harmless(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, list[str]]:
    """The elements and attributes of pages of harmless texts, with and without their script."""
    folder = tmp_path_factory.mktemp("harmless")
    return {script: names(browser, folder, script) for script in (True, False)}


def names(browser: Browser, folder: Path, script: bool) -> list[str]:
    with chromium.tab(browser, script=script) as tab:
        found = (opened(tab, folder, hostile(text), script) for text in HARMLESS)
        return [name for each in found for name in each]


def opened(tab: Page, folder: Path, report: RunReport, script: bool = True) -> list[str]:
    """Open every part of the page of a report, and return its elements and attributes."""
    path = folder / "report.html"
    path.write_text(page.render(report), encoding="utf-8")
    tab.open(path.as_uri())
    tab.get(OPEN_ALL)
    if script:
        tab.get(HANDLED)
    found: list[str] = tab.get(NAMES)
    return found


@pytest.fixture(scope="module", params=[True, False], ids=["script", "no script"])
def opened_tab(request: pytest.FixtureRequest, browser: Browser) -> Iterator[tuple[Page, bool]]:
    with chromium.tab(browser, script=request.param) as tab:
        yield tab, request.param


@pytest.fixture
def visit(opened_tab: tuple[Page, bool], browser: Browser) -> tuple[Page, bool]:
    """A tab that knows nothing of other pages: to start one takes more than to load a page."""
    browser.events.clear()
    return opened_tab


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS)
def test_hostile_text_is_text(
    text: str, visit: tuple[Page, bool], harmless: dict[bool, list[str]], tmp_path: Path
) -> None:
    tab, script = visit
    found = opened(tab, tmp_path, hostile(text), script)
    assert sorted({*found} - {*harmless[script]} - {"code"}) == []
    for address, shown in tab.get(LINKS):
        assert address.startswith(("http://", "https://"))
        assert address in shown
    assert tab.get("typeof window.ran") == "undefined"
    assert [sent["request"]["url"][:5] for sent in tab.seen("Network.requestWillBeSent")] == [
        "file:"
    ]
    assert tab.seen("Page.javascriptDialogOpening") == []
    assert tab.seen("Runtime.exceptionThrown") == []
    assert [
        entry for entry in tab.seen("Log.entryAdded") if "frame-ancestors" not in str(entry)
    ] == []


@pytest.mark.parametrize(
    "fragment",
    [
        "criterion=%3Cimg+src%3Dx%3E&file=%3Cb%3E&q=%3Cb%3E&missed=1",
        "__proto__=1&elements=1&submit=1&constructor=1",
        "sort=constructor&show=valueOf",
        *("case-", "criterion-", "%", "q=%FF", "sort=__proto__", "show=<script>"),
    ],
)
def test_a_hostile_address_changes_nothing(browser: Browser, tmp_path: Path, fragment: str) -> None:
    with chromium.tab(browser) as tab:
        opened(tab, tmp_path, hostile("harmless"))
        before = tab.get(IDS)
        tab.open(f"{(tmp_path / 'report.html').as_uri()}#{fragment}")
        assert tab.seen("Runtime.exceptionThrown") == []
        assert tab.get(IDS) == before
        assert tab.get("document.querySelectorAll('img').length") == 0


def test_the_policy_refuses_what_an_escape_lets_through(browser: Browser, tmp_path: Path) -> None:
    text = page.render(hostile("harmless"))
    evil = (
        "<script>window.ran = 1</script><img src=https://evil.example/p.png onerror=window.ran=2>"
    )
    path = tmp_path / "report.html"
    path.write_text(text.replace("</header>", f"</header>{evil}"), encoding="utf-8")
    with chromium.tab(browser) as tab:
        tab.open(path.as_uri())
        assert tab.get("typeof window.ran") == "undefined"
        refused = [entry["entry"]["text"] for entry in tab.seen("Log.entryAdded")]
        assert len([text for text in refused if "Content Security Policy" in text]) == 3


def test_hostile_ids_have_plain_anchors(browser: Browser, tmp_path: Path) -> None:
    text = ATTACKS["ends an attribute"]
    with chromium.tab(browser) as tab:
        opened(tab, tmp_path, replace(hostile(text), comparison=None))
        anchor = case_anchor("e.yaml", text)
        tab.open(f"{(tmp_path / 'report.html').as_uri()}#{anchor}")
        assert tab.get(f"document.getElementById('{anchor}').closest('.case').open")
