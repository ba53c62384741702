"""Completion of names and of ids of rules in a shell; the command that a mistyped word means.

A shell completes while a person types, so a project that cannot be read completes nothing.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import redirect_stderr
from io import StringIO
from typing import TYPE_CHECKING, Final, TypeAlias

import click

from rubric_ci.errors import ExitCode, UserError
from rubric_ci.text.suggestions import nearest

if TYPE_CHECKING:
    from rubric_ci.files.project.loaded_project import LoadedProject

Complete: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]

EVERY: Final = 1_000  # names to compare: more than there are commands
NEXT: Final = {
    ("demo", ExitCode.OK): "`rubric-ci init` creates these files for your own evals",
    ("validate", ExitCode.OK): "`rubric-ci run` grades the cases",
    ("validate", ExitCode.GATE): "`rubric-ci validate --explain RULE` explains a rule",
    ("run", ExitCode.GATE): (
        "`rubric-ci show CASE` prints its answer and marks; `rubric-ci run --lf` grades only the "
        "cases that did not pass"
    ),
    ("run", ExitCode.NO_VERDICT): (
        "`rubric-ci doctor` checks the setup; `rubric-ci run --lf` grades only the cases that did "
        "not pass"
    ),
    ("show", ExitCode.OK): "`rubric-ci waive CASE/CRITERION` excuses a known failure",
    ("doctor", ExitCode.OK): "`rubric-ci run` grades the cases",
    ("generate rubrics", ExitCode.OK): "`rubric-ci run` grades the cases with their rubrics",
    ("compare", ExitCode.GATE): "`rubric-ci waive CASE/CRITERION` excuses a known failure",
    ("waive", ExitCode.OK): "`rubric-ci run` grades the cases with the waiver",
    ("import", ExitCode.OK): "`rubric-ci validate` checks the files that were written",
    ("adopt", ExitCode.OK): "`rubric-ci report comment FILE` posts the results",
    ("adopt", ExitCode.GATE): "`rubric-ci report comment FILE` posts the results",
    ("probe", ExitCode.OK): "`rubric-ci judge label` measures the judge against your own marks",
    ("judge test", ExitCode.OK): "`rubric-ci run` grades the cases that include the rubrics",
    ("judge calibrate", ExitCode.OK): "`rubric-ci judge attack` tests the judge with attacks",
    ("judge attack", ExitCode.OK): "`rubric-ci probe` tests the criteria with wrong answers",
    ("baseline keep", ExitCode.OK): "`rubric-ci history add` adds the run to the history",
    ("baseline accept", ExitCode.OK): "`rubric-ci run --baseline FOLDER` compares with it",
    ("history add", ExitCode.OK): "`rubric-ci history show` prints the trends",
    ("plan", ExitCode.OK): "`rubric-ci run --shard I/N` grades one of the shards",
    ("report merge", ExitCode.OK): "`rubric-ci report comment FILE` posts the merged report",
    ("report merge", ExitCode.GATE): "`rubric-ci report comment FILE` posts the merged report",
}
"""By command and exit code; `init` and `judge label` name theirs with its arguments."""


OPTIONS: Final = {
    **dict.fromkeys(("--filter", "--grep", "--name", "--id", "--cases"), "--case GLOB"),
    **dict.fromkeys(("--model", "--provider"), "--target NAME, or --judge MODEL"),
    **dict.fromkeys(("--repeat", "--runs", "--samples", "-n"), "--trials N"),
    **dict.fromkeys(("--format", "--reporter"), "--reports NAMES"),
    "--html": "--reports html",
    "--json": "--reports json",
    "--junit": "--reports junit",
    **dict.fromkeys(("--output", "-o", "--out"), "--output-dir FOLDER"),
    **dict.fromkeys(("--dry-run", "--estimate", "--cost"), "--list"),
    **dict.fromkeys(("--failed", "--rerun", "--only-failed", "--ff"), "--last-failed"),
    **dict.fromkeys(("--budget", "--max-cost"), "--max-cost-usd USD"),
    **dict.fromkeys(("--parallel", "--workers", "--jobs", "-j"), "--concurrency N"),
    "--timeout": "--max-seconds SECONDS",
    **dict.fromkeys(("--no-cache", "--clear-cache"), "--reuse nothing"),
    "--fresh": "--reuse marks",
    "--reuse-answers": "--reuse answers",
    **dict.fromkeys(("--since", "--diff", "--changed"), "--changed-since REV"),
}
"""Options of other tools, and those that do the same here."""
COMMANDS: Final = {
    **dict.fromkeys(("eval", "evaluate", "test", "grade", "start"), "run"),
    **dict.fromkeys(("view", "open", "results"), "show"),
    **dict.fromkeys(("check", "lint"), "validate"),
    **dict.fromkeys(("ignore", "skip"), "waive"),
    **dict.fromkeys(("status", "info"), "doctor"),
    "diff": "compare",
}
"""Commands of other tools, and those that do the same here."""


def option_meant(typed: str, known: Collection[str]) -> str:
    """Return the option of a command that one of another tool means; empty: none is known."""
    found = OPTIONS.get(typed, "")
    return found if found.partition(" ")[0] in known else ""


def show_next(context: click.Context, code: object) -> None:
    """Print the next command, if there is one and a person reads standard output."""
    words = context.command_path.removeprefix(context.find_root().command_path).strip()
    line = next((text for key, text in NEXT.items() if key == (words, code)), "")
    options = context.params  # only the verdict, or data for a program, may be asked for
    is_data = options.get("quiet") or options.get("format", "text") != "text"
    if line and sys.stdout.isatty() and not is_data:
        click.echo(f"next: {line}", err=True)


def message(word: str, context: click.Context) -> str:
    """Return a message with the nearest command, or with how to list all of them."""
    root = context.find_root()
    group = context.command_path.removeprefix(root.command_path)
    typed = f"{group} {word}".strip()
    found = meant(typed, tuple(commands(root)))
    if not found:
        return f"unknown command `{typed}`; `{context.command_path} --help` lists the commands"
    listed = ", ".join(f"`{each}`" for each in found)
    return f"unknown command `{typed}`; did you mean {'one of ' * (len(found) > 1)}{listed}?"


def commands(root: click.Context) -> Iterator[str]:
    """Yield every command as it is typed, such as `judge calibrate`."""
    top = root.command
    assert isinstance(top, click.Group)  # noqa: S101 - only groups have commands to look for
    for name in top.list_commands(root):
        command = top.get_command(root, name)
        if isinstance(command, click.Group):
            yield from (f"{name} {inner}" for inner in command.commands)
        else:
            yield name


def meant(typed: str, known: tuple[str, ...]) -> list[str]:
    """Return the commands that were probably meant: by all words, the last word, or the group."""
    whole = {_joined(each): [each] for each in known}
    last: dict[str, list[str]] = {}
    groups: dict[str, list[str]] = {}
    for each in known:
        group, _, word = each.rpartition(" ")
        last.setdefault(word, []).append(each)
        groups.setdefault(group or word, []).append(each)
    word = typed.rpartition(" ")[2]
    if typed in COMMANDS:
        return [COMMANDS[typed]]
    if word in last:
        return last[word]
    for name, names in ((_joined(typed), whole), (word, last), (_joined(typed), groups)):
        if found := nearest(name, names, most=EVERY):
            return names[found]
    return []


def _joined(words: str) -> str:
    return words.replace(" ", "-")


def _in_project(names: "Callable[[LoadedProject], Iterable[str]]") -> Complete:
    """Return a completion of names in the project of the current folder."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        from rubric_ci.files.project.loaded_project import load_project, open_project

        try:
            with redirect_stderr(StringIO()):
                loaded = load_project((), open_project(context.params.get("config")))
                return _matching(incomplete, names(loaded))
        except UserError:
            return []

    return complete


case_ids = _in_project(lambda loaded: (case.id for case in loaded.cases))
tags = _in_project(lambda loaded: (tag for case in loaded.cases for tag in case.tags))
targets = _in_project(
    lambda loaded: (name for file in loaded.files for name in loaded.config_for(file.path).targets)
)


def rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete the ids of rules, and `all`."""
    from rubric_ci.files.validation.rules import RULES

    return _matching(incomplete, ["all", *RULES])


def _matching(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
