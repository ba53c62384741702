"""The commands `init`, `demo` and `doctor` with their options."""

from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rubric_ci.cli import options
from rubric_ci.cli.click_types import command, examples, option
from rubric_ci.parts.start.init_providers_and_targets import PROVIDERS, RUBRICS, TARGETS

_choices = partial(option, heading="Choices")
_target = partial(option, heading="Target")


def _read_rubrics(_: click.Context, __: click.Parameter, text: str) -> tuple[str, ...]:
    """Return the names of a list with commas."""
    names = tuple(each.strip() for each in text.split(",") if each.strip())
    for name in names:
        if name not in RUBRICS:
            known = ", ".join(RUBRICS)
            raise click.BadParameter(f"there is no rubric `{name}`; known: {known}")
    return names


@command(
    epilog=examples(
        "init                                      ask, or take the defaults without a terminal",
        "init --yes --provider anthropic --target command",
    )
)
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@_choices(
    "--provider",
    type=click.Choice(list(PROVIDERS)),
    default="openai",
    help="Provider of the judge, and of the model target.",
)
@_choices(
    "--rubrics",
    metavar="NAMES",
    callback=_read_rubrics,
    default="",
    help=f"Rubric files of the library to copy to rubrics/: {', '.join(RUBRICS)}.",
)
@_target(
    "--target",
    type=click.Choice(list(TARGETS)),
    default="model",
    help="Target of the cases: a model, a command, a service, an agent, or recorded answers.",
)
@_target(
    "--command",
    metavar="LINE",
    default="",
    help="Command of the target `command`, which it implies; {PROMPT} is the question.",
)
@_target("--url", metavar="URL", default="", help="Address of the target `http`, which it implies.")
@_target(
    "--start",
    metavar="LINE",
    default="",
    help="Start command of the target `http`, which it implies; {PORT} is the port.",
)
@_target(
    "--reply",
    metavar="JSON",
    default="",
    help="A reply of the target `http`, which it implies, to find the answer in it.",
)
@option(
    "--public",
    is_flag=True,
    help="Also write the workflow that grades pull requests of strangers on request.",
)
@option("--yes", is_flag=True, help="Use defaults for options that are not given; ask nothing.")
@option("--force", is_flag=True, help="Overwrite all but .gitignore and .pre-commit-config.yaml.")
@click.pass_context
def init(context: click.Context, /, yes: bool, **settings: Any) -> None:
    """Create starter files.

    They are a configuration, an example that runs offline, workflows and a pre-commit hook. FOLDER
    is the root of the repository. Existing files are kept unless --force is given. The workflows
    pass on the variables that the configuration, targets files and scripts name.
    """
    from rubric_ci.parts.start.before_init import ask
    from rubric_ci.parts.start.init import init as create_files
    from rubric_ci.parts.start.init_providers_and_targets import InitSettings
    from rubric_ci.system.output_and_masking import is_interactive

    given = _given(context)
    settings.update(given)
    if (
        not yes
        and is_interactive()
        and (settings["force"] or not _is_configured(settings["folder"]))
    ):
        settings.update(ask(given, settings["folder"]))
    raise SystemExit(create_files(InitSettings(**settings)))


def _is_configured(folder: Path) -> bool:
    from rubric_ci.files.project.file_kinds import CONFIG_NAMES

    return any((folder / name).exists() for name in CONFIG_NAMES)


_OF_TARGET = {"command": "command", "url": "http", "start": "http", "reply": "http"}


def _given(context: click.Context) -> dict[str, str]:
    """Return the choices that the command line makes; options of a target choose it."""
    given = {
        name: context.params[name]
        for name in ("provider", "target", "command", "url", "start", "reply")
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    for name, its in _OF_TARGET.items():
        if given.get(name) and (other := given.setdefault("target", its)) != its:
            raise click.UsageError(f"--{name} is for --target {its}, not {other}", context)
    return given


_DEMO_FILES = (
    *("rubric-ci.yaml", "answers.jsonl", "judge.replay.jsonl"),
    *("evals/support.eval.yaml", "prompts/support.md"),
)


@command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("rubric-ci-demo"))
def demo(folder: Path) -> None:
    """Grade an example offline.

    Answers and judge are recorded. FOLDER is new; it receives the example and its reports.
    """
    from contextlib import chdir

    from rubric_ci.cli.commands.run import run
    from rubric_ci.errors import CannotWriteFile, ExitCode
    from rubric_ci.files.project.working_tree import write_text
    from rubric_ci.system import installation
    from rubric_ci.values import command_settings as given

    if folder.exists() and any(folder.iterdir()):
        raise CannotWriteFile(f"{folder} is not empty", "name a new folder: rubric-ci demo FOLDER")
    for name in _DEMO_FILES:
        write_text(folder / name, installation.read_example(f"quickstart/{name}"))
    config = Path("rubric-ci.yaml")  # not the one of an enclosing repository, nor its base
    settings = given.RunSettings(
        select=given.SelectOptions(config=config, policy_from="head"),
        requests=given.RequestOptions(replay=Path("judge.replay.jsonl")),
        report=given.ReportOptions(reports=("json", "markdown", "html")),
    )
    with chdir(folder):  # settings count from the current folder
        code = run(settings)
    click.echo(
        f"Exit code {code}: one answer breaks a promise that its rubric forbids.\n"
        f"See {folder}/evals/support.eval.yaml and {folder}/.rubric-ci/report.html."
    )
    raise SystemExit(ExitCode.OK if code is ExitCode.GATE else code)


@command(epilog=examples("doctor                 what is missing on this machine"))
@option("--format", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@options.config
def doctor(config: Path | None, **options: Any) -> None:
    """Check the setup: keys, logins, models, programs, git, workflows, cache.

    Each line is ok, says what to do, or is open: only a request can tell. No prompt is sent: models
    are looked up where that is free.
    """
    from rubric_ci.parts.start.doctor import doctor as check_setup

    raise SystemExit(check_setup(config, as_json=options["format"] == "json"))
