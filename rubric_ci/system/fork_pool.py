"""Process many items in forked workers; results keep their order, errors are raised here."""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_parallel(
    work: Callable[[Item], Result], items: Sequence[Item], workers: int
) -> list[Result]:
    """Return `work(item)` for each item; without workers if there is no fork or one item.

    Each worker takes every n-th item, which spreads large files.
    """
    count = min(workers, len(items))
    if count < 2 or not hasattr(os, "fork"):
        return [work(item) for item in items]
    pipes = [_start(work, items[number::count]) for number in range(1, count)]
    results: list[Result | None] = [None] * len(items)
    try:
        results[0::count] = [work(item) for item in items[0::count]]
    finally:
        received: list[list[Result] | BaseException] = [_finish(pid, pipe) for pid, pipe in pipes]
    for number, batch in enumerate(received, start=1):
        if isinstance(batch, BaseException):
            raise batch
        results[number::count] = batch
    return results  # type: ignore[return-value] # every place is filled


def usable_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(work: Callable[[Item], Result], items: Sequence[Item]) -> tuple[int, int]:
    import pickle  # not for a hook's few files

    ours, theirs = os.pipe()
    pid = os.fork()  # type: ignore[attr-defined,unused-ignore] # `in_parallel` looks for it
    if pid:
        os.close(theirs)
        return pid, ours
    os.close(ours)
    try:
        try:
            answer: list[Result] | BaseException = [work(item) for item in items]
        except BaseException as error:  # noqa: BLE001 - the parent raises it
            answer = error
        with os.fdopen(theirs, "wb") as pipe:
            pickle.dump(answer, pipe)
    finally:
        os._exit(0)


def _finish(pid: int, pipe: int) -> Any:
    import pickle

    with os.fdopen(pipe, "rb") as stream:
        data = stream.read()
    os.waitpid(pid, 0)
    if not data:
        return RuntimeError("a worker process ended without a result")
    return pickle.loads(data)  # noqa: S301 - written by our child
