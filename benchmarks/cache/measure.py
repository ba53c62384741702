"""Measure stores for the judgement cache: a file per entry, SQLite, and packed segments.

    .venv/bin/python benchmarks/cache/measure.py [--entries 10000 100000] [--jobs 4]

Each store keeps the sealed entry of `rubric_ci.models.llm.cache_and_recording`. A put is durable
against `kill -9` of the process when it returns, as a file that was renamed into place is. `save`
and `restore` are tar with zstd, as `actions/cache` uses them. `killed` kills a writer at a random
moment and counts the entries that it had reported and that are missing or broken.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from rubric_ci.models.llm.cache_and_recording import Cache, _code

SEAL = b"s" * 32
TEXT = json.dumps(
    {
        f"c{n}": {"evidence": "a passage", "reasoning": "It is as asked. " * 4, "satisfied": True}
        for n in range(1, 5)
    }
)


class Store(Protocol):
    """The operations of a cache."""

    def get(self, key: str) -> str | None: ...
    def put(self, key: str, text: str) -> None: ...
    def count(self) -> int: ...


class Files:
    """One file per entry, written next to its place and renamed: the cache as it is."""

    def __init__(self, folder: Path) -> None:
        self._cache = Cache(folder, SEAL)
        self._cache.prepare()

    def get(self, key: str) -> str | None:
        return self._cache.get(key)

    def put(self, key: str, text: str) -> None:
        self._cache.put(key, text)

    def count(self) -> int:
        return self._cache.stats().entries


class Database:
    """SQLite with a write-ahead log; a transaction per put, and one for all uses at the end."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(folder / "cache.sqlite", timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS entry"
            " (key TEXT PRIMARY KEY, text TEXT, hmac TEXT, used REAL) WITHOUT ROWID"
        )
        self._used: list[tuple[float, str]] = []

    def get(self, key: str) -> str | None:
        row = self._db.execute("SELECT text, hmac FROM entry WHERE key = ?", (key,)).fetchone()
        if row is None or row[1] != _code(key, row[0], SEAL):
            return None
        self._used.append((time.time(), key))
        return str(row[0])

    def put(self, key: str, text: str) -> None:
        row = (key, text, _code(key, text, SEAL), time.time())
        self._db.execute("INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)", row)

    def close(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("UPDATE entry SET used = ? WHERE key = ?", self._used)
        self._db.execute("COMMIT")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()

    def count(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM entry").fetchone()[0])


class Segments:
    """A file of appended entries per process; a reader finds the places of all when it opens."""

    _HEAD = struct.Struct(">I")

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._places: dict[str, tuple[int, int, int]] = {}
        self._read: list[int] = []
        self._folder = folder
        self._own: int | None = None
        for path in sorted(folder.glob("*.segment")):
            descriptor = os.open(path, os.O_RDONLY)
            self._read.append(descriptor)
            self._index(len(self._read) - 1, os.fstat(descriptor).st_size)
        self._used: set[int] = set()

    def _index(self, number: int, size: int) -> None:
        data, at = os.pread(self._read[number], size, 0), 0
        while at + 68 <= size:
            (length,) = self._HEAD.unpack_from(data, at)
            if at + 4 + length > size:  # its writer was killed
                return
            key = data[at + 4 : at + 68].decode("ascii", "replace")
            self._places[key] = (number, at + 68, length - 64)
            at += 4 + length

    def get(self, key: str) -> str | None:
        place = self._places.get(key)
        if place is None:
            return None
        number, at, length = place
        self._used.add(number)
        with suppress(ValueError):
            value = json.loads(os.pread(self._read[number], length, at))
            if value["hmac"] == _code(key, value["text"], SEAL):
                return str(value["text"])
        return None

    def put(self, key: str, text: str) -> None:
        if self._own is None:
            path = self._folder / f"{os.urandom(8).hex()}.segment"
            self._own = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        entry = json.dumps({"hmac": _code(key, text, SEAL), "text": text}).encode()
        os.write(self._own, self._HEAD.pack(64 + len(entry)) + key.encode() + entry)

    def count(self) -> int:
        return len(self._places)


STORES: dict[str, Callable[[Path], Store]] = {
    "files": Files,
    "SQLite": Database,
    "segments": Segments,
}


def main() -> None:
    options = _options()
    if options.write:
        _write(options.write, Path(options.folder), options.start, options.number)
        return
    print("| entries | store | put µs | open ms | get µs | MB | files | save s | restore s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for entries in options.entries:
        for name in STORES:
            with tempfile.TemporaryDirectory() as place:
                print(f"| {entries:,} | {name} | {_row(name, Path(place), entries)} |", flush=True)
    print(f"\n| store | {options.jobs} jobs x 2,000 puts, s | entries | lost to 20 kills |")
    print("|---|---|---|---|")
    for name in STORES:
        with tempfile.TemporaryDirectory() as place:
            seconds, count = _together(name, Path(place) / "c", options.jobs)
            lost = sum(_killed(name, Path(place) / f"k{n}") for n in range(20))
            print(f"| {name} | {seconds:.2f} | {count:,} | {lost} |", flush=True)


def _row(name: str, place: Path, entries: int) -> str:
    folder = place / "cache"
    keys = list(_keys(0, entries))
    store = STORES[name](folder)
    put = _cpu(lambda: [store.put(key, TEXT) for key in keys])
    _close(store)
    started = time.process_time()
    store = STORES[name](folder)
    opened = time.process_time() - started
    random.Random(1).shuffle(keys)

    def read() -> None:
        assert all(store.get(key) == TEXT for key in keys)
        _close(store)

    get = _cpu(read)
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    archive = place / "cache.tzst"
    save = _timed(["tar", "--zstd", "-cf", str(archive), "-C", str(place), "cache"])
    shutil.rmtree(folder)
    restore = _timed(["tar", "--zstd", "-xf", str(archive), "-C", str(place)])
    return (
        f"{put / entries * 1e6:.0f} | {opened * 1000:.0f} | {get / entries * 1e6:.0f} "
        f"| {size / 1e6:.0f} | {len(files):,} | {save:.2f} | {restore:.2f}"
    )


def _together(name: str, folder: Path, jobs: int) -> tuple[float, int]:
    """Return the seconds of several processes that write at once, and what is there after."""
    STORES[name](folder)
    started = time.perf_counter()
    running = [_writer(name, folder, 2_000 * job, 2_000) for job in range(jobs)]
    if any(process.wait() for process in running):
        raise SystemExit(f"{name}: a writer failed")
    return time.perf_counter() - started, STORES[name](folder).count()


def _killed(name: str, folder: Path) -> int:
    """Kill a writer; return how many entries that it had reported are missing."""
    process = _writer(name, folder, 0, 100_000, stdout=subprocess.PIPE)
    assert process.stdout
    process.stdout.readline()
    time.sleep(random.Random(str(folder)).random() / 5)
    process.send_signal(signal.SIGKILL)
    reported = [line.strip() for line in process.stdout.read().split("\n")[:-1]]
    process.wait()
    store = STORES[name](folder)
    return sum(store.get(key) != TEXT for key in reported)


def _writer(
    name: str, folder: Path, start: int, number: int, stdout: int = subprocess.DEVNULL
) -> "subprocess.Popen[str]":
    command = [sys.executable, __file__, "--write", name, "--folder", str(folder)]
    command += ["--start", str(start), "--number", str(number)]
    return subprocess.Popen(command, stdout=stdout, text=True)


def _write(name: str, folder: Path, start: int, number: int) -> None:
    store = STORES[name](folder)
    for key in _keys(start, number):
        store.put(key, TEXT)
        os.write(1, f"{key}\n".encode())


def _keys(start: int, number: int) -> Iterator[str]:
    return (hashlib.sha256(str(n).encode()).hexdigest() for n in range(start, start + number))


def _close(store: Store) -> None:
    if isinstance(store, Database):
        store.close()


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _timed(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - started


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--entries", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--jobs", type=int, default=4)
    for name in ("--write", "--folder"):
        parser.add_argument(name, default="", help=argparse.SUPPRESS)
    for name in ("--start", "--number"):
        parser.add_argument(name, type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
