"""Progress of a run: a bar at a terminal, else one line per case."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TextIO

from rubric_ci.reports import usage_text, wording
from rubric_ci.system.output_and_masking import redact
from rubric_ci.text import escape, numbers
from rubric_ci.values.results import CaseResult
from rubric_ci.values.usage import NOTHING_USED

_NARROWEST: Final = 20  # columns of the bar


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
        kind = case.status
        score = numbers.score(case.score) if case.score is not None else "-"
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
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column

    ended: list[CaseResult] = []
    columns = (
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
    )
    console = Console(file=stream)
    # A terminal shows Ctrl-C as ^C: behind a full line it would begin another one, which stays.
    console.width = max(_NARROWEST, console.width - len("^C") - 1)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)

        def advance(case: CaseResult) -> None:
            ended.append(case)
            bar.update(task, advance=1, description=_so_far(ended))

        yield advance


def _so_far(cases: Sequence[CaseResult]) -> str:
    """Return how many cases ended how, and what they cost: "2 pass, 1 fail · $0.0040"."""
    counts = Counter(case.status for case in cases)
    used = sum((case.usage for case in cases), NOTHING_USED)
    words = ", ".join(f"{counts[one]} {one}" for one in wording.STATUSES if counts[one])
    return " · ".join(filter(None, [words, usage_text.price_of(used)]))
