"""What the page does in a browser: filters, order, links, keys, pages, print, and no script."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.parts.formats import page
from rubric_ci.reports.html_templates import case_anchor, criterion_anchor, shared_criterion_anchor
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import BaseResult, Graded
from rubric_ci.values.usage import Usage
from tests import chromium
from tests.chromium import Browser, Page
from tests.sample_reports import a_criterion, a_report, errored, graded, skipped

TONE = a_criterion("tone", text="kind", normalised=1.0, gated=False, evidence="")
LONG = 250
NAMES = "[...document.querySelectorAll('.case > summary > b')].map(each => each.textContent)"


def a_case(name: str, verdict: Any = "pass", **facts: Any) -> Graded:
    return graded(name, verdict, TONE, **{"question": f"Q of {name}", "answer": "So.", **facts})


CASES = (
    a_case("plain"),
    a_case("cheap", file="dir/b.yaml", tags=("t",), usage=Usage(calls=1, cost_usd=0.1)),
    graded("bad", "fail", a_criterion("tone", text="kind", evidence="Rude!"), answer="So. Rude!",
           question="Why <b>?", change="broken",
           before=BaseResult(outcome="graded", verdict="pass", score=1.0, answer="So. Kind!")),
    errored("lost", "no reply"),
    a_case("near", "borderline", usage=Usage(calls=1, cost_usd=0.5)),
    skipped("empty"),
)  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page of every status and one of many cases."""
    folder = tmp_path_factory.mktemp("pages")
    many = a_report(*(a_case(f"c{number}") for number in range(LONG)))
    for name, report in {"few": a_report(*CASES), "many": many, "none": a_report()}.items():
        write(folder / f"{name}.html", report)
    return folder


def write(path: Path, report: RunReport) -> None:
    path.write_text(page.render(report), encoding="utf-8")


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    with chromium.tab(browser) as page:
        yield page


@pytest.fixture
def few(tab: Page, files: Path) -> Page:
    tab.open((files / "few.html").as_uri())
    return tab


@pytest.fixture
def many(tab: Page, files: Path) -> Page:
    tab.open((files / "many.html").as_uri())
    return tab


def at(tab: Page, files: Path, name: str, fragment: str) -> Page:
    tab.open(f"{(files / name).as_uri()}#{fragment}")
    return tab


def choose(tab: Page, name: str, value: str) -> None:
    form = "document.getElementById('filters')"
    tab.get(f"{form}.elements.{name}.value = {value!r}, {form}.dispatchEvent(new Event('change'))")


SHARED = shared_criterion_anchor("tone", "kind")
EVERY = ["bad", "lost", "near", "plain", "cheap", "empty"]
FILTERS = {
    "nothing": ("", EVERY),
    "verdict": ("show=fail", ["bad"]),
    "no verdict": ("show=errored", ["lost"]),
    "file": ("file=dir%2Fb.yaml", ["cheap"]),
    "tag": ("tag=t", ["cheap"]),
    "change": ("change=broke", ["bad"]),
    "criterion": (f"criterion={SHARED}", ["bad", "near", "plain", "cheap"]),
    "criterion missed": (f"criterion={SHARED}&missed=yes", ["bad"]),
    "question": ("q=q+OF+cheap", ["cheap"]),
    "markup is not searched": ("q=summary", []),
    "a heading is not searched": ("q=Expected", []),
    "text that looks like markup": ("q=%3Cb%3E%3F", ["bad"]),
    "text across a highlighted quote": ("q=So.+Rude", ["bad"]),
    "two filters": ("show=pass&q=cheap", ["cheap"]),
    "unknown file": ("file=other", []),
    "order of the files": ("sort=file", ["plain", "cheap", "bad", "lost", "near", "empty"]),
    "lowest score": ("sort=lowest", ["bad", "near", "plain", "cheap", "lost", "empty"]),
    "highest score": ("sort=highest", ["plain", "cheap", "near", "bad", "lost", "empty"]),
    "highest cost": ("sort=cost", ["near", "cheap", "bad", "lost", "plain", "empty"]),
    "largest loss": ("sort=drop", ["bad", "lost", "near", "plain", "cheap", "empty"]),
    "by id": ("sort=name", ["bad", "cheap", "empty", "lost", "near", "plain"]),
}  # fmt: skip


def test_filters_and_orders(tab: Page, files: Path) -> None:
    found = {}
    for name, (fragment, _) in FILTERS.items():
        found[name] = at(tab, files, "few.html", fragment).get(NAMES)
    assert found == {name: names for name, (_, names) in FILTERS.items()}


def test_a_choice_filters_and_is_remembered_in_the_address(few: Page) -> None:
    choose(few, "show", "fail")
    assert few.get(NAMES) == ["bad"]
    assert few.get("location.hash") == "#show=fail"
    assert few.get("document.getElementById('found').textContent") == "1 of 6 cases"
    few.press("Escape")
    assert few.get(NAMES) == EVERY


def test_choices_have_counts(few: Page) -> None:
    options = few.get("[...document.getElementById('filters').elements.file].map(o => o.text)")
    assert options == ["any file", "dir/b.yaml (1)", "e.yaml (5)"]


LINKS = {
    "case": case_anchor("e.yaml", "c240"),
    "criterion": criterion_anchor("e.yaml", "c240", "rubric", "tone"),
}
VISIBLE = """(() => {{ const place = document.getElementById({!r}).getBoundingClientRect();
  return place.bottom > 0 && place.top < innerHeight && place.height > 0 }})()"""


@pytest.mark.parametrize("anchor", LINKS.values(), ids=LINKS)
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_link_opens_its_case(browser: Browser, files: Path, anchor: str, script: bool) -> None:
    with chromium.tab(browser, script=script) as tab:
        at(tab, files, "many.html", anchor)
        assert tab.get(f"document.getElementById({anchor!r}).closest('.case').open")
        assert tab.get(VISIBLE.format(anchor))


def test_a_link_shows_a_case_that_a_filter_hides(few: Page) -> None:
    choose(few, "show", "fail")
    anchor = case_anchor("e.yaml", "plain")
    few.get(f"location.hash = {anchor!r}, new Promise(done => setTimeout(done, 50))")
    assert few.get(VISIBLE.format(anchor))


def test_a_link_to_a_shared_criterion_opens_its_table(tab: Page, files: Path) -> None:
    anchor = shared_criterion_anchor("tone", "kind")
    at(tab, files, "few.html", anchor)
    assert tab.get("document.getElementById('criteria').open")
    assert tab.get(VISIBLE.format(anchor))


def test_pages_of_many_cases(many: Page) -> None:
    assert many.get(NAMES) == [f"c{number}" for number in range(100)]
    many.get("document.querySelector('#pages button:last-child').click()")
    many.get("document.querySelector('#pages button:last-child').click()")
    assert many.get(NAMES) == [f"c{number}" for number in range(200, 250)]
    assert many.get("document.querySelector('#pages span').textContent") == "201 to 250 of 250"
    assert many.get("document.querySelector('#pages button:last-child').disabled")


def test_no_pages_for_few_cases_or_none(few: Page) -> None:
    heights = [few.get("document.getElementById('pages').offsetHeight")]
    choose(few, "q", "nothing like this")
    heights.append(few.get("document.getElementById('pages').offsetHeight"))
    assert heights == [0, 0]
    assert few.get("document.getElementById('found').textContent") == "0 of 6 cases"


def test_bodies_are_built_when_they_are_opened(many: Page) -> None:
    assert many.get("document.querySelectorAll('.case pre').length") == 0
    many.get("document.querySelector('.case summary').click(), new Promise(d => setTimeout(d, 50))")
    assert many.get("document.querySelectorAll('.case pre').length") == 2


def focused(tab: Page) -> str:
    return str(tab.get("document.activeElement.querySelector('b')?.textContent ?? ''"))


def test_keys(few: Page) -> None:
    steps = []
    for key in "jjk":
        few.press(key)
        steps.append(focused(few))
    few.press("/")
    assert few.get("document.activeElement.name") == "q"
    few.press("j")
    assert few.get("document.activeElement.value") == "j"
    assert steps == ["bad", "lost", "bad"]


def test_enter_opens_and_the_next_page_follows(many: Page) -> None:
    many.press("j")
    many.press("Enter")
    assert many.get("document.querySelector('.case').open")
    many.get("document.querySelectorAll('.case summary')[99].focus()")
    many.press("j")
    assert focused(many) == "c100"
    many.press("k")
    assert focused(many) == "c99"


def test_keys_continue_from_a_link(tab: Page, files: Path) -> None:
    at(tab, files, "many.html", case_anchor("e.yaml", "c120"))
    tab.press("j")
    assert focused(tab) == "c121"


def test_every_key_is_documented_on_the_page(few: Page) -> None:
    keys = few.get("[...document.querySelectorAll('kbd')].map(each => each.textContent)")
    assert keys == ["/", "j", "k", "Enter", "Esc"]


def test_without_script_every_case_can_be_read(browser: Browser, files: Path) -> None:
    with chromium.tab(browser, script=False) as tab:
        tab.open((files / "few.html").as_uri())
        assert tab.get(NAMES) == EVERY
        assert tab.get("document.querySelector('.case mark').textContent") == "Rude!"
        assert tab.get("document.querySelectorAll('#files tr').length") == 3
        hidden = "[...document.querySelectorAll('.scripted')].every(e => !e.offsetHeight)"
        assert tab.get(hidden)


def test_without_script_the_verdicts_filter(browser: Browser, files: Path) -> None:
    with chromium.tab(browser, script=False) as tab:
        tab.open((files / "few.html").as_uri())
        tab.get("document.getElementById('show-fail').checked = true")
        seen = "[...document.querySelectorAll('.case')].filter(e => e.offsetHeight).length"
        assert tab.get(seen) == 1


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_400_pixels_are_wide_enough(browser: Browser, files: Path, script: bool) -> None:
    with chromium.tab(browser, script=script) as tab:
        tab.call(
            "Emulation.setDeviceMetricsOverride",
            width=400,
            height=800,
            deviceScaleFactor=1,
            mobile=True,
        )
        tab.open((files / "few.html").as_uri())
        tab.get("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert tab.get("document.documentElement.scrollWidth") == 400


def test_all_cases_are_printed(many: Page) -> None:
    many.get("document.querySelector('.case summary').click()")
    many.get("dispatchEvent(new Event('beforeprint'))")
    assert len(many.get(NAMES)) == LONG
    many.get("dispatchEvent(new Event('afterprint'))")
    assert len(many.get(NAMES)) == 100


def test_a_report_without_cases(tab: Page, files: Path) -> None:
    tab.open((files / "none.html").as_uri())
    assert tab.get("document.querySelector('h1').textContent").endswith("nothing to grade")
    assert tab.seen("Runtime.exceptionThrown") == []


def test_the_diff_and_the_quote_are_marked(few: Page) -> None:
    shown = (
        "[...document.querySelectorAll('.case ins, .case del, .case mark')].map(e => e.outerHTML)"
    )
    assert few.get(shown) == ["<mark>Rude!</mark>", "<del>Kind!</del>", "<ins>Rude!</ins>"]


def test_many_cases_are_few_nodes(browser: Browser, tmp_path: Path) -> None:
    criteria = tuple(replace(TONE, id=f"c{number}") for number in range(8))
    cases = (graded(f"c{n}", "pass", *criteria, file=f"{n % 300}.yaml") for n in range(1_500))
    write(tmp_path / "r.html", a_report(*cases))
    with chromium.tab(browser) as tab:
        tab.open((tmp_path / "r.html").as_uri())
        tab.get("document.querySelector('.case summary').click()")
        count = "document.createTreeWalker(document)"
        nodes = tab.get(
            f"(() => {{ const w = {count}; let n = 1; while (w.nextNode()) n++; return n }})()"
        )
    assert nodes < 9_000


LABELS = """[...document.querySelectorAll('#filters fieldset label')]
  .map(each => each.textContent.trim())"""
FILES = "[...document.getElementById('filters').elements.file].map(each => each.text)"


def test_counts_follow_the_search(tab: Page, files: Path) -> None:
    at(tab, files, "few.html", "q=Q+of")
    assert tab.get(LABELS) == [
        "all 3", "2 passed", "1 borderline", "0 failed", "0 errored", "0 skipped",
    ]  # fmt: skip
    assert tab.get(FILES) == ["any file", "dir/b.yaml (1)", "e.yaml (2)"]
    choose(tab, "show", "borderline")
    assert tab.get(LABELS)[:2] == ["all 3", "2 passed"]
    assert tab.get(FILES) == ["any file", "dir/b.yaml (0)", "e.yaml (1)"]


FOUND = "[...(CSS.highlights.get('found') ?? [])].map(each => each.toString())"


def test_what_the_search_found_is_highlighted(tab: Page, files: Path) -> None:
    at(tab, files, "few.html", "q=cheap")
    assert tab.get(FOUND) == ["cheap"]
    tab.get("document.querySelector('.case summary').click(), new Promise(d => setTimeout(d, 50))")
    assert tab.get(FOUND) == ["cheap", "cheap"]
    tab.press("Escape")
    assert tab.get(FOUND) == []


def test_a_case_shows_whether_it_is_open(few: Page) -> None:
    sign = "getComputedStyle(document.querySelectorAll('.case summary')[{}], '::before').content"
    assert [few.get(sign.format(number)) for number in (0, 3)] == ['"▾"', '"▸"']
