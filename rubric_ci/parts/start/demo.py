"""`rubric-ci demo`: copy the quickstart into a folder and grade it offline."""

from contextlib import chdir
from pathlib import Path
from typing import Final

import click

from rubric_ci.cli.commands.run import run
from rubric_ci.errors import CannotWriteFile, ExitCode
from rubric_ci.files.project.working_tree import write_text
from rubric_ci.system import resources
from rubric_ci.values.command_settings import (
    ReportOptions,
    RequestOptions,
    RunSettings,
    SelectOptions,
)

_FILES: Final = (
    "rubric-ci.yaml",
    "answers.jsonl",
    "judge.replay.jsonl",
    "evals/support.eval.yaml",
    "prompts/support.md",
)


def demo(folder: Path) -> ExitCode:
    """Copy and grade; the gate of the demo fails on purpose, which is a success here."""
    if folder.exists() and any(folder.iterdir()):
        raise CannotWriteFile(f"{folder} is not empty", "name a new folder: rubric-ci demo FOLDER")
    for name in _FILES:
        write_text(folder / name, resources.read_example(f"quickstart/{name}"))
    with chdir(folder):  # settings count from the current folder
        code = run(
            RunSettings(
                select=SelectOptions(
                    config=Path("rubric-ci.yaml"),  # not the one of an enclosing repository
                    policy_from="head",  # nor its base, on a pull request
                ),
                requests=RequestOptions(replay=Path("judge.replay.jsonl")),
                report=ReportOptions(reports=("json", "markdown", "html")),
            )
        )
    click.echo(
        f"Exit code {code}: one answer breaks a promise that its rubric forbids.\n"
        f"See {folder}/evals/support.eval.yaml and {folder}/.rubric-ci/report.html."
    )
    return ExitCode.OK if code is ExitCode.GATE else code
