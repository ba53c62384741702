"""The figures of an earlier report, read without its cases."""

import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.gate.report import json_format
from rubric_ci.services.last_run import keep, last_run
from rubric_ci.values.usage import Usage, UsedBy
from tests.sample_reports import a_report, graded

SHOP = UsedBy(role="target", name="shop", model="m", answers=2, usage=Usage(calls=2, cost_usd=0.5))
JUDGE = UsedBy(role="judge", name="m", answers=4, usage=Usage(calls=4, input_tokens=9))
NONE = replace(JUDGE, name="unused", answers=0)
CASE = replace(graded("a", "pass"), answer='\n  "used_by": [{"role": "target"}]')


@pytest.mark.parametrize(
    ("report", "baseline", "expected"),
    [
        pytest.param((SHOP, JUDGE, NONE), None, [SHOP, JUDGE], id="a report"),
        pytest.param((JUDGE,) * 6_000, None, [], id="a report whose figures are too long"),
        pytest.param((), None, [], id="one without figures"),
        pytest.param(None, None, [], id="no report"),
        pytest.param((SHOP,), (replace(SHOP, answers=9), JUDGE), [SHOP, JUDGE], id="a baseline"),
    ],
)
def test_figures(
    tmp_path: Path,
    report: tuple[UsedBy, ...] | None,
    baseline: tuple[UsedBy, ...] | None,
    expected: list[UsedBy],
) -> None:
    file = tmp_path / "report.json"
    if report is not None:
        file.write_text(json_format.render(replace(a_report(CASE), used_by=report)))
    other = None if baseline is None else replace(a_report(CASE), used_by=baseline)
    assert [*last_run(file, tmp_path / "none", other).values()] == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "no JSON"),
        *('{"role": 1}', '{"answers": true}', '{"answers": "1"}', "[]", "1"),
        *('{"answers": 1, "usage": 1}', '{"answers": 1, "usage": {"cost_usd": "1"}}'),
        *('{"answers": 1, "seconds": NaN}', '{"answers": 1, "usage": null}'),
    ],
)
def test_an_unreadable_report_has_no_figures(tmp_path: Path, text: str) -> None:
    file = tmp_path / "report.json"
    file.write_text(f'\n  "used_by": [\n    {text}\n  ]')
    assert last_run(file, tmp_path / "none", None) == {}


def test_the_folder_of_the_cache_keeps_the_figures(tmp_path: Path) -> None:
    cache, none = tmp_path / "cache", tmp_path / "none.json"
    cache.mkdir()
    keep(cache, tmp_path, [SHOP, JUDGE])
    dear = replace(SHOP, usage=Usage(calls=2, cost_usd=9))
    keep(cache, tmp_path, [dear])
    keep(cache, tmp_path, [])
    assert sorted(last_run(none, cache, None).values(), key=lambda each: each.role) == [JUDGE, dear]


def test_a_newer_file_is_read_as_far_as_it_is_known(tmp_path: Path) -> None:
    entry = '{"role": "judge", "name": "m", "answers": 2, "more": 1, "usage": {"cost_usd": 1}}'
    (tmp_path / "report.json").write_text(f'\n  "used_by": [\n    {entry}\n  ]')
    expected = UsedBy(role="judge", name="m", answers=2, usage=Usage(cost_usd=1))
    assert [*last_run(tmp_path / "report.json", None, None).values()] == [expected]


def test_only_the_end_of_a_report_is_read(tmp_path: Path) -> None:
    long = replace(CASE, answer="word " * 2**21)
    file = tmp_path / "report.json"
    file.write_text(json_format.render(replace(a_report(long), used_by=(JUDGE,))))
    tracemalloc.start()
    found = last_run(file, None, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [*found.values()] == [JUDGE]
    assert peak < file.stat().st_size / 2
