"""Progress of a run: a bar at a terminal, else one line per case."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rubric_ci.model.results import CaseResult, Graded
from rubric_ci.render import wording
from rubric_ci.system.masking import redact
from rubric_ci.text import escape, numbers


@contextmanager
def progress(
    total: int, stream: TextIO | None = None, *, plain: bool | None = None, quiet: bool = False
) -> Iterator[Callable[[CaseResult], None]]:
    """Yield a function to call with each finished case; `plain` None: a bar only at a terminal."""
    stream = stream or sys.stderr
    if quiet:
        yield lambda _: None
    elif plain if plain is not None else not stream.isatty():
        yield _Lines(total, stream)
    else:
        with _bar(total, stream) as advance:
            yield advance


class _Lines:
    """Writes one line per case, which is never a workflow command."""

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total = total
        self._stream = stream
        self._done = 0

    def __call__(self, case: CaseResult) -> None:
        self._done += 1
        total = f"{self._total:,}"
        done = f"[{self._done:>{len(total)},}/{total}]"
        kind = wording.status(case)
        score = numbers.score(case.score) if isinstance(case, Graded) else "-"
        line = f"{done} {kind:10} {score:>4}  {escape.log_line(case.id)}"
        why = (
            ""
            if kind == "pass"
            else f": {escape.log_line(numbers.shortened(redact(case.reason), 200))}"
        )
        self._stream.write(f"{line}{why}\n")
        self._stream.flush()


@contextmanager
def _bar(total: int, stream: TextIO) -> Iterator[Callable[[CaseResult], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    counts: dict[wording.CaseStatus, int] = {}
    columns = (
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task("", total=total)

        def advance(case: CaseResult) -> None:
            kind = wording.status(case)
            counts[kind] = counts.get(kind, 0) + 1
            text = ", ".join(f"{counts[one]} {one}" for one in wording.STATUSES if one in counts)
            bar.update(task, advance=1, description=text)

        yield advance
