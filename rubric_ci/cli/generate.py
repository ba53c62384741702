"""The commands that write project files: `init`, `demo` and `generate`."""

from functools import partial
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from rubric_ci.cli import completion, options, request_options
from rubric_ci.cli.command import Group, command, examples, option
from rubric_ci.model import scaffold

_drafts = partial(option, heading="Drafts")
_publishing = partial(option, heading="Commit and publish")


@click.group(cls=Group)
def generate() -> None:
    """Generate missing parts of eval files."""


@command(
    epilog=examples(
        "init                                      ask, or take the defaults without a terminal",
        "init --yes --provider anthropic --target command",
    )
)
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@option(
    "--provider",
    type=click.Choice(list(scaffold.PROVIDERS)),
    default="openai",
    help="Provider of the judge, and of the model target.",
)
@option(
    "--target",
    type=click.Choice(scaffold.TARGET_KINDS),
    default="model",
    help="What answers the cases: a model, a command, or recorded answers.",
)
@option("--yes", is_flag=True, help="Use the defaults for what is not given, without questions.")
@option("--force", is_flag=True, help="Overwrite all but .gitignore and .pre-commit-config.yaml.")
@click.pass_context
def init(context: click.Context, /, yes: bool, **settings: Any) -> None:
    """Create starter files.

    They are a configuration, an example that runs offline, workflows and a pre-commit hook. FOLDER
    is the root of the repository. Existing files are kept unless --force is given.
    """
    from rubric_ci.commands.init import init as create_files
    from rubric_ci.model.options import InitSettings
    from rubric_ci.system.terminal import is_interactive

    if not yes and is_interactive():
        settings.update(_answers(context))
    raise SystemExit(create_files(InitSettings(**settings)))


def _answers(context: click.Context) -> dict[str, str]:
    """Ask for the choices that the command line does not make."""
    questions = {"provider": "Provider of the judge", "target": "What answers the cases"}
    return {
        parameter.name: click.prompt(
            questions[parameter.name], type=parameter.type, default=context.params[parameter.name]
        )
        for parameter in context.command.params
        if parameter.name in questions
        and context.get_parameter_source(parameter.name) is ParameterSource.DEFAULT
    }


@command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("rubric-ci-demo"))
def demo(folder: Path) -> None:
    """Grade an example offline.

    Answers and judge are recorded. FOLDER is new; it receives the example and its reports.
    """
    from rubric_ci.commands.demo import demo as run_demo
    from rubric_ci.model.options import DemoSettings

    raise SystemExit(run_demo(DemoSettings(folder=folder)))


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


COMMANDS: Final = (init, demo, generate)
