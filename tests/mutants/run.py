"""Run the tests of modules against each of their mutants: `make mutants MODULES="…"`.

The tests are collected once. A child process per mutant replaces the code of the live functions and
runs the tests that execute the changed lines, the fastest first, until one fails. A change outside
of functions, or one that no test noticed, is imported by a child process that collects again.
"""

import gc
import os
import pickle
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.machinery import SourceFileLoader
from math import ceil
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final, TypeAlias

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, Phase, settings

from tests.mutants.modules import HELD, PACKAGE
from tests.mutants.mutate import Mutant, mutants
from tests.mutants.survivors import read_survivors

# Processor time, so that other work on the machine does not count as a test that failed.
SECONDS: Final = 60.0  # for the tests of a mutant that is imported; an endless loop is found out
LEAST: Final = 5.0  # seconds for a mutant of a function, and three times what its tests take
TRACED: Final = 1.0  # seconds of a test whose lines are recorded
WAIT: Final = 10.0  # times as long by the clock, for a mutant that waits for ever
MODULE_LINES: Final = 1000  # more than any module has
# A failed test is one that failed: nothing is compared, shrunk or shown for it.
QUIET: Final = (
    *("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"),
    *("--assert=plain", "--tb=no"),
)

settings.register_profile(
    "mutants",
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=(Phase.explicit, Phase.generate),
)

Traced: TypeAlias = tuple[float, set[int]]
"""The processor seconds of a test, and the lines of the module that it executes."""


def in_child(work: Callable[[], Any], seconds: float) -> Any:
    """Return what `work` returns in a fork of this process; None: it died or took too long.

    `seconds` are those of the processor.
    """
    reader, writer = os.pipe()
    if (pid := os.fork()) == 0:
        os.setpgid(0, 0)
        import resource  # POSIX has it, as `fork`

        resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), ceil(seconds)))
        try:
            os.write(writer, pickle.dumps(work()))
        finally:
            os._exit(0)
    os.close(writer)
    chunks = []
    until = time.monotonic() + WAIT * seconds
    while select.select([reader], [], [], max(0.0, until - time.monotonic()))[0]:
        if not (chunk := os.read(reader, 1 << 20)):
            break
        chunks.append(chunk)
    os.close(reader)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)  # and what the tests have started
    os.waitpid(pid, 0)
    return pickle.loads(b"".join(chunks)) if chunks else None


class Plugin:
    """Takes the place of pytest's loop over the tests."""

    def __init__(self, path: Path, of: Iterable[Mutant]) -> None:
        self.path, self.mutants, self.survivors = path, tuple(of), list[str]()
        self.functions: Sequence[FunctionType] = ()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run every mutant."""
        if self.path.is_relative_to(PACKAGE):  # a test may import it late, in a child only
            name = self.path.relative_to(PACKAGE.parent).with_suffix("")
            import_module(".".join(name.parts))
        traced: Mapping[int, Traced] = in_child(partial(self._trace, session.items), 10 * SECONDS)
        if not traced:
            pytest.exit("a test fails without a change", 1)
        gc.unfreeze()  # `tests/conftest.py` freezes what a collection has made
        self.functions = _functions(self.path)
        for mutant in self.mutants:
            hit = {n: took for n, (took, seen) in traced.items() if seen.intersection(mutant.lines)}
            passes = partial(self._passes, [session.items[n] for n in hit], mutant)
            if in_child(passes, LEAST + 3 * sum(hit.values())):
                self.survivors.append(mutant.key)
        return True

    def _trace(self, items: list[pytest.Item]) -> dict[int, Traced]:
        """Return the seconds and the lines of each test, by its number, the fastest first."""
        found = dict[int, Traced]()
        for n, (item, following) in enumerate(zip(items, [*items[1:], None], strict=True)):
            lines, start = set[int](), time.process_time()
            trace = self._tracer(lines)
            threading.settrace(trace)
            sys.settrace(trace)
            passed = _passes(item, following)
            sys.settrace(None)
            if not passed:
                return {}
            found[n] = time.process_time() - start, lines
        return dict(sorted(found.items(), key=lambda each: each[1][0]))

    def _tracer(self, lines: set[int]) -> Callable[[FrameType, str, object], Any]:
        """Return what collects the lines; a slow test counts as one that executes them all."""
        until = time.process_time() + TRACED

        def trace(frame: FrameType, _event: str, _arg: object) -> Any:
            if frame.f_code.co_filename != str(self.path):
                return None
            lines.add(frame.f_lineno)
            if time.process_time() > until:
                lines.update(range(MODULE_LINES))
                sys.settrace(None)
                return None
            return trace

        return trace

    def _passes(self, items: list[pytest.Item], mutant: Mutant) -> bool:
        new = {_place(code): code for code in _codes(mutant.code(self.path))}
        for each in self.functions:
            each.__code__ = new.get(_place(each.__code__), each.__code__)
        return all(map(_passes, items, [*items[1:], None]))


def _functions(path: Path) -> Sequence[FunctionType]:
    functions = [each for each in gc.get_objects() if isinstance(each, FunctionType)]
    return [each for each in functions if each.__code__.co_filename == str(path)]


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    reports = runtestprotocol(item, nextitem=following, log=False)
    return not any(report.failed for report in reports)


def _codes(code: CodeType) -> Iterable[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def survives_import(path: Path, mutant: Mutant, tests: list[str]) -> bool:
    """Return True if all tests pass in a process that imports the mutant."""

    def passes() -> bool:
        original = SourceFileLoader.get_code

        def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
            return mutant.code(path) if self.path == str(path) else original(self, name)

        # every import of this process gets its code here
        SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
        _silence()
        return pytest.main([*QUIET, *tests]) == pytest.ExitCode.OK

    return in_child(passes, 3 * SECONDS) is True


def _silence() -> None:
    for descriptor in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def survivors_of(path: Path, tests: list[str]) -> list[str]:
    """Return the keys of the mutants of a module that no test notices."""
    every = mutants(path)
    outside = (each for each in every if not each.in_function)
    early = [each.key for each in outside if survives_import(path, each, tests)]
    plugin = Plugin(path, [each for each in every if each.in_function])

    def collect() -> list[str] | None:
        _silence()
        failed = pytest.main([*QUIET, "-s", *tests], plugins=[plugin])
        return None if failed else plugin.survivors

    late = in_child(collect, 3600)
    if late is None:
        raise SystemExit(f"{path.name}: the tests fail without a change")
    # A function that the import calls was replaced too late: its table was made before.
    again = (each for each in every if each.key in late)
    return [*early, *(each.key for each in again if survives_import(path, each, tests))]


def report(module: str) -> bool:
    """Print the mutants that survive unexplained, and those explained in vain; True: there are."""
    listed = read_survivors().get(module, {})
    path, tests = PACKAGE / module, [f"tests/{name}" for name in HELD[module].split()]
    found = survivors_of(path, tests)
    print(f"{module}: {len(mutants(path))} mutants, {len(found)} survive, {len(listed)} explained")
    new = [f"  survives: {key}" for key in found if key not in listed]
    old = [f"  is listed, but no longer survives: {key}" for key in listed if key not in found]
    if new or old:
        print(*new, *old, sep="\n")
    sys.stdout.flush()
    return bool(new or old)


def chosen(names: Sequence[str]) -> Sequence[str]:
    """Return the modules that are named, or else all of them, or a shard (`2/4`)."""
    if len(names) == 1 and names[0][:1].isdigit():
        index, count = map(int, names[0].split("/"))
        return list(HELD)[index - 1 :: count]
    return names or list(HELD)


if __name__ == "__main__":
    settings.load_profile("mutants")
    raise SystemExit(sum(map(report, chosen(sys.argv[1:]))) > 0)
