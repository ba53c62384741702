"""Valid judgements, kept by what determines them; effects.

One file per reply, written beside its place and renamed into it: parallel jobs and a kill at any
moment leave whole files or none. What does not read back as it was written does not exist.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import time

from rubric_ci.errors import CannotWriteFile

DAY = 86_400.0
LEFT_BEHIND = 3600.0  # seconds after which an unfinished file has no writer any more

_OURS = re.compile(r"[0-9a-f]{64}\.json")  # a draft has more after it
_serial = count()


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """How much there is."""

    entries: int
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of replies; `actions/cache` may carry it from run to run."""

    folder: Path

    def prepare(self) -> None:
        """Make the folder; a place that can be none is told before anything is asked."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._cannot_write(error) from error

    def get(self, key: str) -> str | None:
        """Return the reply under a key, and note that it is in use."""
        path = self._path(key)
        text = _read(path, key)
        if text is not None:
            _touch(path)
        return text

    def put(self, key: str, text: str) -> None:
        """Keep a reply; of two writers at once, either may win."""
        path = self._path(key)
        draft = path.with_name(f"{path.name}.{os.getpid()}.{next(_serial)}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(_dumped(key, text), encoding="utf-8")
            draft.replace(path)
        except OSError as error:
            raise self._cannot_write(error) from error

    def stats(self) -> CacheStats:
        """Count the entries and their bytes."""
        sizes = [size for _, _, size in self._entries()]
        return CacheStats(entries=len(sizes), size=sum(sizes))

    def prune(
        self, *, unused_for: float | None = None, most_bytes: int | None = None
    ) -> CacheStats:
        """Remove what was not used for so many seconds, then the longest unused over a size.

        Returns what was removed.
        """
        self._sweep()
        now, left = time(), self.stats().size
        gone = []
        for used, path, size in sorted(self._entries()):
            too_old = unused_for is not None and now - used > unused_for
            too_much = most_bytes is not None and left > most_bytes
            if too_old or too_much:
                path.unlink(missing_ok=True)
                gone.append(size)
                left -= size
        return CacheStats(entries=len(gone), size=sum(gone))

    def _cannot_write(self, error: OSError) -> CannotWriteFile:
        return CannotWriteFile(
            f"{self.folder}: cannot write the cache: {error.strerror}",
            "make the folder writable, name another one with --cache-dir, or use --no-cache",
        )

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def _entries(self) -> Iterator[tuple[float, Path, int]]:
        """Yield when each entry was last used, its path and its size."""
        for path in self._files(".json"):
            try:
                status = path.stat()
            except FileNotFoundError:  # pruned by another job
                continue
            yield status.st_mtime, path, status.st_size

    def _files(self, suffix: str) -> Iterator[Path]:
        """Yield files that are named as ours: the folder may be somebody else's by mistake."""
        for path in self.folder.glob(f"??/*{suffix}"):
            if _OURS.match(path.name) and path.name.startswith(path.parent.name):
                yield path

    def _sweep(self) -> None:
        for draft in self._files(".tmp"):
            try:
                if time() - draft.stat().st_mtime > LEFT_BEHIND:
                    draft.unlink(missing_ok=True)
            except FileNotFoundError:
                continue


def _read(path: Path, key: str) -> str | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    match value:
        case {"key": str(found), "text": str(text), "digest": digest} if found == key:
            return text if digest == _digest(text) else None
    return None


def _dumped(key: str, text: str) -> str:
    return json.dumps({"key": key, "digest": _digest(text), "text": text})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _touch(path: Path) -> None:
    try:
        os.utime(path)
    except OSError:  # a cache that is mounted read-only, or pruned meanwhile
        return
