"""The page is one file without network, and hostile text in it stays inert."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from rubric_ci.parts.lab import history_page
from rubric_ci.parts.lab.history_records import record_of
from rubric_ci.reports.html_templates import case_anchor
from tests.parts.lab.nights import a_case, records
from tests.sample_reports import a_report

HOSTILE = '"><script src="https://evil.example"></script>'


class Tags(HTMLParser):
    """Collects the tags of a page, and checks that they are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)


def links(text: str) -> list[str]:
    return [attrs["href"] or "" for tag, attrs in Tags(text).found if "href" in attrs]


def test_the_page_loads_nothing() -> None:
    text = history_page.render(list(records()))
    tags = Tags(text).found
    assert {tag for tag, _ in tags} & {"script", "link", "img", "iframe", "image", "use"} == set()
    assert not any("src" in attrs for _, attrs in tags)
    assert "url(" not in text
    assert "default-src 'none'; style-src 'unsafe-inline'" in text
    assert set(links(text)) == {f"https://example.com/runs/{n}" for n in range(12)}


def test_texts_are_escaped() -> None:
    record = record_of(a_report(a_case(HOSTILE, "f")), link=HOSTILE)
    text = history_page.render([replace(record, commit=HOSTILE, tool=HOSTILE)], title=HOSTILE)
    assert {tag for tag, _ in Tags(text).found} & {"script"} == set()
    assert links(text) == []


LINKS = {
    "https": ("https://example.com/r.html", True),
    "a page next to it": ("reports/7.html", True),
    "script": ("javascript:alert(1)", False),
    "data": ("data:text/html,hello", False),
    "another host without a scheme": ("//evil.example", False),
    "none": ("", False),
}


@pytest.mark.parametrize(("link", "shown"), LINKS.values(), ids=LINKS)
def test_only_addresses_are_links(link: str, shown: bool) -> None:
    text = history_page.render([record_of(a_report(a_case("one", "p")), link=link)])
    assert bool(links(text)) is shown


def test_a_case_links_to_its_place_in_an_html_report() -> None:
    text = history_page.render([record_of(a_report(a_case("one", "p")), link="r.html")])
    assert f"r.html#{case_anchor('e.yaml', 'one')}" in links(text)


def test_every_part_is_there() -> None:
    text = history_page.render(list(records()))
    assert re.findall(r"<h2>(.*?)</h2>", text) == ["Score and pass rate", "Cost", "6 cases", "Runs"]
    assert "<li>2026-01-09 02:43: gpt → opus</li>" in text
    assert "e.yaml · 11 verdict changes" in text
    assert text.count('<path class="dots') == 2
    assert text.count("<tr><td>") == 12


def test_partial_runs_and_unknown_costs_are_counted() -> None:
    nights = list(records())
    nights[3] = replace(nights[3], complete=False)
    nights[4] = replace(nights[4], cost_usd=None)
    text = history_page.render(nights)
    assert '<p class="note">1 partial run not drawn.</p>' in text
    assert '<p class="note">1 run of unknown cost not drawn.</p>' in text
    assert text.count('<path class="line score"') == 2, "the line is interrupted"


def test_one_run_is_a_page() -> None:
    text = history_page.render([next(iter(records()))])
    assert "1 run, the latest 2026-01-01 02:43 UTC" in text


STRIPS = {
    "ppp": (("pass", "M0 .5h3"),),
    "ppfpp": (("pass", "M0 .5h5"), ("fail", "M0 .5m2 0h1")),
    "pfpfpp": (("pass", "M0 .5h6"), ("fail", "M0 .5m1 0h1m1 0h1")),
    "-pw": (("absent", "M0 .5h3"), ("pass", "M0 .5m1 0h1"), ("waived", "M0 .5m2 0h1")),
}


@pytest.mark.parametrize(("letters", "paths"), STRIPS.items())
def test_strips(letters: str, paths: tuple[tuple[str, str], ...]) -> None:
    assert history_page.strip_paths(letters) == paths


def test_a_strip_says_since_when_and_links_the_run() -> None:
    site = "https://github.example/acme/app"
    nights = [
        record_of(
            a_report(a_case("one", letter), started_at=f"2026-01-0{n}T02:43:00Z",
                     metadata={"head_sha": str(n) * 40}),
            link=f"{site}/actions/runs/{n}",
        )
        for n, letter in enumerate("pff", 1)
    ]  # fmt: skip
    text = history_page.render(nights)
    assert re.findall(r'<rect x="\d+" width="\d+" height="1"><title>(.*?)</title>', text) == [
        "pass since 2026-01-01 02:43 · 1 run · commit 1111111111",
        "fail since 2026-01-02 02:43 · 2 runs · commit 2222222222",
    ]
    assert f'<a href="{site}/actions/runs/2"><rect x="1" width="2" height="1">' in text
    assert f'<a href="{site}/commit/{"3" * 40}">3333333333</a>' in text
    assert '<div class="x"><span>2026-01-01</span><span>2026-01-03</span></div>' in text


def test_a_commit_that_is_none_has_no_link() -> None:
    record = record_of(a_report(a_case("one", "p")), link="https://x.example/actions/runs/1")
    text = history_page.render([replace(record, commit="../../evil")])
    assert "/commit/" not in text
