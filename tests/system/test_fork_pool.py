"""Work in forked processes."""

import os

import pytest

from rubric_ci.errors import CannotReadFile
from rubric_ci.system.fork_pool import in_parallel, usable_cores
from tests import platforms


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_results_keep_their_order(workers: int, count: int) -> None:
    assert in_parallel(lambda n: n * n, range(count), workers) == [n * n for n in range(count)]


@platforms.SIGNALS
def test_work_is_shared() -> None:
    assert len(set(in_parallel(lambda _: os.getpid(), range(8), 2))) == 2


def fail_on_three(number: int) -> int:
    if number == 3:
        raise CannotReadFile("three", "hint")
    return number


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_worker_is_ours(workers: int) -> None:
    with pytest.raises(CannotReadFile, match="three"):
        in_parallel(fail_on_three, range(6), workers)


@platforms.SIGNALS
def test_a_worker_that_dies_is_an_error() -> None:
    parent = os.getpid()
    with pytest.raises(RuntimeError, match="ended without a result"):
        in_parallel(lambda _: os.getpid() == parent or os._exit(1), range(2), 2)


def test_usable_cores() -> None:
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)
