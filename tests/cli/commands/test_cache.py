"""`rubric-ci cache`: what it deletes and prints."""

import os
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.cli.commands.cache import cache
from rubric_ci.errors import ExitCode
from rubric_ci.models.llm.cache_and_recording import Cache
from rubric_ci.values.command_settings import CacheSettings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three judge requests of half a megabyte, one of them unused for long."""
    folder = tmp_path / "cache"
    for key in ("aa", "bb", "cc"):
        Cache(folder).put(key * 32, key * 250_000)
    os.utime(folder / "aa" / f"{'aa' * 32}.json", (0, 0))
    return folder


SIZES = {
    "nothing to delete": ({}, "{}: 3 judge requests, 1.5 MB"),
    "age": ({"unused_days": 30}, "removed 1 judge request, 0.5 MB\n{}: 2 judge requests, 1.0 MB"),
    "all": ({"clear": True}, "removed 3 judge requests, 1.5 MB\n{}: 0 judge requests, 0.0 MB"),
}


@pytest.mark.parametrize(("options", "shown"), SIZES.values(), ids=SIZES)
def test_cache(
    folder: Path, options: dict[str, Any], shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = CacheSettings(folder=folder, **options)
    assert cache(settings) is ExitCode.OK
    assert capsys.readouterr().out == shown.format(folder) + "\n"


def test_answers_are_counted_and_pruned(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "ab").mkdir()
    (folder / "ab" / f"{'ab' * 32}.answer.json").write_bytes(b"x" * 1_000_000)
    cache(CacheSettings(folder=folder))
    cache(CacheSettings(folder=folder, clear=True))
    assert capsys.readouterr().out.splitlines() == [
        f"{folder}: 3 judge requests, 1 answer, 2.5 MB",
        "removed 3 judge requests, 1 answer, 2.5 MB",
        f"{folder}: 0 judge requests, 0.0 MB",
    ]


def test_no_cache_is_an_empty_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cache(CacheSettings(folder=tmp_path / "none", clear=True)) is ExitCode.OK
    assert capsys.readouterr().out.endswith("none: 0 judge requests, 0.0 MB\n")
    assert not (tmp_path / "none").exists()
