"""The commands for a start: `init` and `demo`."""

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rubric_ci.cli.command import command, examples, option
from rubric_ci.model import scaffold


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
    help="Kind of target that answers the cases: a model, a command, or recorded answers.",
)
@option("--yes", is_flag=True, help="Use the defaults for what is not given, without questions.")
@option("--force", is_flag=True, help="Overwrite all but .gitignore and .pre-commit-config.yaml.")
@click.pass_context
def init(context: click.Context, /, yes: bool, **settings: Any) -> None:
    """Create starter files.

    They are a configuration, an example that runs offline, workflows and a pre-commit hook. FOLDER
    is the root of the repository. Existing files are kept unless --force is given; with a
    configuration, the workflows pass on the variables that it names.
    """
    from rubric_ci.commands.init import init as create_files
    from rubric_ci.model.options import InitSettings
    from rubric_ci.system.terminal import is_interactive

    if (
        not yes
        and is_interactive()
        and (settings["force"] or not _is_configured(settings["folder"]))
    ):
        settings.update(_answers(context))
    raise SystemExit(create_files(InitSettings(**settings)))


def _is_configured(folder: Path) -> bool:
    from rubric_ci.project.file_names import CONFIG_NAMES

    return any((folder / name).exists() for name in CONFIG_NAMES)


def _answers(context: click.Context) -> dict[str, str]:
    """Ask for the choices that the command line does not make."""
    questions = {"provider": "Provider of the judge", "target": "Target that answers the cases"}
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
