"""Exponential backoff with full jitter, for every request that is repeated."""

import random
from collections.abc import Callable

from rubric_ci.values.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How many attempts there are, and the wait after each."""

    attempts: int = 5
    first_wait: float = 0.5  # seconds, doubled after each attempt
    longest_wait: float = 30.0  # seconds
    longest_retry_after: float = 120.0  # seconds; a server that asks for more is not waited for
    jitter: Callable[[], float] = random.random  # the part of the wait that is slept, 0 to 1

    def wait_after(self, attempt: int, retry_after: float | None = None) -> float | None:
        """Return the seconds to wait after a failed attempt, counted from 1; None to give up.

        `retry_after` is the wait in seconds that the server asks for.
        """
        if attempt >= self.attempts or self.is_too_long(retry_after):
            return None
        wait = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1))
        return self.jitter() * wait + (retry_after or 0.0)

    def is_too_long(self, retry_after: float | None) -> bool:
        """Return True if the server asks for a longer wait than is accepted."""
        return retry_after is not None and retry_after > self.longest_retry_after
