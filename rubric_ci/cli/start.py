"""The commands for a start: `init` and `demo`, and `import` and `adopt` from other eval tools."""

from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rubric_ci.cli import options
from rubric_ci.cli.click_types import FILE, LINES, command, examples, option
from rubric_ci.model import option_values, scaffold

_choices = partial(option, heading="Choices")


@command(
    epilog=examples(
        "init                                      ask, or take the defaults without a terminal",
        "init --yes --provider anthropic --target command",
    )
)
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@_choices(
    "--provider",
    type=click.Choice(list(scaffold.PROVIDERS)),
    default="openai",
    help="Provider of the judge, and of the model target.",
)
@_choices(
    "--target",
    type=click.Choice(list(scaffold.TARGETS)),
    default="model",
    help="Target of the cases: a model, a command, a service, an agent, or recorded answers.",
)
@_choices(
    "--command",
    metavar="LINE",
    default="",
    help="Command of the target `command`, which it implies; {PROMPT} is the question.",
)
@_choices(
    "--url", metavar="URL", default="", help="Address of the target `http`, which it implies."
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
    from rubric_ci.cli.commands.init import init as create_files
    from rubric_ci.cli.commands.init_questions import ask
    from rubric_ci.model.command_settings import InitSettings
    from rubric_ci.system.output import is_interactive

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


def _given(context: click.Context) -> dict[str, str]:
    """Return the choices that the command line makes: `--command` and `--url` choose the target."""
    given = {
        name: context.params[name]
        for name in ("provider", "target", "command", "url")
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    for name, its in {"command": "command", "url": "http"}.items():
        if given.get(name) and (other := given.setdefault("target", its)) != its:
            raise click.UsageError(f"--{name} is for --target {its}, not {other}", context)
    return given


@command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path("rubric-ci-demo"))
def demo(folder: Path) -> None:
    """Grade an example offline.

    Answers and judge are recorded. FOLDER is new; it receives the example and its reports.
    """
    from rubric_ci.cli.commands.demo import demo as run_demo
    from rubric_ci.model.command_settings import DemoSettings

    raise SystemExit(run_demo(DemoSettings(folder=folder)))


_traces = partial(option, heading="Traces")


@command(
    name="import",
    epilog=examples(
        "import promptfooconfig.yaml --output-dir evals",
        "import traces.jsonl --where tag=thumbs_down --sample 50   cases of recorded traces",
    ),
)
@click.argument("files", nargs=-1, required=True, type=FILE)
@option(
    "--output-dir",
    type=FILE,
    metavar="FOLDER",
    help="Folder for the eval files, their targets, answers and scripts; default: next to each "
    "file.",
)
@_traces(
    "--from",
    "form",
    type=click.Choice(option_values.TRACE_FORMATS),
    help="The format of the traces; default: the one that the first record shows. All FILES "
    "become one eval file.",
)
@_traces(
    "--where",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only traces with this fact: `=` and `!=` take `*`, `<` and `>` a number; repeatable.",
)
@_traces(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of cases, drawn at random.",
)
@_traces("--seed", default=0, metavar="N", help="Random seed of the draw.")
@_traces("--dedupe", is_flag=True, help="Only the first trace of each question.")
@_traces(
    "--mask",
    "kinds",
    metavar="KINDS",
    default="",
    help=f"Personal data to mask: {', '.join(option_values.MASKED_KINDS)}. Secrets always are.",
)
def import_files(
    files: tuple[Path, ...], output_dir: Path | None, form: str | None, kinds: str, **traces: Any
) -> None:
    """Write eval files from spreadsheets, other tools' files, and traces.

    FILES are of promptfoo, OpenAI Evals, GitHub Models (`.prompt.yml`), Agent Skills or AgentV,
    CSV tables, sheets (`cases.xlsx#Sheet`), golden sets in JSON or JSON Lines, or traces of
    OpenTelemetry, Langfuse, LangSmith, Phoenix or Braintrust. Parts without a counterpart are
    listed with their lines, and the exit code is 1.
    """
    from rubric_ci.cli.commands.import_files import ImportSettings
    from rubric_ci.cli.commands.import_files import import_files as import_all
    from rubric_ci.cli.commands.import_traces import TraceChoice

    choice = TraceChoice(form or "", **traces, mask=_masked_kinds(kinds))
    raise SystemExit(import_all(ImportSettings(files, output_dir, choice)))


def _masked_kinds(typed: str) -> tuple[str, ...]:
    """Return the kinds of a list with commas; raises BadParameter."""
    kinds = tuple(each.strip().upper() for each in typed.split(",") if each.strip())
    if unknown := [each for each in kinds if each not in option_values.MASKED_KINDS]:
        known = ", ".join(option_values.MASKED_KINDS)
        raise click.BadParameter(
            f"`{unknown[0]}` is not a kind; the kinds are {known}", param_hint="--mask"
        )
    return kinds


@command(
    epilog=examples(
        "adopt results.json --from promptfoo                       their marks, our report",
        "adopt results.json --from promptfoo --baseline main.json  compared with a report",
    )
)
@click.argument("results", nargs=-1, required=True, type=LINES)
@option(
    "--from",
    "tool",
    type=click.Choice(option_values.ADOPTED_TOOLS),
    help="The tool that wrote the results; default: the one whose format they have.",
)
@option(
    "--grader",
    "graders",
    multiple=True,
    metavar="NAME",
    help="Only this assertion, metric or scorer decides; the others are shown; repeatable.",
)
@option(
    "--suite",
    metavar="NAME",
    default="",
    help="File or name that reports and waivers give the cases; default: from the results, else "
    "their path.",
)
@options.config
@options.policy_from
@options.fail_on("`gate.fail_on`, else fail")
@options.baseline
@options.outputs
@options.posting
def adopt(
    results: tuple[str, ...],
    tool: str | None,
    graders: tuple[str, ...],
    suite: str,
    **options: Any,
) -> None:
    """Make a report from the results of another eval tool.

    RESULTS are the files that the tool wrote. Marks, passes and errors are the tool's; gate,
    waivers, comparison, comment and history are rubric-ci's.
    """
    from rubric_ci.cli.commands.adopt import adopt as adopt_results
    from rubric_ci.model.command_settings import AdoptSettings, RunSettings

    settings = AdoptSettings(
        results=tuple(map(Path, results)),
        tool=tool or "",
        graders=graders,
        suite=suite,
        report=RunSettings(**options),
    )
    raise SystemExit(adopt_results(settings))
