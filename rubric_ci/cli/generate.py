"""Commands that write for people: a project's first files, and rubrics."""

from pathlib import Path
from typing import Any, Final

import click

from rubric_ci.cli import options
from rubric_ci.cli.options import LINES, Command, command


class _Group(click.Group):
    command_class = Command


@click.group(cls=_Group)
def generate() -> None:
    """Draft what eval files lack."""


@command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option("--force", is_flag=True, help="Overwrite files of ours that are there already.")
def init(folder: Path, force: bool) -> None:
    """Write the files that a project begins with.

    They are a configuration, an example, a workflow and a pre-commit hook. FOLDER is the root of
    the repository. Nothing that is there is overwritten.
    """
    from rubric_ci.commands.init import init as begin
    from rubric_ci.model.options import InitSettings

    raise SystemExit(begin(InitSettings(folder=folder, force=force)))


@generate.command(
    epilog=options.examples(
        "generate rubrics --diff         show what would change",
        "generate rubrics --interactive  look at each draft",
    )
)
@click.argument("paths", nargs=-1, type=LINES)
@options.config
@click.option(
    "--target",
    metavar="NAME",
    default="",
    help="Draft with the model of this target, or with this model; else with the judge's.",
)
@click.option(
    "--case",
    "cases",
    multiple=True,
    type=LINES,
    metavar="GLOB",
    help="Only cases whose id matches; may be given again.",
)
@click.option(
    "--kind",
    type=click.Choice(["checklist", "score-range", "levels", "auto"]),
    default="checklist",
    help="The kind of criteria.",
)
@click.option("--check", is_flag=True, help="Let the judge mark reference answers by the drafts.")
@click.option("--diff", is_flag=True, help="Print what would change, and change nothing.")
@click.option("--interactive", is_flag=True, help="Accept, edit or drop each draft.")
@click.option("--commit", is_flag=True, help="Make one commit of the changed files.")
@click.option("--fixup", default="", metavar="REV", help="Make it a fix-up of this commit.")
@click.option(
    "--pr",
    is_flag=True,
    help="In a workflow run: commit to the pull request's branch, else open a pull request.",
)
@options.concurrency
@options.recording
@options.caps
@options.remembering
def rubrics(paths: tuple[str, ...], **options: Any) -> None:
    """Draft rubrics for cases without any, in place.

    Cases with an expected outcome get a draft. PATHS are eval files, folders or globs; without any,
    what `evals` configures.
    """
    from rubric_ci.commands.generate import generate_rubrics
    from rubric_ci.model.options import GenerateSettings

    if options["diff"] and (options["commit"] or options["fixup"] or options["pr"]):
        raise click.UsageError("--diff changes nothing, so there is nothing to commit")
    if options["fixup"] and options["pr"]:
        raise click.UsageError("--fixup is for a branch of one's own: leave out --pr")
    raise SystemExit(generate_rubrics(GenerateSettings(paths=paths, **options)))


COMMANDS: Final = (init, generate)
