"""Waits between attempts: exponential, with full jitter, never shorter than the server asks for."""

import pytest

from rubric_ci.system.backoff import Backoff

WHOLE = Backoff(attempts=9, first_wait=0.5, longest_wait=4.0, jitter=lambda: 1.0)


def test_waits_double_up_to_the_longest() -> None:
    waits = [WHOLE.wait_after(attempt) for attempt in range(1, 10)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 4.0, 4.0, 4.0, 4.0, None]


def test_the_longest_wait_without_settings() -> None:
    assert Backoff(attempts=99, jitter=lambda: 1.0).wait_after(20) == 30.0


def test_full_jitter() -> None:
    waits = [Backoff().wait_after(4) or 0.0 for _ in range(200)]
    assert min(waits) < 1.0
    assert 3.0 < max(waits) <= 4.0


@pytest.mark.parametrize(
    ("retry_after", "wait"), [(None, 0.5), (0.0, 0.5), (7.0, 7.5), (120.0, 120.5), (121.0, None)]
)
def test_retry_after_is_added(retry_after: float | None, wait: float | None) -> None:
    assert WHOLE.wait_after(1, retry_after) == wait
