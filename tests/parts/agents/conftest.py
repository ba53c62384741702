"""The repository with an agent program, and a temporary folder of its own for each test."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest

from rubric_ci.system import scratch
from tests.parts.agents.bench import Bench


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: Any) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("temporary")))
    scratch._remove_abandoned.cache_clear()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    yield Bench(tmp_path, monkeypatch)
    assert [*Path(gettempdir()).glob("rubric-ci-*")] == []
