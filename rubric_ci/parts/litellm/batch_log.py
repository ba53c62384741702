"""The batches that are paid for and whose replies are not kept yet, in the cache folder.

A run that is killed leaves them, and the same command reads them instead of paying again. A batch
whose replies this process has read is dropped when it exits: until then they are being kept.
"""

import atexit
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from rubric_ci.errors import CannotWriteFile
from rubric_ci.models.llm.cache import BATCH
from rubric_ci.values.context import JudgementCache
from rubric_ci.values.dataclass import dataclass

_READ: Final[set[str]] = set()
"""The files of the batches that this process has read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A batch by its file of requests; without an id, the reply to its creation is not known."""

    file: str
    id: str = ""
    digests: tuple[str, ...]  # of its requests, in their order: the keys of the calls

    def numbers(self, wanted: Mapping[int, str]) -> dict[int, int]:
        """Return the number in the batch of each wanted request that it has."""
        places: dict[str, list[int]] = {}
        for number, digest in enumerate(self.digests):
            places.setdefault(digest, []).append(number)
        known = ((n, places.get(digest)) for n, digest in wanted.items())
        return {n: left.pop(0) for n, left in known if left}


class BatchLog:
    """The batches of one account; without a cache, none is kept."""

    def __init__(self, cache: JudgementCache | None, account: str) -> None:
        self._cache = cache
        self._key = hashlib.sha256(f"batches\n{account}".encode()).hexdigest() + BATCH

    def kept(self) -> list[Begun]:
        """Return the batches whose replies are not known to this process."""
        return [each for each in self._every() if each.file not in _READ]

    def keep(self, begun: Begun) -> None:
        """Keep a batch, or what is new about it."""
        self._write([*(each for each in self._every() if each.file != begun.file), begun])

    def drop(self, begun: Begun) -> None:
        """Forget a batch."""
        every = self._every()
        others = [each for each in every if each.file != begun.file]
        if others != every:
            self._write(others)

    def read(self, begun: Begun) -> None:
        """Drop a batch once the process exits, with its replies kept."""
        _READ.add(begun.file)
        if self._cache:
            atexit.register(partial(self.drop, begun))

    def _every(self) -> list[Begun]:
        try:
            found = json.loads((self._cache and self._cache.get(self._key)) or "[]")
            return [Begun(**{**each, "digests": tuple(each["digests"])}) for each in found]
        except (ValueError, TypeError, KeyError):
            return []

    def _write(self, every: Iterable[Begun]) -> None:
        if self._cache is None:
            return
        listed: list[dict[str, Any]] = [asdict(each) for each in every]
        try:
            self._cache.put(self._key, json.dumps(listed))
        except CannotWriteFile:  # the run goes on, and pays again if it is killed
            return
