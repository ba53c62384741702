"""The commands of `rubric-ci generate`."""

from functools import partial
from typing import Any

import click

from rubric_ci.cli import completion, options, request_options
from rubric_ci.cli.command import Group, examples, option

_drafts = partial(option, heading="Drafts")
_publishing = partial(option, heading="Commit and publish")


@click.group(cls=Group)
def generate() -> None:
    """Generate missing parts of eval files."""


@generate.command(
    epilog=examples(
        "generate rubrics --diff         show the changes only",
        "generate rubrics --interactive  review each draft",
    )
)
@options.paths
@options.config
@options.policy_from
@options.cases
@_drafts(
    "--target",
    metavar="NAME",
    default="",
    shell_complete=completion.targets,
    help="Target or model that writes the drafts; default: the judge's model.",
)
@_drafts(
    "--kind",
    type=click.Choice(["checklist", "score-range", "levels", "auto"]),
    default="checklist",
    help="Kind of criteria.",
)
@_drafts("--check", is_flag=True, help="Judge the reference answers with the drafted rubrics.")
@_drafts("--interactive", is_flag=True, help="Accept, edit or drop each draft.")
@_drafts("--diff", is_flag=True, help="Print the changes without writing them.")
@_publishing("--commit", is_flag=True, help="Commit the changed files.")
@_publishing(
    "--fixup", default="", metavar="REV", help="Commit the changed files as a fixup of REV."
)
@_publishing(
    "--pr",
    is_flag=True,
    help="In a workflow: commit to the pull request's branch, or open a pull request.",
)
@request_options.requests
@request_options.cache
def rubrics(**options: Any) -> None:
    """Draft rubrics for cases without any, in place.

    Cases with an expected outcome get a draft. PATHS are eval files, folders or globs; default:
    `evals` of the configuration.
    """
    from rubric_ci.commands.generate import generate_rubrics
    from rubric_ci.model.options import GenerateSettings

    if options["diff"] and (options["commit"] or options["fixup"] or options["pr"]):
        raise click.UsageError("--diff changes no file, so there is nothing to commit")
    if options["fixup"] and options["pr"]:
        raise click.UsageError("--fixup commits to the local branch: remove --pr or --fixup")
    raise SystemExit(generate_rubrics(GenerateSettings(**options)))
