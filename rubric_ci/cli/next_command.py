"""The last line of a command at a terminal: the command that people run next."""

import sys
from typing import Any, Final

import click

from rubric_ci.errors import ExitCode

NEXT: Final = {
    ("demo", ExitCode.OK): "`rubric-ci init` creates these files for your own evals",
    ("validate", ExitCode.OK): "`rubric-ci run` grades the cases",
    ("validate", ExitCode.GATE): "`rubric-ci validate --explain RULE` explains a rule",
    ("run", ExitCode.GATE): "`rubric-ci run --lf` grades only the cases that did not pass",
    ("run", ExitCode.NO_VERDICT): "`rubric-ci run --lf` grades only the cases that did not pass",
    ("generate rubrics", ExitCode.OK): "`rubric-ci run` grades the cases with their rubrics",
    ("compare", ExitCode.GATE): "`rubric-ci waive CASE/CRITERION` excuses a known failure",
    ("waive", ExitCode.OK): "`rubric-ci run` grades the cases with the waiver",
    ("probe", ExitCode.OK): "`rubric-ci judge label` measures the judge against your own marks",
    ("judge calibrate", ExitCode.OK): "`rubric-ci judge attack` tests the judge with attacks",
    ("baseline keep", ExitCode.OK): "`rubric-ci history add` adds the run to the history",
    ("baseline accept", ExitCode.OK): "`rubric-ci run --baseline FOLDER` compares with it",
    ("baseline rejudge", ExitCode.OK): "`rubric-ci compare FOLDER REPORT` compares with it again",
    ("history add", ExitCode.OK): "`rubric-ci history show` prints the trends",
    ("history import", ExitCode.OK): "`rubric-ci history show` prints the trends",
    ("history show", ExitCode.OK): "`rubric-ci history page` writes them as a page",
    ("plan", ExitCode.OK): "`rubric-ci run --shard I/N` grades one of the shards",
    ("report merge", ExitCode.OK): "`rubric-ci report comment FILE` posts the merged report",
    ("report merge", ExitCode.GATE): "`rubric-ci report comment FILE` posts the merged report",
}
"""By command and exit code; `init` and `judge label` name theirs with its arguments."""


def show(context: click.Context, code: object) -> None:
    """Print the next command, if there is one and a person reads standard output."""
    words = context.command_path.removeprefix(context.find_root().command_path).strip()
    line = next((text for key, text in NEXT.items() if key == (words, code)), "")
    if line and sys.stdout.isatty() and not _is_data(context.params):
        click.echo(f"next: {line}", err=True)


def _is_data(options: dict[str, Any]) -> bool:
    """Return True if only the verdict or data for a program was asked for."""
    return bool(options.get("quiet")) or options.get("format", "text") != "text"
