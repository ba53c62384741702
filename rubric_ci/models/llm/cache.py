"""The cache: one file per judgement or answer, named by the key of its request.

Writes are atomic, so parallel jobs and a killed job leave complete entries only. Each entry has an
HMAC under a key that scripts of the repository do not have: one that does not match is ignored.
"""

import hmac
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from time import time

from rubric_ci.errors import CannotReadFile
from rubric_ci.system import file_io
from rubric_ci.values.dataclass import dataclass

DAY = 86_400.0
ABANDONED = 3600.0  # seconds after which the writer of a temporary file is assumed to be gone

ANSWER = ".answer"
SETUP = ".setup"  # of a workspace: its files
BATCH = ".batch"  # the batches that were begun
MODE = ".mode"  # the output mode that a server accepts
_KINDS = ("", ANSWER, SETUP, MODE, BATCH)  # end the keys; "": of a judgement, a digest alone

_HINT = (
    "make the folder writable, set RUBRIC_CI_CACHE_DIR to another one, or set RUBRIC_CI_CACHE=false"
)
_ENTRY = re.compile(
    rf"[0-9a-f]{{64}}({'|'.join(map(re.escape, _KINDS))})\.json"
)  # a temporary file has a suffix after it


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    kinds: Counter[str] = field(default_factory=Counter)  # entries by the end of their keys
    size: int = 0  # bytes

    @property
    def entries(self) -> int:
        return self.kinds.total()


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of judgements and answers; `actions/cache` can keep it between workflow runs."""

    folder: Path
    seal: bytes = field(default=b"", repr=False)  # the key of the HMAC of each entry
    root: Path | None = None  # the repository: no link may lead the folder out of it

    def prepare(self) -> None:
        """Create the folder; raise CannotWriteFile before any request is sent if that fails."""
        if self.root:
            file_io.check_place(self.folder, self.root)
        with file_io.writing(self.folder, "the cache", _HINT):
            file_io.create_folder(self.folder)

    def get(self, key: str) -> str | None:
        """Return the text under a key and mark it as used now; None if there is none."""
        path = self._path(key)
        try:
            value = json.loads(file_io.read_own(path, shown=path))
        except (CannotReadFile, ValueError):
            return None
        match value:
            case {"text": str(text), "hmac": str(code)} if code == _code(key, text, self.seal):
                with suppress(OSError):  # a read-only cache, or another job has pruned the entry
                    os.utime(path)
                return text
            case _:
                return None

    def put(self, key: str, text: str) -> None:
        """Store a text; of two concurrent writers, the last one wins.

        Raises CannotWriteFile, also if a command has made the folder a link that leads out.
        """
        entry = {"key": key, "hmac": _code(key, text, self.seal), "text": text}
        with file_io.writing(self.folder, "the cache", _HINT):
            path, data = Path(self._path(key)), json.dumps(entry).encode()
            if self.root:
                file_io.write_within(path, data, self.root)
            else:
                file_io.write(path, data)

    def clear(self) -> None:
        self.prune(most_bytes=0)

    def is_empty(self) -> bool:
        return not any(self._files(".json"))

    def stats(self) -> CacheStats:
        return _stats((path, size) for _, path, size in self._entries())

    def prune(
        self, *, unused_for: float | None = None, most_bytes: int | None = None
    ) -> CacheStats:
        """Delete entries unused for this many seconds, then the least recently used over a size.

        Returns the size of what was deleted.
        """
        for draft in self._files(".tmp"):
            with suppress(FileNotFoundError):
                if time() - draft.stat().st_mtime > ABANDONED:
                    draft.unlink()
        now, remaining = time(), self.stats().size
        deleted = []
        for used, path, size in sorted(self._entries()):
            too_old = unused_for is not None and now - used > unused_for
            too_much = most_bytes is not None and remaining > most_bytes
            if too_old or too_much:
                path.unlink(missing_ok=True)
                deleted.append((path, size))
                remaining -= size
        return _stats(deleted)

    def _path(self, key: str) -> str:
        return f"{self.folder}{os.sep}{key[:2]}{os.sep}{key}.json"  # a path per entry

    def _entries(self) -> Iterator[tuple[float, Path, int]]:
        """Yield the time of last use, the path and the size in bytes of each entry."""
        for path in self._files(".json"):
            try:
                status = path.stat()
            except FileNotFoundError:  # pruned by another job
                continue
            yield status.st_mtime, path, status.st_size

    def _files(self, suffix: str) -> Iterator[Path]:
        """Yield files named like entries; the folder may hold other files by mistake."""
        for path in self.folder.glob(f"??/*{suffix}"):
            if _ENTRY.match(path.name) and path.name.startswith(path.parent.name):
                yield path


def _stats(entries: Iterable[tuple[Path, int]]) -> CacheStats:
    found = list(entries)
    return CacheStats(
        kinds=Counter(path.name.removesuffix(".json")[64:] for path, _ in found),
        size=sum(size for _, size in found),
    )


def _code(key: str, text: str, seal: bytes) -> str:
    entry = f"{key}\n{text}".encode("utf-8", "surrogatepass")
    return hmac.digest(seal, entry, "sha256").hex()
